#include "kashi/stablehlo/conversion/shardings.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"
#include "kashi/stablehlo/conversion/op_sharding_bytes.h"
#include "kashi/stablehlo/conversion/sdy_text.h"

namespace kashi::stablehlo {

const Attribute* FindNamed(absl::Span<const NamedAttribute> attributes, absl::string_view name) {
  for (const NamedAttribute& attribute : attributes) {
    if (attribute.name == name) return attribute.value;
  }
  return nullptr;
}

void AddFrontendAttributes(const Attribute* dictionary, HloInstruction* instruction) {
  if (dictionary == nullptr) return;
  for (const NamedAttribute& field : dictionary->fields) {
    if (field.value->kind == Attribute::Kind::kString)
      instruction->set_frontend_attribute(field.name, field.value->text);
  }
}

absl::StatusOr<HloSharding> HloShardingOfSdy(const hlo::SdyMeshes& meshes, const Attribute& sharding) {
  KASHI_ASSIGN_OR_RETURN(const std::string text, SdyShardingText(sharding));
  KASHI_ASSIGN_OR_RETURN(const std::vector<NamedSharding> named,
                         hlo::ParseSdyShardings(absl::StrCat("#sdy.sharding", text), meshes));
  if (named.size() != 1) return InvalidArgument("#sdy.sharding%s is not one sharding", text);
  KASHI_RETURN_IF_ERROR(named[0].Validate());
  return HloSharding::V3ToV2Sharding(named[0]);
}

// JAX writes {devices=[1]<=[1]} where a mesh has one device, which no sharding of HLO may be: it is {replicated}, also
// in XLA's import.
static HloSharding WithoutSingleTiles(const HloSharding& sharding) {
  if (sharding.IsTuple()) {
    std::vector<HloSharding> elements;
    for (const HloSharding& element : sharding.tuple_elements()) elements.push_back(WithoutSingleTiles(element));
    return HloSharding::FlatTuple(std::move(elements));
  }
  const bool is_single = sharding.IsTiled() && sharding.tile_assignment().num_elements() == 1;
  return is_single ? HloSharding::Replicate(sharding.metadata()) : sharding;
}

// As XLA reads it: text, or the bytes of an OpSharding, of which there are none for {replicated}.
static absl::StatusOr<HloSharding> HloShardingOfAttribute(absl::string_view value) {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(value);
  if (absl::StartsWith(text, "{")) {
    KASHI_ASSIGN_OR_RETURN(const HloSharding sharding, ParseSharding(value));
    return WithoutSingleTiles(sharding);
  }
  const absl::StatusOr<OpSharding> proto = ReadOpShardingBytes(value);
  const absl::StatusOr<HloSharding> sharding = proto.ok() ? HloSharding::FromProto(*proto) : proto.status();
  if (sharding.ok()) return WithoutSingleTiles(*sharding);
  return absl::Status(proto.ok() ? absl::StatusCode::kInvalidArgument : proto.status().code(),
                      absl::StrCat("mhlo.sharding = \"", absl::CHexEscape(value), "\" is no text of a sharding, and ",
                                   sharding.status().message()));
}

absl::StatusOr<std::optional<HloSharding>> ShardingIn(const hlo::SdyMeshes& meshes,
                                                      absl::Span<const NamedAttribute> attributes) {
  std::optional<HloSharding> sharding;
  const Attribute* record = FindNamed(attributes, "sdy.sharding");
  if (record != nullptr && record->text == "sdy.sharding") {
    KASHI_ASSIGN_OR_RETURN(sharding, HloShardingOfSdy(meshes, *record));
  }
  const Attribute* text = FindNamed(attributes, "mhlo.sharding");
  if (text != nullptr && text->kind == Attribute::Kind::kString) {
    KASHI_ASSIGN_OR_RETURN(sharding, HloShardingOfAttribute(text->text));
  }
  return sharding;
}

}  // namespace kashi::stablehlo
