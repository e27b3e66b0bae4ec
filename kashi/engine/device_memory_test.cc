// An engine whose devices have memory of their own. Its addresses are no addresses of this process: all are below the
// first page, so code that takes one for the host's ends the test.
#include "kashi/engine/device_memory.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/status.h"
#include "kashi/engine/client.h"
#include "kashi/engine/engine.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal_util.h"

namespace kashi::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Arrays by handles, 1 to 4095. Counts them, and their copies on the device.
class FarMemory : public DeviceMemory {
 public:
  absl::StatusOr<Value> CopyIn(const void* source, const Placement& placement, const DenseShape& shape,
                               const std::shared_ptr<MemoryBudget>& budget) const override {
    KASHI_ASSIGN_OR_RETURN(Value array, HostMemory().CopyIn(source, placement, shape, budget));
    return Keep(std::move(array));
  }
  std::optional<Value> Borrow(const void*, const Placement&, const DenseShape&,
                              const std::shared_ptr<const void>&) const override {
    return std::nullopt;
  }
  absl::Status CopyOut(const Value& array, void* target, const Placement& placement) const override {
    return HostMemory().CopyOut(Contents(array), target, placement);
  }
  absl::Status CopyBytesOut(const Value& array, int64_t offset, int64_t bytes, void* target) const override {
    return HostMemory().CopyBytesOut(Contents(array), offset, bytes, target);
  }
  absl::Status MoveWithin(Value array, Value* target) const override {
    const Value from = Contents(array), to = Contents(*target);
    std::memcpy(const_cast<void*>(to.untyped_data()), from.untyped_data(), static_cast<size_t>(from.byte_count()));
    return absl::OkStatus();
  }
  absl::StatusOr<Value> MakeOwn(Value array, const std::shared_ptr<MemoryBudget>& budget) const override {
    if (array.is_unique()) return array;
    KASHI_ASSIGN_OR_RETURN(Value copy, HostMemory().MakeOwn(Contents(array), budget));
    ++copies_;
    return Keep(std::move(copy));
  }

  // What the device has there.
  Value Contents(const Value& array) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return arrays_.at(reinterpret_cast<uintptr_t>(array.untyped_data()));
  }
  Value Keep(Value contents) const {
    const DenseShape shape = contents.dense_shape();
    const std::lock_guard<std::mutex> lock(mutex_);
    uintptr_t handle = 1;
    while (arrays_.count(handle) > 0) ++handle;
    KASHI_CHECK(handle < 4096);
    arrays_.emplace(handle, std::move(contents));
    return Value::Owning(shape, std::shared_ptr<void>(reinterpret_cast<void*>(handle), [this](void* freed) {
                           const std::lock_guard<std::mutex> in_deleter(mutex_);
                           arrays_.erase(reinterpret_cast<uintptr_t>(freed));
                         }));
  }

  size_t arrays() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return arrays_.size();
  }
  int copies() const { return copies_; }

 private:
  mutable std::mutex mutex_;
  mutable std::map<uintptr_t, Value> arrays_;
  mutable std::atomic<int> copies_{0};
};

const FarMemory& Far() {
  static const FarMemory* const far = new FarMemory();
  return *far;
}

// Computes on the contents of the arrays, by the evaluator.
class FarProgram : public EngineProgram {
 public:
  explicit FarProgram(const HloModule& module) : module_(module) {}
  const HloModule& module() const override { return module_; }
  absl::StatusOr<Value> Execute(std::vector<Value> arguments, evaluator::EvaluationRun& run) const override {
    std::vector<Value> contents;
    for (const Value& argument : arguments) contents.push_back(OnHost(argument));
    KASHI_ASSIGN_OR_RETURN(Value result, run.Call(*module_.entry_computation(), std::move(contents)));
    return OnDevice(std::move(result), run.budget());
  }

 private:
  static Value OnHost(const Value& value) {
    if (value.is_array()) return Far().Contents(value);
    if (!value.is_tuple()) return value;
    std::vector<Value> elements;
    for (const Value& element : value.elements()) elements.push_back(OnHost(element));
    return Value::MakeTuple(std::move(elements));
  }
  static absl::StatusOr<Value> OnDevice(Value value, const std::shared_ptr<MemoryBudget>& budget) {
    return ToDevice(Far(), std::move(value), budget);
  }

  const HloModule& module_;
};

class FarEngine : public Engine {
 public:
  absl::string_view name() const override { return "far"; }
  const DeviceMemory& memory() const override { return Far(); }
  bool keeps_module() const override { return true; }
  absl::StatusOr<std::unique_ptr<EngineProgram>> Compile(const HloModule& module, const CompileOptions&,
                                                         absl::Span<const CompiledObject>) const override {
    return std::make_unique<FarProgram>(module);
  }
};

class DeviceMemoryTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    [[maybe_unused]] static const bool registered = RegisterEngine(std::make_unique<FarEngine>());
  }
  void SetUp() override {
    ClientOptions options;
    options.engine = "far";
    options.devices = 2;
    client_ = Client::Create(options).value();
  }
  std::unique_ptr<LoadedProgram> Load(absl::string_view text) {
    return client_->Compile(*ParseAndReturnUnverifiedModule(text).value()).value();
  }
  std::unique_ptr<Buffer> MakeBuffer(const std::vector<float>& x) {
    return client_->BufferFromLiteral(LiteralUtil::CreateR1<float>(x)).value();
  }

  std::unique_ptr<Client> client_;
};

constexpr char kAddOne[] = R"(ENTRY e { x = f32[3] parameter(0) one = f32[] constant(1)
  ones = f32[3] broadcast(one), dimensions={} ROOT y = f32[3] add(x, ones) })";
constexpr char kPair[] = R"(ENTRY e { x = f32[2] parameter(0) y = (f32[2], s32[]) parameter(1)
  a = f32[2] get-tuple-element(y), index=0 b = s32[] get-tuple-element(y), index=1 n = f32[2] negate(x)
  inner = (f32[2], s32[]) tuple(a, b) ROOT r = (f32[2], (f32[2], s32[])) tuple(n, inner) })";

TEST_F(DeviceMemoryTest, ArraysGoInAndOutInAnyPlacement) {
  const std::vector<float> columns = {1, 4, 2, 5, 3, 6};  // f32[2,3] with its columns one after the other
  const Placement placement = Placement::OfLayout(ParseShape("f32[2,3]{0,1}").value()).value();
  for (const auto semantics :
       {HostBufferSemantics::kImmutableOnlyDuringCall, HostBufferSemantics::kImmutableZeroCopy}) {
    const auto x = client_->BufferFromHost(columns.data(), placement, semantics).value();
    EXPECT_EQ(x->ToLiteral().value(), LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}}));
    std::vector<float> back(6);
    ASSERT_TRUE(x->CopyToHost(back.data(), placement).ok());
    EXPECT_EQ(back, columns);
    EXPECT_LT(reinterpret_cast<uintptr_t>(x->AcquireExternalReference().value().data()), 4096u);
  }
  EXPECT_EQ(Far().arrays(), 0u);
}

TEST_F(DeviceMemoryTest, BytesGoOut) {
  const auto x = MakeBuffer({1, 2, 3});
  float back[2] = {};
  ASSERT_TRUE(x->CopyBytesToHost(/*offset=*/4, /*bytes=*/8, back).ok());
  EXPECT_THAT(back, ElementsAre(2, 3));
  ASSERT_TRUE(x->CopyBytesToHost(12, 0, nullptr).ok());
  for (const auto& [offset, bytes] : {std::pair<int64_t, int64_t>{-1, 2}, {0, -1}, {8, 5}, {13, 0}, {INT64_MAX, 1}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(x->CopyBytesToHost(offset, bytes, back))) << offset;
  }
  x->Delete();
  EXPECT_TRUE(absl::IsInvalidArgument(x->CopyBytesToHost(0, 0, back)));
}

TEST_F(DeviceMemoryTest, ProgramsRunOnBuffers) {
  const auto program = Load(kAddOne);
  const auto x = MakeBuffer({1, 2, 3});
  std::unique_ptr<Buffer> y = std::move(program->Execute({{x.get()}}).value()[0].buffers[0]);
  y = std::move(program->Execute({{y.get()}}).value()[0].buffers[0]);
  EXPECT_EQ(y->ToLiteral().value(), LiteralUtil::CreateR1<float>({3, 4, 5}));
  EXPECT_EQ(x->ToLiteral().value(), LiteralUtil::CreateR1<float>({1, 2, 3}));
  EXPECT_EQ(Far().arrays(), 2u);
}

TEST_F(DeviceMemoryTest, TuplesAreTakenApart) {
  const auto program = Load(kPair);
  const auto x = MakeBuffer({1, 2}), a = MakeBuffer({3, 4});
  const auto b = client_->BufferFromLiteral(LiteralUtil::CreateR0<int32_t>(5)).value();
  const auto results = program->Execute({{x.get(), a.get(), b.get()}}).value();
  ASSERT_EQ(results[0].buffers.size(), 3u);
  EXPECT_EQ(results[0].buffers[0]->ToLiteral().value(), LiteralUtil::CreateR1<float>({-1, -2}));
  EXPECT_EQ(results[0].buffers[2]->ToLiteral().value(), LiteralUtil::CreateR0<int32_t>(5));
}

