// kashi.Ranks: the ranks of an MPI communicator.
#include "ranks.h"

#ifdef KASHI_HAS_MPI
#include <memory>
#include <utility>

#include "kashi/mpi/mpi_ranks.h"
#endif

namespace kashi::python {
namespace {

constexpr char kRanksDoc[] =
    "The ranks of a communicator of mpi4py, to which Program.run_on_devices deals the devices of a program. Every\n"
    "rank makes the same calls, with the same programs. `deterministic`: sums of floating-point numbers are the same\n"
    "for any number of ranks.\n\n"
    ">>> if kashi.HAS_MPI:\n"
    "...     try:\n"
    "...         kashi.Ranks(3)\n"
    "...     except TypeError as error:\n"
    "...         print(error)\n"
    "... else:\n"
    "...     print('expected a communicator of mpi4py')\n"
    "expected a communicator of mpi4py\n\n"
    "Raises NotImplementedError in a build without MPI (HAS_MPI is false).";

#ifdef KASHI_HAS_MPI
// `communicator` is one of mpi4py. Python owns the result.
MpiRanks* MakeRanks(nb::handle communicator, bool deterministic) {
  if (!nb::hasattr(communicator, "py2f")) ThrowTypeError("expected a communicator of mpi4py");
  const int handle = nb::cast<int>(communicator.attr("py2f")());
  MpiOptions options;
  options.deterministic = deterministic;
  const nb::gil_scoped_release release;
  absl::StatusOr<std::unique_ptr<MpiRanks>> ranks = MpiRanks::Make(handle, options);
  const nb::gil_scoped_acquire acquire;
  return ValueOrThrow(std::move(ranks)).release();
}
#endif

}  // namespace

#ifdef KASHI_HAS_MPI
devices::DeviceFabric* FabricOf(nb::handle ranks) {
  if (ranks.is_none()) return nullptr;
  MpiRanks* of_mpi = nullptr;
  if (!nb::try_cast(ranks, of_mpi) || of_mpi == nullptr) ThrowTypeError("expected a kashi.Ranks");
  return of_mpi->fabric();
}

void BindRanks(nb::module_& m) {
  nb::class_<MpiRanks>(m, "Ranks", kRanksDoc)
      .def(nb::new_(&MakeRanks), nb::arg("communicator"), nb::kw_only(), nb::arg("deterministic") = false)
      .def_prop_ro("rank", &MpiRanks::rank, "The number of this rank.")
      .def_prop_ro("size", &MpiRanks::size, "How many there are.")
      .def(
          "devices_here",
          [](const MpiRanks& ranks, int64_t devices) {
            if (devices < 0) ThrowValueError("the number of devices must not be negative");
            const auto [first, end] = ranks.DevicesHere(devices);
            return nb::module_::import_("builtins").attr("range")(first, end);
          },
          nb::arg("devices"), nb::sig("def devices_here(self, devices: int) -> range"),
          "The devices of this rank, of a program for this number of devices.\n\n"
          ">>> def mine(communicator):\n"
          "...     return kashi.Ranks(communicator).devices_here(8)");
  m.attr("HAS_MPI") = true;
}
#else
devices::DeviceFabric* FabricOf(nb::handle ranks) {
  if (!ranks.is_none()) ThrowTypeError("this kashi was built without MPI");
  return nullptr;
}

void BindRanks(nb::module_& m) {
  struct NoRanks {};
  nb::class_<NoRanks>(m, "Ranks", kRanksDoc)
      .def(nb::new_([](nb::handle, bool) -> NoRanks* {
             ThrowStatus(absl::UnimplementedError("this kashi was built without MPI"));
           }),
           nb::arg("communicator"), nb::kw_only(), nb::arg("deterministic") = false);
  m.attr("HAS_MPI") = false;
}
#endif

}  // namespace kashi::python
