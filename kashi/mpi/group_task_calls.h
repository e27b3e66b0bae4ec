// How group tasks call MPI. For group_task.cc and the files beside it.
#ifndef KASHI_MPI_GROUP_TASK_CALLS_H_
#define KASHI_MPI_GROUP_TASK_CALLS_H_

#include <mpi.h>

#include <mutex>

#include "absl/status/status.h"
#include "kashi/base/status.h"
#include "kashi/mpi/group_task.h"
#include "kashi/mpi/mpi_world.h"

namespace kashi::internal {

template <typename Call>
absl::Status GroupTask::Issue(const char* name, const Call& call) {
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const std::lock_guard<std::mutex> lock(context_.world->mutex());
    KASHI_RETURN_IF_ERROR(MpiStatus(call(&request), name));
  }
  requests_.push_back(request);
  return absl::OkStatus();
}

}  // namespace kashi::internal

#endif  // KASHI_MPI_GROUP_TASK_CALLS_H_
