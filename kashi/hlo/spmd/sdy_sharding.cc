#include "kashi/hlo/spmd/sdy_sharding.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/text/hlo_place.h"
#include "kashi/hlo/text/text_scanner.h"

namespace kashi::hlo {
namespace {

// Reads one attribute. Functions return false after an error; status() has the error.
class SdyReader {
 public:
  explicit SdyReader(absl::string_view text) : scanner_(text) {}

  bool ReadMeshes(SdyMeshes* meshes);
  bool ReadShardings(const SdyMeshes& meshes, std::vector<NamedSharding>* shardings);
  bool ReadManualAxes(std::vector<std::string>* names);

  bool AtEnd() { return scanner_.AtEnd() || Fail("the end"); }
  absl::Status status() const {
    return InvalidArgument("`%s`, at byte %d: expected %s", scanner_.text(), scanner_.offset(), expected_);
  }

 private:
  bool Fail(std::string expected) {
    expected_ = std::move(expected);
    return false;
  }
  bool Expect(absl::string_view text) { return scanner_.Match(text) || Fail(absl::StrCat("`", text, "`")); }
  // Items between `open` and `close`, with commas between them.
  template <typename ReadItem>
  bool ReadList(char open, char close, ReadItem read_item);
  bool ReadInt(int64_t* value);
  bool ReadName(std::string* name);
  bool ReadMeshBody(Mesh* mesh);
  bool ReadSharding(const SdyMeshes& meshes, NamedSharding* sharding);
  bool ReadMeshReference(const SdyMeshes& meshes, Mesh* mesh);
  bool ReadDimension(const Mesh& mesh, NamedSharding::DimensionSharding* dimension);
  bool ReadAxis(const Mesh& mesh, std::vector<AxisRef>* axes);
  bool ReadAxes(const Mesh& mesh, std::vector<AxisRef>* axes);

  TextScanner scanner_;
  std::string expected_;
};

template <typename ReadItem>
bool SdyReader::ReadList(char open, char close, ReadItem read_item) {
  if (!Expect(absl::string_view(&open, 1))) return false;
  if (scanner_.Match(close)) return true;
  do {
    if (!read_item()) return false;
  } while (scanner_.Match(','));
  return Expect(absl::string_view(&close, 1));
}

bool SdyReader::ReadInt(int64_t* value) {
  const std::optional<int64_t> read = scanner_.ReadInt();
  if (!read.has_value()) return Fail("a number");
  *value = *read;
  return true;
}

// "a", or \"a\" where the attribute is still as HLO text quotes it.
bool SdyReader::ReadName(std::string* name) {
  absl::string_view end = "\"";
  if (scanner_.Match("\\\"")) {
    end = "\\\"";
  } else if (!scanner_.Match('"')) {
    return Fail("a name in quotes");
  }
  const size_t length = scanner_.text().substr(scanner_.offset()).find(end);
  if (length == absl::string_view::npos) return Fail("the end of a name");
  *name = std::string(scanner_.text().substr(scanner_.offset(), length));
  scanner_.Seek(scanner_.offset() + length + end.size());
  return true;
}

// <["a"=2, "b"=4], device_ids=[1, 0]>
bool SdyReader::ReadMeshBody(Mesh* mesh) {
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  std::vector<int64_t> ids;
  const auto read_axis = [&] {
    names.emplace_back();
    sizes.emplace_back();
    return ReadName(&names.back()) && Expect("=") && ReadInt(&sizes.back());
  };
  const auto read_id = [&] {
    ids.emplace_back();
    return ReadInt(&ids.back());
  };
  if (!Expect("<") || !ReadList('[', ']', read_axis)) return false;
  const bool has_ids = scanner_.Match(',');
  if (has_ids && (!Expect("device_ids") || !Expect("=") || !ReadList('[', ']', read_id))) return false;
  if (!Expect(">")) return false;
  const bool has_bad_size = std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 1; });
  if (has_bad_size) return Fail("axes with sizes of 1 or more");
  if (!has_ids) {
    *mesh = Mesh(std::move(names), std::move(sizes));
  } else if (sizes.empty() && ids.size() == 1) {
    *mesh = Mesh::Maximal(ids[0]);
  } else if (SaturatingProduct(sizes) != static_cast<int64_t>(ids.size())) {
    return Fail("one device id for each element of the mesh");
  } else {
    auto list = std::make_shared<Array<int64_t>>(sizes);
    std::copy(ids.begin(), ids.end(), list->begin());
    *mesh = Mesh(std::move(names), std::move(sizes), TileAssignment(std::move(list)));
  }
  return true;
}

bool SdyReader::ReadMeshes(SdyMeshes* meshes) {
  return ReadList('{', '}', [&] {
    std::string name(scanner_.ReadIdent());
    if (name.empty() && scanner_.Peek() == '"' && !ReadName(&name)) return false;
    if (name.empty()) return Fail("the name of a mesh");
    return Expect("=") && Expect("#sdy.mesh") && ReadMeshBody(&(*meshes)[name]);
  });
}

// @mesh, or mesh<["a"=2]>
bool SdyReader::ReadMeshReference(const SdyMeshes& meshes, Mesh* mesh) {
  if (!scanner_.Match('@')) return Expect("mesh") && ReadMeshBody(mesh);
  std::string name(scanner_.ReadIdentHere());
  if (name.empty() && !ReadName(&name)) return Fail("the name of a mesh");
  const auto found = meshes.find(name);
  if (found == meshes.end()) return Fail(absl::StrCat("a mesh of the module, not `", name, "`"));
  *mesh = found->second;
  return true;
}

