#include "kashi/stablehlo/bytecode/exported_module.h"

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/bytecode/bytecode_reader.h"

namespace kashi::stablehlo {
namespace {

// The place of mlir_module_serialized in the root's list of fields: a list of u16 behind two that are sizes.
constexpr uint64_t kModuleField = 13;
constexpr uint64_t kSizesOfFieldList = 4;

// The unsigned little-endian number at the offset; nullopt past the end.
template <typename Number>
std::optional<uint64_t> NumberAt(absl::string_view bytes, uint64_t offset) {
  if (bytes.size() < sizeof(Number) || offset > bytes.size() - sizeof(Number)) return std::nullopt;
  uint64_t value = 0;
  for (uint64_t i = sizeof(Number); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[offset + i]);
  return value;
}

// An offset that is stored at `offset`, and counted from there.
std::optional<uint64_t> FollowOffset(absl::string_view bytes, uint64_t offset) {
  const std::optional<uint64_t> distance = NumberAt<uint32_t>(bytes, offset);
  if (!distance.has_value()) return std::nullopt;
  return offset + *distance;
}

// The place where the root table stores its field; nullopt if there is no such table or it lacks the field.
std::optional<uint64_t> FindRootField(absl::string_view bytes, uint64_t field) {
  const std::optional<uint64_t> table = FollowOffset(bytes, 0);
  if (!table.has_value()) return std::nullopt;
  const std::optional<uint64_t> distance = NumberAt<uint32_t>(bytes, *table);
  if (!distance.has_value()) return std::nullopt;
  // The table stores how far before it the list of its fields lies: a signed number.
  const int64_t list = static_cast<int64_t>(*table) - static_cast<int32_t>(*distance);
  if (list < 0) return std::nullopt;
  const auto begin = static_cast<uint64_t>(list);
  const uint64_t place = kSizesOfFieldList + 2 * field;
  const std::optional<uint64_t> list_size = NumberAt<uint16_t>(bytes, begin);
  if (!list_size.has_value() || place + 2 > *list_size) return std::nullopt;
  const std::optional<uint64_t> offset = NumberAt<uint16_t>(bytes, begin + place);
  if (!offset.has_value() || *offset == 0) return std::nullopt;
  return *table + *offset;
}

// The artifact as far as the bytes go, and the size that it should have.
struct FoundArtifact {
  absl::string_view bytes;
  uint64_t size = 0;
};

std::optional<FoundArtifact> FindArtifact(absl::string_view bytes) {
  const std::optional<uint64_t> field = FindRootField(bytes, kModuleField);
  if (!field.has_value()) return std::nullopt;
  const std::optional<uint64_t> vector = FollowOffset(bytes, *field);
  if (!vector.has_value()) return std::nullopt;
  const std::optional<uint64_t> size = NumberAt<uint32_t>(bytes, *vector);
  if (!size.has_value()) return std::nullopt;
  const absl::string_view artifact = bytes.substr(*vector + sizeof(uint32_t), *size);
  if (!IsBytecode(artifact)) return std::nullopt;
  return FoundArtifact{artifact, *size};
}

}  // namespace

bool IsExportedModule(absl::string_view bytes) { return FindArtifact(bytes).has_value(); }

absl::StatusOr<absl::string_view> ArtifactOfExportedModule(absl::string_view bytes) {
  const std::optional<FoundArtifact> found = FindArtifact(bytes);
  if (!found.has_value()) return InvalidArgument("no module that jax.export wrote: no MLIR bytecode in its flatbuffer");
  if (found->bytes.size() < found->size) {
    return InvalidArgument("the exported module ends early: its MLIR bytecode has %d of %d bytes", found->bytes.size(),
                           found->size);
  }
  return found->bytes;
}

}  // namespace kashi::stablehlo
