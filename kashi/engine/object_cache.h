// A folder with object code, used instead of compiling the same code again: by this process or by another.
//
//   FOLDER/KEY.object     "kashi object", the version, the key, the code, and the fingerprint of all that
//
// A key is a hash of all inputs of the compiler, with the features of the target: processors of two kinds may share a
// folder. Two versions of Kashi replace the files of each other. Any number of processes may use it at once: a file is
// written under another name first, and files never change. Nothing is removed; deleting files, or the folder, costs
// only time.
//
// Object code is run as it is. So the folder is made for its owner alone. A folder that belongs to another user, or
// that others may write to, is refused; such a file, or one that is no regular file, counts as not there.
#ifndef KASHI_ENGINE_OBJECT_CACHE_H_
#define KASHI_ENGINE_OBJECT_CACHE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/base/fingerprint.h"
#include "kashi/engine/engine.h"

namespace kashi::engine {

class ObjectCache {
 public:
  // Makes the folder, and those above it, if it is not there. FAILED_PRECONDITION if it cannot, or must not, be used.
  static absl::StatusOr<ObjectCache> Open(std::string folder);

  // The code with this key; nothing if there is none, or a damaged one.
  std::optional<std::string> Find(const base::Fingerprint& key) const;
  // Also replaces a damaged file. An error, such as a full disk, costs only time: there is no new file then.
  absl::Status Keep(const CompiledObject& object) const;

 private:
  explicit ObjectCache(std::string folder) : folder_(std::move(folder)) {}
  std::string PathOf(const base::Fingerprint& key) const;

  std::string folder_;
};

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_OBJECT_CACHE_H_
