// Attributes of Shardy: #sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y"}>.
#include "kashi/stablehlo/text/mlir_reader.h"

namespace kashi::stablehlo {

const Attribute* MlirReader::ReadMeshAxis() {
  absl::string_view name;
  int64_t size = 0;
  if (!ReadString(&name) || !Expect('=', "before the size of an axis") || !ReadInt(&size)) return nullptr;
  return NewRecord("sdy.mesh_axis",
                   {{"name", NewText(Attribute::Kind::kString, name)}, {"size", NewInteger(S64, size)}});
}

// <["x"=2, "y"=2], device_ids=[1, 0]>
const Attribute* MlirReader::ReadMesh() {
  if (!Expect('<', "before a mesh") || !Expect('[', "before axes")) return nullptr;
  absl::InlinedVector<const Attribute*, 4> axes;
  while (cursor_.Peek() != ']') {
    const Attribute* axis = ReadMeshAxis();
    if (axis == nullptr) return nullptr;
    axes.push_back(axis);
    if (!cursor_.Match(',')) break;
  }
  if (!Expect(']', "after axes")) return nullptr;
  const Attribute* ids = NewIntegers({});
  if (cursor_.Match(',')) {
    if (!cursor_.MatchWord("device_ids") || !Expect('=', "after device_ids"))
      return ErrorHere("`device_ids=`"), nullptr;
    ids = ReadIntegers();
    if (ids == nullptr) return nullptr;
  }
  return Expect('>', "after a mesh") ? NewRecord("sdy.mesh", {{"axes", NewArray(axes)}, {"device_ids", ids}}) : nullptr;
}

// "x", "x":(1)2
bool MlirReader::ReadAxisRef(const Attribute** axis) {
  absl::string_view name;
  if (!ReadString(&name)) return false;
  const Attribute* sub_axis = NewAttribute(Attribute::Kind::kUnit);
  if (cursor_.Match(':')) {
    int64_t pre_size = 0;
    int64_t size = 0;
    if (!Expect('(', "before a size") || !ReadInt(&pre_size) || !Expect(')', "after a size") || !ReadInt(&size))
      return false;
    sub_axis =
        NewRecord("sdy.sub_axis_info", {{"pre_size", NewInteger(S64, pre_size)}, {"size", NewInteger(S64, size)}});
  }
  *axis = NewRecord("sdy.axis_ref", {{"name", NewText(Attribute::Kind::kString, name)}, {"sub_axis", sub_axis}});
  return true;
}

const Attribute* MlirReader::ReadAxisRefs(char open, char close) {
  absl::InlinedVector<const Attribute*, 4> axes;
  if (!Expect(open, "before axes")) return nullptr;
  while (cursor_.Peek() == '"') {
    const Attribute* axis = nullptr;
    if (!ReadAxisRef(&axis)) return nullptr;
    axes.push_back(axis);
    if (!cursor_.Match(',')) break;
  }
  return Expect(close, "after axes") ? NewArray(axes) : nullptr;
}

// {"x", ?}p1
const Attribute* MlirReader::ReadDimensionSharding() {
  absl::InlinedVector<const Attribute*, 4> axes;
  if (!Expect('{', "before axes")) return nullptr;
  bool open = false;
  while (cursor_.Peek() == '"' || cursor_.Peek() == '?') {
    const Attribute* axis = nullptr;
    open = cursor_.Match('?');
    if (!open && !ReadAxisRef(&axis)) return nullptr;
    if (!open) axes.push_back(axis);
    if (!cursor_.Match(',')) break;
  }
  if (!Expect('}', "after axes")) return nullptr;
  int64_t priority = -1;
  if (cursor_.PeekHere() == 'p' && (cursor_.Match('p'), !ReadInt(&priority))) return nullptr;
  return NewRecord("sdy.dimension_sharding",
                   {{"axes", NewArray(axes)}, {"is_closed", NewBool(!open)}, {"priority", NewInteger(S64, priority)}});
}

const Attribute* MlirReader::ReadSharding() {
  if (!Expect('<', "before a sharding")) return nullptr;
  const bool is_symbol = cursor_.Peek() == '@';
  if (!is_symbol && !cursor_.MatchWord("mesh")) return ErrorHere("a mesh"), nullptr;
  const Attribute* mesh = is_symbol ? ReadSymbol() : ReadMesh();
  if (mesh == nullptr || !Expect(',', "after the mesh") || !Expect('[', "before dimensions")) return nullptr;
  absl::InlinedVector<const Attribute*, 4> dimensions;
  while (cursor_.Peek() == '{') {
    const Attribute* dimension = ReadDimensionSharding();
    if (dimension == nullptr) return nullptr;
    dimensions.push_back(dimension);
    if (!cursor_.Match(',')) break;
  }
  if (!Expect(']', "after dimensions")) return nullptr;
  const Attribute* replicated = NewArray({});
  const Attribute* unreduced = replicated;
  while (cursor_.Match(',')) {
    const bool first = cursor_.MatchWord("replicated");
    if (!first && !cursor_.MatchWord("unreduced")) return ErrorHere("`replicated=` or `unreduced=`"), nullptr;
    if (!Expect('=', "before axes")) return nullptr;
    const Attribute* axes = ReadAxisRefs('{', '}');
    if (axes == nullptr) return nullptr;
    (first ? replicated : unreduced) = axes;
  }
  if (!Expect('>', "after a sharding")) return nullptr;
  return NewRecord("sdy.sharding", {{"mesh", mesh},
                                    {"dimensions", NewArray(dimensions)},
                                    {"replicated_axes", replicated},
                                    {"unreduced_axes", unreduced},
                                    {"reduction", NewText(Attribute::Kind::kEnum, "SUM")}});
}

const Attribute* MlirReader::ReadShardings() {
  if (!Expect('[', "before shardings")) return nullptr;
  absl::InlinedVector<const Attribute*, 4> shardings;
  while (cursor_.Peek() == '<') {
    const Attribute* sharding = ReadSharding();
    if (sharding == nullptr) return nullptr;
    shardings.push_back(sharding);
    if (!cursor_.Match(',')) break;
  }
  if (!Expect(']', "after shardings")) return nullptr;
  return NewRecord("sdy.sharding_per_value", {{"shardings", NewArray(shardings)}});
}

const Attribute* MlirReader::ReadManualAxes() {
  if (!Expect('{', "before axes")) return nullptr;
  absl::InlinedVector<const Attribute*, 4> axes;
  while (cursor_.Peek() == '"') {
    absl::string_view name;
    if (!ReadString(&name)) return nullptr;
    axes.push_back(NewText(Attribute::Kind::kString, name));
    if (!cursor_.Match(',')) break;
  }
  return Expect('}', "after axes") ? NewRecord("sdy.manual_axes", {{"axes", NewArray(axes)}}) : nullptr;
}

// The rule of a custom call is advice to a partitioner: it is kept as its spelling.
const Attribute* MlirReader::ReadSdyRecord(absl::string_view name) {
  const size_t begin = cursor_.offset() - name.size() - 1;
  const Attribute* record = nullptr;
  if (name == "sdy.sharding") return ReadSharding();
  if (name == "sdy.mesh") return ReadMesh();
  if (name == "sdy.sharding_per_value" || name == "sdy") {
    if (!Expect('<', "after a name")) return nullptr;
    if (name == "sdy" && !cursor_.MatchWord("manual_axes")) return ErrorHere("`manual_axes`"), nullptr;
    record = name == "sdy" ? ReadManualAxes() : ReadShardings();
    return record != nullptr && Expect('>', "at the end") ? record : nullptr;
  }
  return SkipBalanced() ? NewOther(begin) : nullptr;
}

}  // namespace kashi::stablehlo
