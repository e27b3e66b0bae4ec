#include "kashi/mpi/mpi_world.h"

#include <chrono>
#include <numeric>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"

namespace kashi::mpi {
namespace {

// A wait first repeats kBusyTests tests without a pause, then lets other threads run between tests until kEagerTests,
// then sleeps. MPI moves data only while it is called, so the sleep is short and begins late.
constexpr int64_t kBusyTests = 2000, kEagerTests = 200'000;
constexpr std::chrono::microseconds kNap(20);
// The size of the text of a rank that has left, and how long that one waits for others to see it.
constexpr int kHasLeft = -1;
constexpr std::chrono::seconds kMostLeaving(10);

}  // namespace

absl::Status MpiStatus(int code, const char* call) {
  if (code == MPI_SUCCESS) return absl::OkStatus();
  char text[MPI_MAX_ERROR_STRING];
  int size = 0;
  MPI_Error_string(code, text, &size);
  return Unavailable("%s: %s", call, std::string(text, static_cast<size_t>(size)));
}

absl::StatusOr<std::unique_ptr<MpiWorld>> MpiWorld::Make(MPI_Comm comm, int64_t most_count) {
  int initialised = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialised);
  if (initialised == 0) return FailedPrecondition("MPI is not initialised: call MPI_Init_thread first");
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED) {
    return FailedPrecondition("MPI was initialised for one thread; Kashi needs MPI_THREAD_SERIALIZED");
  }
  std::unique_ptr<MpiWorld> world(new MpiWorld());
  world->most_count_ = most_count;
  KASHI_RETURN_IF_ERROR(world->Init(comm));
  return world;
}

absl::Status MpiWorld::Init(MPI_Comm comm) {
  KASHI_RETURN_IF_MPI_ERROR(MPI_Comm_dup, comm, &data_);
  KASHI_RETURN_IF_MPI_ERROR(MPI_Comm_dup, comm, &control_);
  MPI_Comm_set_errhandler(data_, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(control_, MPI_ERRORS_RETURN);
  KASHI_RETURN_IF_MPI_ERROR(MPI_Comm_rank, data_, &rank_);
  KASHI_RETURN_IF_MPI_ERROR(MPI_Comm_size, data_, &size_);
  MPI_Comm machine = MPI_COMM_NULL;
  KASHI_RETURN_IF_MPI_ERROR(MPI_Comm_split_type, data_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
  KASHI_RETURN_IF_MPI_ERROR(MPI_Comm_size, machine, &ranks_of_machine_);
  is_crowded_ = ranks_of_machine_ > static_cast<int>(std::thread::hardware_concurrency());
  return MpiStatus(MPI_Comm_free(&machine), "MPI_Comm_free");
}

MpiWorld::~MpiWorld() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised != 0 || has_abandoned()) return;
  if (data_ != MPI_COMM_NULL) MPI_Comm_free(&data_);
  if (control_ != MPI_COMM_NULL) MPI_Comm_free(&control_);
}

void MpiWorld::Pause(int64_t tests) const {
  if (tests > kEagerTests) {
    std::this_thread::sleep_for(kNap);
  } else if (is_crowded_ || tests > kBusyTests) {
    std::this_thread::yield();
  }
}

absl::Status MpiWorld::Wait(std::vector<MPI_Request>* requests, const std::atomic<bool>* stop) {
  for (int64_t tests = 0;; ++tests) {
    int done = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      KASHI_RETURN_IF_MPI_ERROR(MPI_Testall, static_cast<int>(requests->size()), requests->data(), &done,
                                MPI_STATUSES_IGNORE);
    }
    if (done != 0) break;
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) {
      set_abandoned();
      return Cancelled("the run has ended");
    }
    Pause(tests);
  }
  requests->clear();
  return absl::OkStatus();
}

void MpiWorld::Keep(std::shared_ptr<const void> memory) {
  static std::mutex kept_mutex;
  static auto* const kept = new std::vector<std::shared_ptr<const void>>();
  const std::lock_guard<std::mutex> lock(kept_mutex);
  kept->push_back(std::move(memory));
}

absl::Status MpiWorld::BeginSizes(const std::shared_ptr<Sizes>& sizes, std::vector<MPI_Request>* requests) {
  sizes->all.resize(size_);
  requests->resize(1);
  const std::lock_guard<std::mutex> lock(mutex_);
  KASHI_RETURN_IF_MPI_ERROR(MPI_Iallgather, &sizes->own, 1, MPI_INT, sizes->all.data(), 1, MPI_INT, control_,
                            requests->data());
  return absl::OkStatus();
}

void MpiWorld::Leave() {
  if (!left_.ok() || has_abandoned()) return;
  const auto sizes = std::make_shared<Sizes>(Sizes{kHasLeft, {}});
  std::vector<MPI_Request> requests;
  if (!BeginSizes(sizes, &requests).ok()) return set_abandoned();
  const auto end = std::chrono::steady_clock::now() + kMostLeaving;
  for (int64_t tests = 0;; ++tests) {
    int done = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (MPI_Test(requests.data(), &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) done = 0;
    }
    if (done != 0) return;
    if (std::chrono::steady_clock::now() > end) break;
    Pause(tests);
  }
  set_abandoned();
  Keep(sizes);
}

absl::StatusOr<std::vector<std::string>> MpiWorld::GatherTexts(const std::string& own) {
  KASHI_RETURN_IF_ERROR(left_);
  const int own_size = static_cast<int>(std::min<size_t>(own.size(), size_t{1} << 20));
  const auto sizes = std::make_shared<Sizes>(Sizes{own_size, {}});
  std::vector<MPI_Request> requests;
  KASHI_RETURN_IF_ERROR(BeginSizes(sizes, &requests));
  KASHI_RETURN_IF_ERROR(Wait(&requests, nullptr));
  for (int r = 0; r < size_ && left_.ok(); ++r) {
    if (sizes->all[r] == kHasLeft) left_ = Unavailable("rank %d has left: it takes part in nothing more", r);
  }
  KASHI_RETURN_IF_ERROR(left_);
  std::vector<int> begins(size_);
  std::partial_sum(sizes->all.begin(), sizes->all.end() - 1, begins.begin() + 1);
  std::string all(static_cast<size_t>(begins.back()) + static_cast<size_t>(sizes->all.back()), '\0');
  requests.resize(1);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    KASHI_RETURN_IF_MPI_ERROR(MPI_Iallgatherv, own.data(), own_size, MPI_CHAR, all.data(), sizes->all.data(),
                              begins.data(), MPI_CHAR, control_, requests.data());
  }
  KASHI_RETURN_IF_ERROR(Wait(&requests, nullptr));
  std::vector<std::string> texts;
  for (int r = 0; r < size_; ++r) texts.push_back(all.substr(static_cast<size_t>(begins[r]), sizes->all[r]));
  return texts;
}

}  // namespace kashi::mpi
