#include "kashi/stablehlo/conversion/op_sharding_bytes.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "kashi/base/status.h"

namespace kashi::stablehlo {
namespace {

// Fields of the message.
constexpr uint64_t kType = 1;
constexpr uint64_t kTileDimensions = 3;
constexpr uint64_t kTileDevices = 4;
constexpr uint64_t kTupleShardings = 5;
constexpr uint64_t kReplicateOnLastTileDim = 6;
constexpr uint64_t kLastTileDims = 8;
constexpr uint64_t kIotaReshapeDims = 9;
constexpr uint64_t kIotaTransposePerm = 10;
constexpr uint64_t kIsShardGroup = 11;
constexpr uint64_t kShardGroupId = 12;
constexpr uint64_t kShardGroupType = 13;
constexpr uint64_t kNamedSharding = 14;

// The encoding of a field's value: the low three bits of its tag.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field of a message.
struct Field {
  uint64_t number = 0;
  bool is_bytes = false;
  uint64_t value = 0;       // of a number
  absl::string_view bytes;  // of a message, or of a packed list of numbers
};

class WireReader {
 public:
  explicit WireReader(absl::string_view bytes) : rest_(bytes) {}

  bool AtEnd() const { return rest_.empty(); }

  std::optional<uint64_t> ReadVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  std::optional<Field> ReadField() {
    const std::optional<uint64_t> tag = ReadVarint();
    if (!tag.has_value() || *tag >> 3 == 0) return std::nullopt;
    Field field;
    field.number = *tag >> 3;
    switch (static_cast<WireType>(*tag & 7)) {
      case WireType::kVarint: {
        const std::optional<uint64_t> value = ReadVarint();
        if (!value.has_value()) return std::nullopt;
        field.value = *value;
        return field;
      }
      case WireType::kBytes: {
        const std::optional<uint64_t> size = ReadVarint();
        field.is_bytes = true;
        return size.has_value() && Take(*size, &field.bytes) ? std::make_optional(field) : std::nullopt;
      }
      case WireType::kFixed64:
        return Take(8, &field.bytes) ? std::make_optional(field) : std::nullopt;
      case WireType::kFixed32:
        return Take(4, &field.bytes) ? std::make_optional(field) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  bool Take(uint64_t size, absl::string_view* bytes) {
    if (size > rest_.size()) return false;
    *bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  absl::string_view rest_;
};

absl::Status NoSharding() { return InvalidArgument("it is no serialised OpSharding"); }

// One number, or a packed list of them. `add` returns false for a number that may not be there.
template <typename Add>
absl::Status AddNumbers(const Field& field, Add add) {
  if (!field.is_bytes) return add(field.value) ? absl::OkStatus() : NoSharding();
  WireReader reader(field.bytes);
  while (!reader.AtEnd()) {
    const std::optional<uint64_t> value = reader.ReadVarint();
    if (!value.has_value() || !add(*value)) return NoSharding();
  }
  return absl::OkStatus();
}

bool IsType(uint64_t value) { return value <= OpSharding::UNREDUCED; }

absl::StatusOr<OpSharding> ReadSharding(absl::string_view bytes, bool is_element);

absl::Status SetField(const Field& field, bool is_element, OpSharding* sharding) {
  switch (field.number) {
    case kTileDimensions:
      return AddNumbers(field, [&](uint64_t v) { return sharding->add_tile_assignment_dimensions(v), true; });
    case kTileDevices:
      return AddNumbers(field, [&](uint64_t v) { return sharding->add_tile_assignment_devices(v), true; });
    case kIotaReshapeDims:
      return AddNumbers(field, [&](uint64_t v) { return sharding->add_iota_reshape_dims(v), true; });
    case kIotaTransposePerm:
      return AddNumbers(field, [&](uint64_t v) { return sharding->add_iota_transpose_perm(v), true; });
    case kLastTileDims:
      return AddNumbers(field, [&](uint64_t v) {
        if (IsType(v)) sharding->add_last_tile_dims(static_cast<OpSharding::Type>(v));
        return IsType(v);
      });
    case kTupleShardings: {
      if (!field.is_bytes || is_element) return NoSharding();
      KASHI_ASSIGN_OR_RETURN(*sharding->add_tuple_shardings(), ReadSharding(field.bytes, /*is_element=*/true));
      return absl::OkStatus();
    }
    case kNamedSharding:
      return Unimplemented("a serialised OpSharding that names the axes of a mesh");
    default:
      break;
  }
  if (field.is_bytes) return absl::OkStatus();  // metadata, or unknown
  if (field.number == kType && !IsType(field.value)) return NoSharding();
  if (field.number == kType) sharding->set_type(static_cast<OpSharding::Type>(field.value));
  if (field.number == kReplicateOnLastTileDim) sharding->set_replicate_on_last_tile_dim(field.value != 0);
  if (field.number == kIsShardGroup) sharding->set_is_shard_group(field.value != 0);
  if (field.number == kShardGroupId) sharding->set_shard_group_id(static_cast<int64_t>(field.value));
  if (field.number == kShardGroupType && field.value > OpSharding::LIKE) return NoSharding();
  if (field.number == kShardGroupType) {
    sharding->set_shard_group_type(static_cast<OpSharding::ShardGroupType>(field.value));
  }
  return absl::OkStatus();
}

absl::StatusOr<OpSharding> ReadSharding(absl::string_view bytes, bool is_element) {
  OpSharding sharding;
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    const std::optional<Field> field = reader.ReadField();
    if (!field.has_value()) return NoSharding();
    KASHI_RETURN_IF_ERROR(SetField(*field, is_element, &sharding));
  }
  return sharding;
}

}  // namespace

absl::StatusOr<OpSharding> ReadOpShardingBytes(absl::string_view bytes) {
  return ReadSharding(bytes, /*is_element=*/false);
}

}  // namespace kashi::stablehlo
