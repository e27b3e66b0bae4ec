// Any bytes as two placements of an array: the plan that moves it from one to the other agrees with the index loop, and
// touches no byte outside of the array. The first byte chooses:
//   even   sizes that fit memory: made and run
//   odd    sizes, tiles and strides of any size: made (or refused) only, and that soon: libFuzzer's -timeout
#include <cstddef>
#include <cstdint>
#include <string>

#include "kashi/base/check.h"
#include "kashi/relayout/relayout_plan.h"
#include "kashi/relayout/relayout_trial_testing.h"

namespace kashi::fuzz {
namespace {

using relayout::relayout_testing::Index;
using relayout::relayout_testing::Runner;
using relayout::relayout_testing::Side;
using relayout::relayout_testing::TileList;
using relayout::relayout_testing::Trial;

// Numbers from the input; zeros after its end.
class ByteReader {
 public:
  ByteReader(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}
  uint64_t Next(int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes && data_ != end_; ++i) value |= uint64_t{*data_++} << (8 * i);
    return value;
  }
  int64_t Pick(int64_t low, int64_t high) {
    const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    const uint64_t value = Next(range == 0 || range > 1 << 16 ? 8 : range > 256 ? 2 : 1);
    return range == 0 ? static_cast<int64_t>(value) : static_cast<int64_t>(static_cast<uint64_t>(low) + value % range);
  }

 private:
  const uint8_t* data_;
  const uint8_t* end_;
};

void RunTrial(ByteReader* bytes) {
  static auto& runner = *new Runner(1 << 19);
  relayout::relayout_testing::TrialLimits limits;
  limits.max_elements = 2000;
  Trial trial = DrawTrial([bytes](int64_t low, int64_t high) { return bytes->Pick(low, high); }, limits);
  trial.options.threads = 1;
  if (!runner.Fits(trial)) {
    MakePlan(trial).status().IgnoreError();
    return;
  }
  const std::string wrong = runner.Run(trial);
  KASHI_CHECK(wrong.empty()) << ToString(trial) << "\n" << wrong;
}

// A number of any magnitude.
int64_t AnyNumber(ByteReader* bytes) {
  const int64_t bits = bytes->Pick(0, 64);
  if (bits == 64) return bytes->Pick(INT64_MIN, INT64_MAX);
  return static_cast<int64_t>(bytes->Next(1) << bits >> 8) + bytes->Pick(-1, 1);
}

Side AnySide(ByteReader* bytes, PrimitiveType type, const Index& sizes) {
  Side side;
  side.shape = Shape(type, sizes);
  if (bytes->Pick(0, 2) == 0) {
    side.byte_strides.emplace();
    for (size_t d = 0; d < sizes.size(); ++d) side.byte_strides->push_back(AnyNumber(bytes));
  } else {
    TileList tiles(bytes->Pick(0, 6));
    for (Index& tile : tiles) {
      tile.resize(bytes->Pick(0, 5));
      for (int64_t& entry : tile)
        entry = bytes->Pick(0, 7) == 0 ? relayout::relayout_testing::kCombine : AnyNumber(bytes);
    }
    const auto pick = [bytes](int64_t low, int64_t high) { return bytes->Pick(low, high); };
    const Index order = relayout::relayout_testing::DrawPermutation(pick, sizes.size());
    const int64_t element_bits = bytes->Pick(0, 1) == 0 ? 0 : AnyNumber(bytes);
    const int64_t tail = bytes->Pick(0, 3) == 0 ? AnyNumber(bytes) : 1;
    const int64_t prefix = bytes->Pick(0, 3) == 0 ? AnyNumber(bytes) : 0;
    side.shape = relayout::relayout_testing::MakeShape(type, sizes, order, tiles, element_bits, tail, prefix);
  }
  if (bytes->Pick(0, 3) != 0) return side;
  side.starts.emplace();
  for (size_t d = 0; d < sizes.size(); ++d) {
    side.starts->push_back(AnyNumber(bytes));
    side.sizes.push_back(AnyNumber(bytes));
  }
  return side;
}

void MakeOnly(ByteReader* bytes) {
  Index sizes(bytes->Pick(0, 7));
  for (int64_t& size : sizes) size = AnyNumber(bytes);
  const auto pick = [bytes](int64_t low, int64_t high) { return bytes->Pick(low, high); };
  const PrimitiveType types[] = {relayout::relayout_testing::DrawType(pick), F32, S4, U1, C128};
  Trial trial;
  trial.options.convert = bytes->Pick(0, 1) != 0;
  trial.from = AnySide(bytes, types[bytes->Pick(0, 4)], sizes);
  trial.to = AnySide(bytes, types[bytes->Pick(0, 4)], sizes);
  const absl::StatusOr<RelayoutPlan> plan = MakePlan(trial);
  if (plan.ok()) {
    KASHI_CHECK(!plan->ToString().empty());
  } else {
    KASHI_CHECK(!plan.status().message().empty());
  }
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  kashi::fuzz::ByteReader bytes(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    kashi::fuzz::RunTrial(&bytes);
  } else {
    kashi::fuzz::MakeOnly(&bytes);
  }
  return 0;
}
