#include "kashi/stablehlo/conversion/shardings.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"
#include "kashi/hlo/spmd/sdy_sharding.h"
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

absl::StatusOr<HloSharding> HloShardingOfSdy(const HloModule& module, const Attribute& sharding) {
  KASHI_ASSIGN_OR_RETURN(const std::string text, SdyShardingText(sharding));
  KASHI_ASSIGN_OR_RETURN(const internal::SdyMeshes meshes, internal::SdyMeshesOf(module));
  KASHI_ASSIGN_OR_RETURN(const std::vector<NamedSharding> named,
                         internal::ParseSdyShardings(absl::StrCat("#sdy.sharding", text), meshes));
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

absl::StatusOr<std::optional<HloSharding>> ShardingIn(const HloModule& module,
                                                      absl::Span<const NamedAttribute> attributes) {
  const Attribute* text = FindNamed(attributes, "mhlo.sharding");
  if (text != nullptr && text->kind == Attribute::Kind::kString) {
    KASHI_ASSIGN_OR_RETURN(HloSharding sharding, ParseSharding(text->text));
    return std::optional<HloSharding>(WithoutSingleTiles(sharding));
  }
  const Attribute* record = FindNamed(attributes, "sdy.sharding");
  if (record == nullptr || record->text != "sdy.sharding") return std::optional<HloSharding>();
  KASHI_ASSIGN_OR_RETURN(HloSharding sharding, HloShardingOfSdy(module, *record));
  return std::optional<HloSharding>(std::move(sharding));
}

}  // namespace kashi::stablehlo
