// Programs whose buffers are donated: each result with an alias has the address of its argument, and all have the
// numbers that they have without donation.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/base/guard_pages.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/buffers/leaves.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/cpu/random_program_testing.h"
#include "kashi/engine/client.h"

namespace kashi::cpu {
namespace {

class DonationTest : public testing::Test {
 protected:
  DonationTest() {
    ClientOptions options;
    options.engine = "cpu";
    client_ = Client::Create(options).value();
  }

  std::vector<std::unique_ptr<Buffer>> BuffersOf(const HloModule& module) {
    std::vector<std::unique_ptr<Buffer>> buffers;
    for (const Literal& argument : RandomArguments(module)) {
      buffers.push_back(client_->BufferFromLiteral(argument).value());
    }
    return buffers;
  }
  std::vector<std::unique_ptr<Buffer>> Run(const LoadedProgram& program,
                                           const std::vector<std::unique_ptr<Buffer>>& buffers, bool donates) {
    std::vector<Buffer*> arguments;
    ExecuteOptions options;
    for (size_t i = 0; i < buffers.size(); ++i) {
      arguments.push_back(buffers[i].get());
      if (!donates) options.non_donatable.push_back(static_cast<int64_t>(i));
    }
    return std::move(program.Execute({arguments}, options).value()[0].buffers);
  }
  static const void* AddressOf(const Buffer& buffer) { return buffer.AcquireExternalReference().value().data(); }

  void Expect(absl::string_view text) {
    SCOPED_TRACE(text);
    const auto module = ReadVerified(text);
    ASSERT_TRUE(module.ok()) << module.status();
    const auto program = client_->Compile(**module).value();
    const auto kept = BuffersOf(**module), donated = BuffersOf(**module);
    const auto expected = Run(*program, kept, /*donates=*/false);
    std::vector<const void*> addresses;
    for (const auto& buffer : donated) addresses.push_back(AddressOf(*buffer));
    const auto results = Run(*program, donated, /*donates=*/true);
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i]->ToLiteral().value(), expected[i]->ToLiteral().value()) << "result " << i;
    }
    for (const buffers::LeafAlias& alias : buffers::AliasesOf(**module)) {
      EXPECT_TRUE(donated[alias.argument]->is_deleted());
      EXPECT_EQ(AddressOf(*results[alias.result]), addresses[alias.argument]) << "result " << alias.result;
    }
    for (const auto& buffer : kept) EXPECT_FALSE(buffer->is_deleted());
  }

  std::unique_ptr<Client> client_;
};

TEST_F(DonationTest, RandomPrograms) {
  for (uint32_t seed = 0; seed < 300; seed += base::kShare) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Expect(RandomProgram(seed).Write());
    if (HasFailure()) return;
  }
}

TEST_F(DonationTest, BetweenGuardPages) {
  const base::WithGuardPages guarded(base::GuardPages::kBehind);
  Expect(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
    ENTRY e { x = f32[3,3] parameter(0) ROOT t = f32[3,3] transpose(x), dimensions={1,0} })");
}

// The largest arrays exchange their pages with those of their arguments, others are copied.
TEST_F(DonationTest, ResultsThatCannotBeMadeInPlace) {
  for (const int64_t n : {1, 3, 100, 1500}) {
    Expect(absl::StrCat(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
      ENTRY e { x = f32[)",
                        n, ",", n, "] parameter(0) ROOT t = f32[", n, ",", n, "] transpose(x), dimensions={1,0} }"));
  }
}

}  // namespace
}  // namespace kashi::cpu
