// MpiWorld: the ranks of an MPI communicator, as kashi/mpi uses them.
//
// All calls of MPI in this room are nonblocking, or return at once, and are made under one lock: MPI_THREAD_SERIALIZED
// is enough. A waiting thread tests its requests again and again. So a wait can also end for reasons outside of MPI: a
// rank that has failed, or a deadline.
#ifndef KASHI_MPI_MPI_WORLD_H_
#define KASHI_MPI_MPI_WORLD_H_

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kashi::mpi {

// OK, or MPI's message about the error of a call: "MPI_Iallreduce: MPI_ERR_TRUNCATE: message truncated".
absl::Status MpiStatus(int code, const char* call);
#define KASHI_RETURN_IF_MPI_ERROR(call, ...) KASHI_RETURN_IF_ERROR(MpiStatus(call(__VA_ARGS__), #call))

class MpiWorld {
 public:
  // Every rank of the communicator calls this. MPI must be initialised, with MPI_THREAD_SERIALIZED or more.
  // FAILED_PRECONDITION if it is not. `most_count`: the most elements of one call of MPI; tests set a small number.
  static absl::StatusOr<std::unique_ptr<MpiWorld>> Make(MPI_Comm comm, int64_t most_count);
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int ranks_of_machine() const { return ranks_of_machine_; }
  int64_t most_count() const { return most_count_; }
  // Copies of the communicator: for the data of programs, and for messages about their state.
  MPI_Comm data() const { return data_; }
  MPI_Comm control() const { return control_; }
  // Held during each call of MPI.
  std::mutex& mutex() { return mutex_; }

  // Returns when all requests are complete. CANCELLED as soon as `*stop`: then the requests are not complete, and the
  // memory that they use must be given to Keep.
  absl::Status Wait(std::vector<MPI_Request>* requests, const std::atomic<bool>* stop);
  // Keeps memory for as long as this process lives: abandoned requests may still write to it.
  void Keep(std::shared_ptr<const void> memory);
  // Whether there are abandoned requests, for which no thread waits: MPI_Finalize might wait for them.
  bool has_abandoned() const { return has_abandoned_.load(); }
  void set_abandoned() { has_abandoned_.store(true); }

  // The texts of all ranks, by rank. Every rank calls this. Waits without a limit. UNAVAILABLE, with the name of a
  // rank, if that rank calls Leave instead; then all later calls have this result, too.
  absl::StatusOr<std::vector<std::string>> GatherTexts(const std::string& own);

  // Called instead of GatherTexts by a rank that makes no more calls: others do not wait for it. Returns when all have
  // called one of the two, but always after some seconds.
  void Leave();

  // Lets others run between two tests of a wait. `tests`: the number of tests so far.
  void Pause(int64_t tests) const;

 private:
  MpiWorld() = default;
  absl::Status Init(MPI_Comm comm);
  // The sizes of all texts. `own`: kHasLeft for none.
  struct Sizes {
    int own;
    std::vector<int> all;
  };
  absl::Status BeginSizes(const std::shared_ptr<Sizes>& sizes, std::vector<MPI_Request>* requests);

  MPI_Comm data_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, ranks_of_machine_ = 1;
  bool is_crowded_ = false;  // more ranks than processors: a thread that waits lets others run at once
  int64_t most_count_ = 0;
  absl::Status left_;  // a rank has left
  std::mutex mutex_;
  std::atomic<bool> has_abandoned_{false};
};

}  // namespace kashi::mpi

#endif  // KASHI_MPI_MPI_WORLD_H_
