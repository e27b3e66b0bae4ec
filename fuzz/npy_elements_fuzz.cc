// A valid header of an .npy file, and any bytes as the elements, as many as the header says or not. The array
// is the same whether the file is in memory or read piece by piece, and whether its elements are taken from the file or
// copied. If it is cut into shards by a sharding in the input, and joined again, it is unchanged, also by way of
// files.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "fuzzer/FuzzedDataProvider.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"
#include "kashi/hlo/spmd/sharded_literal.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/npy.h"

namespace kashi::fuzz {
namespace {

constexpr PrimitiveType kTypes[] = {PRED, S1,   S4,  S8,  S16,      S32,      U64, U2,  U8,
                                    F16,  BF16, F32, F64, F8E4M3FN, F4E2M1FN, C64, C128};
constexpr int64_t kMostDevices = 8;

Shape AnyShape(FuzzedDataProvider* data) {
  std::vector<int64_t> sizes(data->ConsumeIntegralInRange(0, 4));
  for (int64_t& size : sizes) size = data->ConsumeIntegralInRange(0, 6);
  Shape shape = ShapeUtil::MakeShape(data->PickValueInArray(kTypes), sizes);
  if (data->ConsumeBool()) {
    std::vector<int64_t> fortran(sizes.size());
    for (size_t i = 0; i < fortran.size(); ++i) fortran[i] = static_cast<int64_t>(i);
    *shape.mutable_layout() = LayoutUtil::MakeLayout(fortran);
  }
  return shape;
}

HloSharding AnySharding(FuzzedDataProvider* data, const Shape& shape, int64_t devices) {
  if (data->ConsumeBool()) {
    const absl::StatusOr<HloSharding> sharding = ParseSharding(data->ConsumeRandomLengthString(100));
    return sharding.ok() ? *sharding : HloSharding::Replicate();
  }
  if (shape.dimensions().empty())
    return HloSharding::AssignDevice(data->ConsumeIntegralInRange<int64_t>(0, devices - 1));
  std::vector<int64_t> tiles(shape.dimensions().size(), 1);
  tiles[data->ConsumeIntegralInRange<size_t>(0, tiles.size() - 1)] = devices;
  return HloSharding::IotaTile(tiles);
}

// Compares the bytes, not the numbers: a NaN is equal to itself.
bool IsSame(const Literal& a, const Literal& b) { return a == b || a.ToString() == b.ToString(); }

Literal ThroughFile(const Literal& literal) {
  std::string bytes;
  KASHI_CHECK_OK(WriteNpy(literal, &bytes));
  absl::StatusOr<Literal> again = ReadNpy(bytes, literal.shape());
  KASHI_CHECK_OK(again);
  return *std::move(again);
}

void CheckShards(const Literal& whole, const HloSharding& sharding, int64_t devices) {
  const absl::StatusOr<Shape> shape = ShardShape(whole.shape(), sharding, devices);
  const absl::StatusOr<std::vector<Literal>> shards = SplitLiteral(whole, sharding, devices);
  if (!shards.ok()) return;
  KASHI_CHECK_OK(shape);
  std::vector<Literal> read;
  for (const Literal& shard : *shards) {
    KASHI_CHECK(ShapeUtil::Compatible(shard.shape(), *shape)) << ShapeUtil::HumanString(shard.shape());
    read.push_back(ThroughFile(shard));
  }
  const std::vector<LiteralSlice> slices(read.begin(), read.end());
  const auto difference = FindDifferentCopy(slices, sharding, whole.shape());
  KASHI_CHECK_OK(difference);
  KASHI_CHECK(!difference->has_value()) << (*difference)->ToString();
  const absl::StatusOr<Literal> joined = JoinLiterals(slices, sharding, whole.shape());
  KASHI_CHECK_OK(joined);
  KASHI_CHECK(IsSame(*joined, whole)) << sharding.ToString() << " " << whole.ToString() << joined->ToString();
}

absl::StatusOr<Literal> ReadInPieces(absl::string_view file, const Shape& shape) {
  const auto read = [&file](char* to, int64_t size) {
    if (size > static_cast<int64_t>(file.size())) return absl::InvalidArgumentError("the file became shorter");
    std::memcpy(to, file.data(), static_cast<size_t>(size));
    file.remove_prefix(static_cast<size_t>(size));
    return absl::OkStatus();
  };
  return ReadNpy(static_cast<int64_t>(file.size()), read, shape);
}

void CheckFile(FuzzedDataProvider* data) {
  const Shape shape = AnyShape(data);
  const int64_t devices = data->ConsumeIntegralInRange<int64_t>(1, kMostDevices);
  const HloSharding sharding = AnySharding(data, shape, devices);
  const bool has_right_size = data->ConsumeBool();
  const bool is_big_endian = data->ConsumeBool();
  std::string file;
  KASHI_CHECK_OK(WriteNpyHeader(shape, &file));
  if (const size_t at = file.find("'<"); is_big_endian && at != std::string::npos) file[at + 1] = '>';
  const size_t header = file.size();
  absl::StrAppend(&file, data->ConsumeRemainingBytesAsString());
  if (has_right_size) file.resize(header + static_cast<size_t>(ShapeUtil::ByteSizeOf(shape)));

  const absl::StatusOr<Literal> literal = ReadNpy(file, shape);
  const absl::StatusOr<Literal> in_pieces = ReadInPieces(file, shape);
  const absl::StatusOr<NpyElements> elements = FindNpyElements(file, shape);
  KASHI_CHECK_EQ(literal.ok(), in_pieces.ok()) << in_pieces.status().ToString();
  KASHI_CHECK_EQ(literal.ok(), elements.ok()) << elements.status().ToString();
  if (!literal.ok()) {
    KASHI_CHECK(!has_right_size) << literal.status().ToString();
    return;
  }
  KASHI_CHECK(elements->bytes.data() == file.data() + header);
  KASHI_CHECK(IsSame(*literal, *in_pieces)) << literal->ToString();
  KASHI_CHECK(IsSame(*literal, ThroughFile(*literal))) << literal->ToString();
  CheckShards(*literal, sharding, devices);
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  kashi::fuzz::CheckFile(&data);
  return 0;
}