bool SdyReader::ReadAxis(const Mesh& mesh, std::vector<AxisRef>* axes) {
  std::string name;
  if (!ReadName(&name)) return false;
  const absl::Span<const std::string> names = mesh.axis_names();
  const int64_t axis = std::find(names.begin(), names.end(), name) - names.begin();
  if (axis == mesh.num_axes()) return Fail(absl::StrCat("an axis of the mesh, not `", name, "`"));
  if (!scanner_.Match(':')) {
    axes->emplace_back(axis);
    return true;
  }
  AxisRef::SubAxis part = {0, 0};
  if (!Expect("(") || !ReadInt(&part.pre_size) || !Expect(")") || !ReadInt(&part.size)) return false;
  axes->emplace_back(axis, part);
  return true;
}

bool SdyReader::ReadAxes(const Mesh& mesh, std::vector<AxisRef>* axes) {
  return ReadList('{', '}', [&] { return ReadAxis(mesh, axes); });
}

// {"a", "b", ?}p1
bool SdyReader::ReadDimension(const Mesh& mesh, NamedSharding::DimensionSharding* dimension) {
  const bool read = ReadList('{', '}', [&] {
    if (!dimension->is_closed) return Fail("`}` after `?`");
    if (!scanner_.Match('?')) return ReadAxis(mesh, &dimension->axes);
    dimension->is_closed = false;
    return true;
  });
  if (!read || scanner_.PeekHere() != 'p') return read;
  int64_t priority = 0;
  return Expect("p") && ReadInt(&priority);
}

// <@mesh, [{"a"}, {}], replicated={"b"}>
bool SdyReader::ReadSharding(const SdyMeshes& meshes, NamedSharding* sharding) {
  Mesh mesh;
  std::vector<NamedSharding::DimensionSharding> dimensions;
  std::vector<AxisRef> replicated;
  std::vector<AxisRef> unreduced;
  const auto read_dimension = [&] { return ReadDimension(mesh, &dimensions.emplace_back()); };
  if (!Expect("<") || !ReadMeshReference(meshes, &mesh) || !Expect(",") || !ReadList('[', ']', read_dimension)) {
    return false;
  }
  while (scanner_.Match(',')) {
    const bool is_replicated = scanner_.Match("replicated");
    if (!is_replicated && !scanner_.Match("unreduced")) return Fail("`replicated` or `unreduced`");
    if (!Expect("=") || !ReadAxes(mesh, is_replicated ? &replicated : &unreduced)) return false;
  }
  if (!Expect(">")) return false;
  *sharding = NamedSharding(std::move(mesh), std::move(dimensions), std::move(replicated), std::move(unreduced));
  return true;
}

bool SdyReader::ReadShardings(const SdyMeshes& meshes, std::vector<NamedSharding>* shardings) {
  const auto read_one = [&] { return ReadSharding(meshes, &shardings->emplace_back()); };
  if (scanner_.Match("#sdy.sharding_per_value")) return Expect("<") && ReadList('[', ']', read_one) && Expect(">");
  return Expect("#sdy.sharding") && read_one();
}

bool SdyReader::ReadManualAxes(std::vector<std::string>* names) {
  const auto read_name = [&] { return ReadName(&names->emplace_back()); };
  return Expect("#sdy") && Expect("<") && Expect("manual_axes") && ReadList('{', '}', read_name) && Expect(">");
}

}  // namespace

absl::StatusOr<SdyMeshes> ParseSdyMeshes(absl::string_view text) {
  SdyReader reader(text);
  SdyMeshes meshes;
  if (!reader.ReadMeshes(&meshes) || !reader.AtEnd()) return reader.status();
  for (const auto& [name, mesh] : meshes) KASHI_RETURN_IF_ERROR(mesh.Validate());
  return meshes;
}

absl::StatusOr<SdyMeshes> SdyMeshesOf(const HloModule& module) {
  const auto& attributes = module.frontend_attributes().map();
  const auto found = attributes.find("xla.sdy.meshes");
  if (found == attributes.end()) return SdyMeshes();
  return ParseSdyMeshes(found->second);
}

absl::StatusOr<std::vector<NamedSharding>> ParseSdyShardings(absl::string_view text, const SdyMeshes& meshes) {
  SdyReader reader(text);
  std::vector<NamedSharding> shardings;
  if (!reader.ReadShardings(meshes, &shardings) || !reader.AtEnd()) return reader.status();
  return shardings;
}

static absl::Status CheckSdyShardings(const HloInstruction& instruction, const SdyMeshes& meshes) {
  const auto& attributes = instruction.frontend_attributes().map();
  for (const char* name : {"xla.sdy.sharding", "xla.sdy.in_shardings", "xla.sdy.out_shardings"}) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) continue;
    const absl::Status status = ParseSdyShardings(found->second, meshes).status();
    if (status.ok()) continue;
    return AtInstruction(WithMessage(status, absl::StrCat(name, ": ", status.message())), instruction);
  }
  return absl::OkStatus();
}

absl::Status CheckSdyShardings(const HloModule& module) {
  KASHI_ASSIGN_OR_RETURN(const SdyMeshes meshes, SdyMeshesOf(module));
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->has_frontend_attributes()) KASHI_RETURN_IF_ERROR(CheckSdyShardings(*instruction, meshes));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ParseSdyManualAxes(absl::string_view text) {
  SdyReader reader(text);
  std::vector<std::string> names;
  if (!reader.ReadManualAxes(&names) || !reader.AtEnd()) return reader.status();
  return names;
}

}  // namespace kashi::hlo
