#include "kashi/hlo/spmd/sharding_forms.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"
#include "kashi/hlo/spmd/sdy_sharding.h"

namespace kashi::hlo {
namespace {

constexpr char kMeshName[] = "mesh";

absl::Status NoSharding(absl::string_view text, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat("`", text, "` is no sharding: ", reason));
}

absl::Status NeedsMesh(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("`", text, "` names axes, so it needs a mesh, as in x=2,y=4"));
}

// The tokens of P(...): names in quotes, None, and brackets.
class SpecReader {
 public:
  explicit SpecReader(absl::string_view text) : rest_(text) {}

  // One list of axes a dimension: ("x", ("y", "z"), None) has three.
  absl::StatusOr<std::vector<std::vector<std::string>>> Read() {
    std::vector<std::vector<std::string>> dimensions;
    if (!Take("(")) return absl::InvalidArgumentError("`(` expected");
    while (!Take(")")) {
      std::vector<std::string>& axes = dimensions.emplace_back();
      if (Take("(") || Take("[")) {
        while (!Take(")") && !Take("]")) {
          KASHI_RETURN_IF_ERROR(ReadAxis(&axes));
          Take(",");
        }
      } else if (!Take("None")) {
        KASHI_RETURN_IF_ERROR(ReadAxis(&axes));
      }
      if (!Take(",") && !absl::StartsWith(Rest(), ")")) return absl::InvalidArgumentError("`,` or `)` expected");
    }
    if (!Rest().empty()) return absl::InvalidArgumentError(absl::StrCat("`", rest_, "` follows it"));
    return dimensions;
  }

 private:
  absl::string_view Rest() { return rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  bool Take(absl::string_view token) {
    Rest();
    return absl::ConsumePrefix(&rest_, token);
  }
  absl::Status ReadAxis(std::vector<std::string>* axes) {
    const char quote = Rest().empty() ? '\0' : rest_[0];
    const size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : absl::string_view::npos;
    if (end == absl::string_view::npos) return absl::InvalidArgumentError("the name of an axis in quotes expected");
    axes->emplace_back(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return absl::OkStatus();
  }

  absl::string_view rest_;
};

absl::StatusOr<AxisRef> FindAxis(const std::string& name, const Mesh& mesh) {
  for (int64_t i = 0; i < mesh.num_axes(); ++i) {
    if (mesh.axis_name(i) == name) return AxisRef(i);
  }
  return absl::InvalidArgumentError(absl::StrCat("the mesh ", mesh.ToString(), " has no axis `", name, "`"));
}

absl::StatusOr<HloSharding> ParseSpec(absl::string_view text, absl::string_view list, const Mesh& mesh, int64_t rank) {
  const auto dimensions = SpecReader(list).Read();
  if (!dimensions.ok()) return NoSharding(text, dimensions.status().message());
  if (static_cast<int64_t>(dimensions->size()) > rank) {
    return NoSharding(text, absl::StrCat("it has ", dimensions->size(), " dimensions, the array ", rank));
  }
  std::vector<NamedSharding::DimensionSharding> cuts(rank);
  for (size_t d = 0; d < dimensions->size(); ++d) {
    for (const std::string& name : (*dimensions)[d]) {
      KASHI_ASSIGN_OR_RETURN(const AxisRef axis, FindAxis(name, mesh));
      cuts[d].axes.push_back(axis);
    }
  }
  NamedSharding sharding(mesh, std::move(cuts));
  KASHI_RETURN_IF_ERROR(sharding.Validate());
  return HloSharding(std::move(sharding));
}

// `[…]`, `<@mesh, […]>` or `#sdy.sharding<@mesh, […]>`.
absl::StatusOr<HloSharding> ParseShardy(absl::string_view text, const Mesh& mesh) {
  std::string name = kMeshName;
  std::string whole(text);
  if (absl::StartsWith(text, "[")) {
    whole = absl::StrCat("#sdy.sharding<@", kMeshName, ", ", text, ">");
  } else {
    if (absl::StartsWith(text, "<")) whole = absl::StrCat("#sdy.sharding", text);
    const size_t at = whole.find('@');
    const size_t end = at == std::string::npos ? at : whole.find_first_of(",>", at);
    if (end != std::string::npos) name = whole.substr(at + 1, end - at - 1);
  }
  KASHI_ASSIGN_OR_RETURN(std::vector<NamedSharding> shardings, ParseSdyShardings(whole, {{name, mesh}}));
  if (shardings.size() != 1) return NoSharding(text, "it is that of several values");
  return HloSharding(std::move(shardings[0]));
}

absl::Status CheckMesh(const Mesh& mesh) {
  KASHI_RETURN_IF_ERROR(mesh.Validate());
  for (int64_t i = 0; i < mesh.num_axes(); ++i) {
    if (mesh.axis_size(i) < 1) return absl::InvalidArgumentError("an axis of a mesh has at least one device");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Mesh> ParseMeshAxes(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (absl::StartsWith(text, "#sdy.mesh") || absl::StartsWith(text, "<[")) {
    const absl::string_view kind = absl::StartsWith(text, "<") ? "#sdy.mesh" : "";
    KASHI_ASSIGN_OR_RETURN(const SdyMeshes meshes,
                           ParseSdyMeshes(absl::StrCat("{", kMeshName, " = ", kind, text, "}")));
    return meshes.begin()->second;
  }
  if (absl::StartsWith(text, "mesh[")) {
    KASHI_ASSIGN_OR_RETURN(const HloSharding sharding, ParseSharding(absl::StrCat("{", text, ", []}")));
    return sharding.named_sharding().mesh();
  }
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  for (const absl::string_view axis : absl::StrSplit(text, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(axis, '=');
    int64_t size = 0;
    if (parts.size() != 2 || !absl::SimpleAtoi(parts[1], &size) || absl::StripAsciiWhitespace(parts[0]).empty()) {
      return absl::InvalidArgumentError(absl::StrCat("`", text, "` is no mesh: expected axes as in x=2,y=4"));
    }
    names.emplace_back(absl::StripAsciiWhitespace(parts[0]));
    sizes.push_back(size);
  }
  Mesh mesh(std::move(names), std::move(sizes));
  KASHI_RETURN_IF_ERROR(CheckMesh(mesh));
  return mesh;
}

absl::StatusOr<HloSharding> ParseShardingForm(absl::string_view text, const std::optional<Mesh>& mesh, int64_t rank) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return absl::InvalidArgumentError("an empty text is no sharding");
  for (const absl::string_view name : {"PartitionSpec", "P"}) {
    absl::string_view list = text;
    if (!absl::ConsumePrefix(&list, name) || !absl::StartsWith(absl::StripLeadingAsciiWhitespace(list), "(")) continue;
    if (!mesh.has_value()) return NeedsMesh(text);
    return ParseSpec(text, list, *mesh, rank);
  }
  if (absl::StartsWith(text, "[") || absl::StartsWith(text, "<") || absl::StartsWith(text, "#sdy")) {
    if (!mesh.has_value()) return NeedsMesh(text);
    return ParseShardy(text, *mesh);
  }
  return ParseSharding(absl::StartsWith(text, "{") ? std::string(text) : absl::StrCat("{", text, "}"));
}

}  // namespace kashi::hlo
