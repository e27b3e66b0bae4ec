// Clients, buffers and programs for tests.
#ifndef KASHI_ENGINE_CLIENT_TESTING_H_
#define KASHI_ENGINE_CLIENT_TESTING_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "kashi/engine/client.h"
#include "kashi/engine/event.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal_util.h"

namespace kashi::engine {

inline std::unique_ptr<Client> MakeClient(int64_t devices = 1, int64_t memory = 0) {
  return Client::Create({devices, memory}).value();
}
inline std::unique_ptr<LoadedProgram> Load(Client& client, absl::string_view text) {
  return client.Compile(*ParseAndReturnUnverifiedModule(text).value()).value();
}
inline std::unique_ptr<Buffer> MakeBufferOf(Client& client, const std::vector<float>& x,
                                            LocalDevice* device = nullptr) {
  return client
      .BufferFromLiteral(LiteralUtil::CreateR1<float>(x), device == nullptr ? nullptr : &device->default_memory_space())
      .value();
}
inline std::vector<float> NumbersOf(const Buffer& buffer) {
  const Literal literal = buffer.ToLiteral().value();
  return {literal.data<float>().begin(), literal.data<float>().end()};
}

// A custom call that waits until the test lets it go on.
class Gate {
 public:
  CustomCallHandler handler() {
    return [this](const HloInstruction&, absl::Span<const Literal* const> x) -> absl::StatusOr<Literal> {
      begun_.Complete(absl::OkStatus());
      const absl::Status status = opened_.event().Await();
      return status.ok() ? absl::StatusOr<Literal>(x[0]->Clone()) : status;
    };
  }
  void AwaitBegin() { ASSERT_TRUE(begun_.event().Await().ok()); }
  void Open(absl::Status status = absl::OkStatus()) { opened_.Complete(std::move(status)); }

 private:
  EventSource begun_, opened_;
};
constexpr char kWaits[] = R"(ENTRY e { x = f32[2] parameter(0)
  ROOT y = f32[2] custom-call(x), custom_call_target="gate" })";
constexpr char kNegate[] = "ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }";

constexpr char kSum[] = R"(HloModule m, replica_count=2
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[2] parameter(0) ROOT s = f32[2] all-reduce(x), replica_groups={}, to_apply=add })";

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_CLIENT_TESTING_H_
