// Profiles, as a caller of the C API takes them.
#include "kashi/pjrt/profiler_extension.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/engine/launch_trace.h"
#include "kashi/engine/program.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/pjrt/device_profile.h"
#include "kashi/pjrt/plugin_testing.h"
#include "kashi/pjrt/profiler_c_api.h"

namespace kashi::pjrt {
namespace {

using testing::ElementsAre;

const PLUGIN_Profiler_Api& Profilers() {
  const PJRT_Extension_Base* extension = Api()->extension_start;
  while (extension->type != PJRT_Extension_Type_Profiler) extension = extension->next;
  return *reinterpret_cast<const PJRT_Profiler_Extension*>(extension)->profiler_api;
}

std::string TextOfError(PLUGIN_Profiler_Error* error) {
  if (error == nullptr) return "";
  auto message = New<PLUGIN_Profiler_Error_Message_Args>();
  message.error = error;
  Profilers().error_message(&message);
  std::string text(message.message, message.message_size);
  auto code = New<PLUGIN_Profiler_Error_GetCode_Args>();
  code.error = error;
  EXPECT_EQ(Profilers().error_get_code(&code), nullptr);
  EXPECT_GT(code.code, 0);
  auto destroy = New<PLUGIN_Profiler_Error_Destroy_Args>();
  destroy.error = error;
  Profilers().error_destroy(&destroy);
  return text;
}

class Profiler {
 public:
  Profiler() {
    auto args = New<PLUGIN_Profiler_Create_Args>();
    EXPECT_EQ(TextOfError(Profilers().create(&args)), "");
    profiler_ = args.profiler;
  }
  ~Profiler() {
    auto args = New<PLUGIN_Profiler_Destroy_Args>();
    args.profiler = profiler_;
    EXPECT_EQ(TextOfError(Profilers().destroy(&args)), "");
  }
  std::string Start() {
    auto args = New<PLUGIN_Profiler_Start_Args>();
    args.profiler = profiler_;
    return TextOfError(Profilers().start(&args));
  }
  std::string Stop() {
    auto args = New<PLUGIN_Profiler_Stop_Args>();
    args.profiler = profiler_;
    return TextOfError(Profilers().stop(&args));
  }
  XSpace Collect() {
    auto args = New<PLUGIN_Profiler_CollectData_Args>();
    args.profiler = profiler_;
    EXPECT_EQ(TextOfError(Profilers().collect_data(&args)), "");
    std::vector<uint8_t> bytes(args.buffer_size_in_bytes);
    const std::vector<uint8_t> there(args.buffer, args.buffer + args.buffer_size_in_bytes);
    args.buffer = bytes.data();
    EXPECT_EQ(TextOfError(Profilers().collect_data(&args)), "");
    EXPECT_EQ(bytes, there);
    XSpace space;
    EXPECT_TRUE(space.ParseFromArray(bytes.data(), static_cast<int>(args.buffer_size_in_bytes)));
    return space;
  }