TEST_F(DeviceMemoryTest, ProgramsOfTheHostsArraysCopyThem) {
  const auto module = ParseAndReturnUnverifiedModule(kPair).value();
  CompileOptions options;
  options.engine = "far";
  const auto program = Program::Compile(*module, options).value();
  const Literal x = LiteralUtil::CreateR1<float>({1, 2});
  const Literal a = LiteralUtil::CreateR1<float>({3, 4}), b = LiteralUtil::CreateR0<int32_t>(5);
  const Literal y = LiteralUtil::MakeTuple({&a, &b});
  const Literal result = program->Execute({&x, &y}).value();
  EXPECT_THAT(result.data<float>({0}), ElementsAre(-1, -2));
  EXPECT_THAT(result.data<float>({1, 0}), ElementsAre(3, 4));

  const std::vector<float> x0 = {1, 2}, y0 = {3, 4};
  const int32_t y1 = 5;
  std::vector<float> r0(2), r1(2);
  int32_t r2 = 0;
  ASSERT_TRUE(program->ExecuteOnMemory({x0.data(), y0.data(), &y1}, {r0.data(), r1.data(), &r2}).ok());
  EXPECT_THAT(r0, ElementsAre(-1, -2));
  EXPECT_THAT(r1, ElementsAre(3, 4));
  EXPECT_EQ(r2, 5);
  EXPECT_EQ(Far().arrays(), 0u);
}

TEST_F(DeviceMemoryTest, UniqueArraysAreWrittenInPlace) {
  const auto budget = client_->memory();
  const Literal literal = LiteralUtil::CreateR1<float>({1, 2});
  Value x = ToDevice(Far(), Value::FromLiteral(literal, budget).value(), budget).value();
  EXPECT_TRUE(x.is_unique());
  const int before = Far().copies();
  x = Far().MakeOwn(std::move(x), budget).value();
  EXPECT_EQ(Far().copies(), before);
  const Value shared = x;
  const Value copy = Far().MakeOwn(x, budget).value();
  EXPECT_EQ(Far().copies(), before + 1);
  EXPECT_NE(copy.untyped_data(), x.untyped_data());
}

TEST_F(DeviceMemoryTest, ResultsGoToDonatedArguments) {
  const auto program = Load(R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
    ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1) n = f32[2] negate(x)
      ROOT r = (f32[2], f32[2]) tuple(y, n) })");
  const auto x = MakeBuffer({1, 2}), y = MakeBuffer({3, 4});
  const auto address = [](const Buffer& buffer) { return buffer.AcquireExternalReference().value().data(); };
  const void *const at_x = address(*x), *const at_y = address(*y);
  const auto results = program->Execute({{x.get(), y.get()}}).value();
  EXPECT_EQ(results[0].buffers[0]->ToLiteral().value(), LiteralUtil::CreateR1<float>({3, 4}));
  EXPECT_EQ(results[0].buffers[1]->ToLiteral().value(), LiteralUtil::CreateR1<float>({-1, -2}));
  EXPECT_EQ(address(*results[0].buffers[0]), at_x);
  EXPECT_EQ(address(*results[0].buffers[1]), at_y);
  EXPECT_EQ(Far().arrays(), 2u);
}

TEST_F(DeviceMemoryTest, BuffersOfTwoDevicesShareNothingWithTheHost) {
  const auto x = MakeBuffer({1, 2, 3});
  const auto y = x->CopyTo(client_->devices()[1]->default_memory_space()).value();
  x->Delete();
  EXPECT_EQ(y->ToLiteral().value(), LiteralUtil::CreateR1<float>({1, 2, 3}));
}

TEST_F(DeviceMemoryTest, ProgramsOfOtherEnginesAreRefused) {
  std::shared_ptr<const Program> program = Program::Compile(*ParseAndReturnUnverifiedModule(kAddOne).value()).value();
  const absl::Status status = client_->Load(program).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("another memory"));
  ClientOptions options;
  options.engine = "nowhere";
  EXPECT_TRUE(absl::IsInvalidArgument(Client::Create(options).status()));
}

TEST(HostMemoryTest, ValuesOfTheHostAreLeftAsTheyAre) {
  const auto budget = std::make_shared<MemoryBudget>(0);
  const Literal literal = LiteralUtil::CreateR1<float>({1, 2});
  Value x = Value::FromLiteral(literal, budget).value();
  const void* const data = x.untyped_data();
  x = ToHost(HostMemory(), ToDevice(HostMemory(), std::move(x), budget).value(), budget).value();
  EXPECT_EQ(x.untyped_data(), data);
  EXPECT_TRUE(x.is_unique());
}

}  // namespace
}  // namespace kashi::engine
