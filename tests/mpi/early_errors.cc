// What happens where a rank cannot begin a run, by the C++ API: the others do not wait for it.
//
//   mpirun -n 3 kashi_mpi_early_errors
//
// Rank 1 fails in several ways. Prints "ok" for each on each rank, or what is wrong.
#include <mpi.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal_util.h"
#include "kashi/mpi/mpi_ranks.h"

namespace kashi::testing {
namespace {

constexpr char kProgram[] = R"(HloModule m, replica_count=3
add { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b) }
ENTRY e { p = s32[] parameter(0)
  ROOT r = s32[] all-reduce(p), replica_groups={}, to_apply=add })";

absl::Status RunWith(MpiRanks* ranks, const std::string& text, int64_t devices) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) return ranks->Refuse(module.status());
  std::vector<std::vector<Literal>> arguments(devices);
  for (std::vector<Literal>& of_device : arguments) of_device.push_back(LiteralUtil::CreateR0<int32_t>(1));
  return ranks->RunOnDevices(**module, std::move(arguments)).status();
}

bool Expect(int rank, absl::string_view what, const absl::Status& status, absl::string_view message) {
  const bool is_right = message.empty() ? status.ok() : !status.ok() && absl::StrContains(status.message(), message);
  std::printf("%s, rank %d: %s%s\n", std::string(what).c_str(), rank,
              is_right ? "ok" : "FAILED: ", is_right ? "" : status.ToString().c_str());
  std::fflush(stdout);
  return is_right;
}

int RunAll() {
  absl::StatusOr<std::unique_ptr<MpiRanks>> made = MpiRanks::Make(MPI_Comm_c2f(MPI_COMM_WORLD));
  if (!made.ok()) return 1;
  std::unique_ptr<MpiRanks> ranks = *std::move(made);
  const int rank = ranks->rank();
  const bool fails = rank == 1;
  bool good = Expect(rank, "wrong number of devices", RunWith(ranks.get(), kProgram, fails ? 2 : 3),
                     fails ? "there are arguments for 2" : "rank 1: The program is for 3 devices");
  good &= Expect(rank, "no module", RunWith(ranks.get(), fails ? "HloModule" : kProgram, 3), fails ? "1:" : "rank 1: ");
  good &= Expect(rank, "then all is well", RunWith(ranks.get(), kProgram, 3), "");
  if (fails) {
    ranks = nullptr;
    good &= Expect(rank, "it leaves", absl::OkStatus(), "");
  } else {
    good &= Expect(rank, "it leaves", RunWith(ranks.get(), kProgram, 3), "rank 1 has left");
    good &= Expect(rank, "it has left", ranks->GatherTexts("").status(), "rank 1 has left");
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace kashi::testing

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  const int status = kashi::testing::RunAll();
  MPI_Finalize();
  return status;
}