 private:
  PLUGIN_Profiler* profiler_ = nullptr;
};

std::vector<std::string> NamesOf(const XPlane& plane, const XLine& line) {
  std::vector<std::string> names;
  for (const XEvent& event : line.events()) names.push_back(plane.event_metadata().at(event.metadata_id()).name());
  return names;
}

TEST(ProfilerExtensionTest, ShowsProgramsAndTheirSteps) {
  constexpr char kProgram[] =
      "module @watched { func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {\n"
      "  %0 = \"stablehlo.sort\"(%x) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n  }) {dimension = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>\n"
      "  return %0 : tensor<64xf32>\n} }";
  auto create = New<PJRT_Client_Create_Args>();
  ASSERT_EQ(Text(Api()->PJRT_Client_Create(&create)), "");
  const Owned<PJRT_Client> client(create.client);
  auto devices = New<PJRT_Client_Devices_Args>();
  devices.client = client.get();
  ASSERT_EQ(Text(Api()->PJRT_Client_Devices(&devices)), "");
  Owned<PJRT_LoadedExecutable> program;
  ASSERT_EQ(Compile(client.get(), kProgram, "mlir", "", &program), "");
  Owned<PJRT_Buffer> x;
  ASSERT_EQ(ToDevice(client.get(), devices.devices[0], std::vector<float>(64, 1), &x), "");
  const auto run = [&] {
    std::vector<Owned<PJRT_Buffer>> results;
    std::vector<float> numbers(64);
    ASSERT_EQ(Execute(program.get(), {{x.get()}}, &results), "");
    ASSERT_EQ(ToHost(results[0].get(), &numbers), "");
  };
  run();
  Profiler profiler, other;
  EXPECT_EQ(profiler.Stop(), "the profiler is not on");
  EXPECT_EQ(profiler.Start(), "");
  EXPECT_EQ(other.Start(), "a profile of Kashi's programs is being taken");
  run();
  run();
  EXPECT_EQ(profiler.Stop(), "");
  run();
  const XSpace space = profiler.Collect();
  ASSERT_EQ(space.planes_size(), 1);
  const XPlane& plane = space.planes(0);
  EXPECT_EQ(plane.name(), "/device:CUSTOM:Kashi CPU 0");
  ASSERT_EQ(plane.lines_size(), 2);
  EXPECT_THAT(NamesOf(plane, plane.lines(0)), ElementsAre("watched", "watched"));
  EXPECT_GE(plane.lines(1).events_size(), 2);
  const XEvent& first = plane.lines(0).events(0);
  const XEvent& step = plane.lines(1).events(0);
  EXPECT_EQ(first.offset_ps(), 0);
  EXPECT_GE(step.offset_ps(), first.offset_ps());
  EXPECT_LE(step.offset_ps() + step.duration_ps(), first.offset_ps() + first.duration_ps());
  EXPECT_EQ(other.Start(), "");  // which ends with the profiler
}

// Of the module of this text, by times of begin and end.
TEST(ProfilerExtensionTest, RunsThatOverlapHaveLinesOfTheirOwn) {
  const std::shared_ptr<const Program> program =
      Program::Compile(
          *ParseAndReturnUnverifiedModule("HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }")
               .value())
          .value();
  const HloInstruction* const step = program->module().entry_computation()->root_instruction();
  const auto run = [&](std::vector<int64_t> devices, int64_t begin_ns, int64_t end_ns) {
    return engine::LaunchTrace::Run{
        program, std::move(devices), begin_ns, end_ns, {{0, {{step, begin_ns, end_ns}, {nullptr, begin_ns, end_ns}}}}};
  };
  const XSpace space =
      ProfileOf({run({1}, 2000, 3000), run({1}, 1000, 2500), run({1, 0}, 2600, 2700), run({1}, 3000, 3001)}, 1'000'000);
  ASSERT_EQ(space.planes_size(), 2);
  const XPlane& plane = space.planes(0);
  EXPECT_EQ(plane.name(), "/device:CUSTOM:Kashi CPU 1");
  ASSERT_EQ(plane.lines_size(), 4);
  EXPECT_EQ(plane.lines(0).name(), "Programs");
  EXPECT_EQ(plane.lines(3).name(), "Steps (2)");
  const auto begins = [&](int line) {
    std::vector<int64_t> offsets;
    for (const XEvent& event : plane.lines(line).events()) offsets.push_back(event.offset_ps() / 1000);
    return offsets;
  };
  EXPECT_THAT(begins(0), ElementsAre(0, 1600, 2000));
  EXPECT_THAT(begins(1), ElementsAre(0, 1600, 2000));
  EXPECT_THAT(begins(2), ElementsAre(1000));
  EXPECT_THAT(NamesOf(plane, plane.lines(0)), ElementsAre("m", "m", "m"));
  EXPECT_THAT(NamesOf(plane, plane.lines(3)), ElementsAre(std::string(step->name())));
  EXPECT_EQ(plane.lines(0).timestamp_ns(), 1'001'000);
  EXPECT_EQ(space.planes(1).lines(1).events_size(), 0);
}

}  // namespace
}  // namespace kashi::pjrt
