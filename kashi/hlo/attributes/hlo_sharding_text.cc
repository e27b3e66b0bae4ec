#include "kashi/hlo/attributes/hlo_sharding_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/metadata_text.h"
#include "kashi/hlo/attributes/sharding_reader.h"

namespace kashi {

using array::Lexer;
using array::Token;
using hlo::DevicesText;
using hlo::kMaxClaimedDevices;
using hlo::kMaxMissingDevices;
using hlo::ParseMetadataPrefix;
using hlo::PrintMetadata;
using hlo::TokenReader;
namespace {

using Kind = array::Token::Kind;

// The most dimensions of one tile assignment. No array has more; the time to canonicalise may be quadratic in them.
constexpr size_t kMaxTileRank = 1024;
constexpr absl::string_view kIotaReshapeDims = "sharding iota_reshape_dims";

// {…} or {{…}, {…}}; appends.
bool ReadMetadataList(TokenReader* reader, std::vector<OpMetadata>* list) {
  const auto read_one = [&] {
    return ParseMetadataPrefix(&reader->lexer(), &list->emplace_back(), reader->diagnostics());
  };
  if (reader->kind() != Kind::kLeftBrace || reader->lexer().LookAhead().kind != Kind::kLeftBrace) return read_one();
  return reader->ReadList(Kind::kLeftBrace, Kind::kRightBrace, "metadata list", read_one);
}

// Comma-separated numbers, at least one.
bool ReadInts(TokenReader* reader, std::vector<int64_t>* values) {
  do {
    if (!reader->ReadInt(&values->emplace_back())) return false;
  } while (reader->Match(Kind::kComma));
  return true;
}

// [2,4]; `what` describes the numbers.
bool ReadTileDims(TokenReader* reader, absl::string_view what, std::vector<int64_t>* dims) {
  const size_t begin = reader->lexer().token().begin;
  if (!reader->Expect(Kind::kLeftSquare, absl::StrCat("to start ", what)) || !ReadInts(reader, dims)) return false;
  if (dims->size() > kMaxTileRank) {
    return reader->ErrorSince(begin, absl::StrCat("more than ", kMaxTileRank, " tile dimensions"));
  }
  return reader->Expect(Kind::kRightSquare, absl::StrCat("to end ", what));
}

// T(perm), which is required for two or more dimensions, and not allowed otherwise.
bool ReadTransposition(TokenReader* reader, size_t rank, std::vector<int>* perm) {
  if (rank == 1) {
    perm->push_back(0);
    return true;
  }
  if (!reader->MatchIdent("T") || !reader->Match(Kind::kLeftParen)) {
    return reader->ErrorExpected("'T(' to start sharding devices iota_transpose_perm, the order of the dimensions");
  }
  do {
    const Token token = reader->lexer().token();
    int64_t dim = 0;
    if (!reader->ReadInt(&dim)) return false;
    if (dim < 0 || dim >= static_cast<int64_t>(rank)) {
      return reader->Error(
          token.begin, token.end,
          absl::StrCat("Out of range iota minor_to_major value ", dim, ", expecting value in range [0, ", rank, ")"));
    }
    if (perm->size() > kMaxTileRank) return reader->ErrorHere("more dimensions than there can be");
    perm->push_back(static_cast<int>(dim));
  } while (reader->Match(Kind::kComma));
  return reader->Expect(Kind::kRightParen, "to end sharding devices iota_transpose_perm");
}

// (ids) or ([reshape]T(perm)) after `device_ids=`.
std::optional<TileAssignment> ReadDeviceIds(TokenReader* reader, absl::Span<const int64_t> sizes) {
  const size_t begin = reader->lexer().token().begin;
  const auto fail = [&](absl::string_view message) {
    reader->ErrorSince(begin, std::string(message));
    return std::nullopt;
  };
  if (!reader->Expect(Kind::kLeftParen, "for device_ids")) return std::nullopt;
  std::optional<TileAssignment> devices;
  if (reader->kind() == Kind::kLeftSquare) {
    std::vector<int64_t> reshape_dims;
    std::vector<int> perm;
    if (!ReadTileDims(reader, kIotaReshapeDims, &reshape_dims) ||
        !ReadTransposition(reader, reshape_dims.size(), &perm)) {
      return std::nullopt;
    }
    perm.resize(std::min(perm.size(), reshape_dims.size()));  // XLA does not look further
    std::optional<IotaTileAssignment> iota = IotaTileAssignment::TryCreate(sizes, reshape_dims, perm);
    if (!iota.has_value())
      return fail("device ids whose dimensions do not fit each other, or have too large a product");
    devices = TileAssignment(*std::move(iota));
  } else {
    std::vector<int64_t> ids;
    if (reader->kind() != Kind::kRightParen && !ReadInts(reader, &ids)) return std::nullopt;
    const bool has_bad_size = std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 1; });
    if (has_bad_size || SaturatingProduct(sizes) != static_cast<int64_t>(ids.size())) {
      return fail(
          absl::StrCat("Expected ", SaturatingProduct(sizes), " device_ids based on mesh axes, but got ", ids.size()));
    }
    auto list = std::make_shared<Array<int64_t>>(sizes);
    std::copy(ids.begin(), ids.end(), list->begin());
    devices = TileAssignment(std::move(list));
  }
  if (!reader->Expect(Kind::kRightParen, "after device_ids")) return std::nullopt;
  return devices;
}

std::optional<Mesh> ReadMaximalMesh(TokenReader* reader) {
  int64_t device = 0;
  if (!reader->Expect(Kind::kLeftSquare, "after maximal_mesh")) return std::nullopt;
  if (!reader->MatchAttribute("device_id")) {
    reader->ErrorExpected("device_id= attribute in maximal_mesh");
    return std::nullopt;
  }
  if (!reader->ReadInt(&device) || !reader->Expect(Kind::kRightSquare, "to end maximal_mesh")) return std::nullopt;
  return Mesh::Maximal(device);
}

// A name, or else the number of an axis.
bool FindAxis(const Mesh& mesh, const std::string& name, int64_t* axis) {
  const absl::Span<const std::string> names = mesh.axis_names();
  *axis = std::find(names.begin(), names.end(), name) - names.begin();
  if (*axis < mesh.num_axes()) return true;
  return absl::SimpleAtoi(name, axis) && *axis >= 0 && *axis < mesh.num_axes();
}

bool ReadAxis(TokenReader* reader, const Mesh& mesh, std::vector<AxisRef>* axes) {
  const Token token = reader->lexer().token();
  std::string name;
  int64_t axis = 0;
  if (!reader->ReadString(&name)) return false;
  if (!FindAxis(mesh, name, &axis)) {
    return reader->Error(token.begin, token.end,
                         absl::StrCat("axis '", name, "' is not a valid axis name or index in ", mesh.ToString()));
  }
  if (!reader->Match(Kind::kColon)) {
    axes->emplace_back(axis);
    return true;
  }
  AxisRef::SubAxis part = {0, 0};
  if (!reader->Expect(Kind::kLeftParen, "before pre_size in sub axis") || !reader->ReadInt(&part.pre_size) ||
      !reader->Expect(Kind::kRightParen, "after pre_size in sub axis") || !reader->ReadInt(&part.size)) {
    return false;
  }
  axes->emplace_back(axis, part);
  return true;
}

// Reads one leaf. The members hold what has been read so far.
class LeafReader {
 public:
  explicit LeafReader(TokenReader* reader) : reader_(*reader) {}
  std::optional<HloSharding> Read();

 private:
  bool ReadPart();
  bool ReadSubgroupTypes();
  std::optional<HloSharding> Make();
  std::optional<HloSharding> MakeUntiled(absl::string_view kind, HloSharding sharding);
  std::optional<HloSharding> MakeTiled();
  std::optional<TileAssignment> MakeTiles();
  std::optional<HloSharding> Fail(std::string message) {
    reader_.ErrorSince(begin_, std::move(message));
    return std::nullopt;
  }

  TokenReader& reader_;
  size_t begin_ = 0;
  bool replicated_ = false;
  bool maximal_ = false;
  bool manual_ = false;
  bool unknown_ = false;
  bool unreduced_ = false;
  bool last_tile_dim_replicate_ = false;
  bool has_last_tile_dims_ = false;
  bool shard_as_ = false;
  bool shard_like_ = false;
  int64_t shard_group_id_ = 0;
  DevicesText devices_;
  std::vector<OpSharding::Type> subgroup_types_;
  std::vector<OpMetadata> metadata_;
};

// Reads the text after the mesh in a named leaf.
class NamedReader {
 public:
  NamedReader(TokenReader* reader, Mesh mesh) : reader_(*reader), mesh_(std::move(mesh)) {}
  std::optional<HloSharding> Read(size_t begin);

 private:
  bool ReadMaximal();
  bool ReadShortForm();
  bool ReadDimensions();
  bool ReadAttribute();
  std::vector<AxisRef> AllAxes() const;

  TokenReader& reader_;
  const Mesh mesh_;
  std::vector<NamedSharding::DimensionSharding> dimensions_;
  std::vector<AxisRef> replicated_;
  std::vector<AxisRef> unreduced_;
  std::vector<AxisRef> manual_;
  std::vector<OpMetadata> metadata_;
};

std::optional<HloSharding> LeafReader::Read() {
  begin_ = reader_.lexer().token().begin;
  if (!reader_.Expect(Kind::kLeftBrace, "to start sharding attribute")) return std::nullopt;
  if (hlo::AtMesh(reader_.lexer())) {
    std::optional<Mesh> mesh = ReadMesh(&reader_);
    if (!mesh.has_value()) return std::nullopt;
    return NamedReader(&reader_, *std::move(mesh)).Read(begin_);
  }
  while (!reader_.Match(Kind::kRightBrace)) {
    if (!ReadPart()) return std::nullopt;
  }
  std::optional<HloSharding> sharding = Make();
  if (sharding.has_value() && (shard_as_ || shard_like_)) {
    sharding->SetShardGroup(shard_as_ ? HloSharding::ShardAs(shard_group_id_)
                                      : HloSharding::ShardLike(shard_group_id_));
  }
  return sharding;
}

bool LeafReader::ReadPart() {
  const std::pair<absl::string_view, bool*> words[] = {
      {"replicated", &replicated_}, {"maximal", &maximal_},     {"manual", &manual_},
      {"unknown", &unknown_},       {"unreduced", &unreduced_}, {"last_tile_dim_replicate", &last_tile_dim_replicate_},
  };
  for (const auto& [word, flag] : words) {
    if (!reader_.MatchIdent(word)) continue;
    *flag = true;
    return true;
  }
  for (const auto& [word, flag] :
       {std::make_pair("shard_as", &shard_as_), std::make_pair("shard_like", &shard_like_)}) {
    if (!reader_.MatchIdent(word)) continue;
    *flag = true;
    return reader_.ReadInt(&shard_group_id_);
  }
  if (reader_.MatchAttribute("device")) {
    devices_.ids.clear();
    if (reader_.kind() != Kind::kInt) return reader_.ErrorGot("device= attribute must be an integer");
    return reader_.ReadInt(&devices_.ids.emplace_back());
  }
  if (reader_.MatchAttribute("devices")) return ReadDevices(&reader_, &devices_);
  if (reader_.MatchAttribute("metadata")) return ReadMetadataList(&reader_, &metadata_);
  if (reader_.MatchAttribute("last_tile_dims")) return ReadSubgroupTypes();
  return reader_.ErrorGot(
      "unexpected token: expected replicated, maximal, manual, unknown, unreduced, device=, devices=, "
      "last_tile_dim_replicate, last_tile_dims=, "
      "shard_as, shard_like, metadata= or `}`");
}

bool LeafReader::ReadSubgroupTypes() {
  has_last_tile_dims_ = true;
  return reader_.ReadList(Kind::kLeftBrace, Kind::kRightBrace, "sharding type list", [&] {
    const std::pair<absl::string_view, OpSharding::Type> types[] = {
        {"replicated", OpSharding::REPLICATED},
        {"manual", OpSharding::MANUAL},
        {"unreduced", OpSharding::UNREDUCED},
        {"maximal", OpSharding::MAXIMAL},
    };
    for (const auto& [name, type] : types) {
      if (!reader_.MatchIdent(name)) continue;
      subgroup_types_.push_back(type);
      return true;
    }
    return reader_.ErrorExpected("replicated, manual, unreduced or maximal");
  });
}

std::optional<HloSharding> LeafReader::Make() {
  if (replicated_) return MakeUntiled("replicated", HloSharding::Replicate(metadata_));
  if (maximal_) {
    if (devices_.ids.size() != 1) {
      return Fail(absl::StrCat("maximal shardings should have exactly one device assigned, not ", devices_.ids.size()));
    }
    return HloSharding::AssignDevice(devices_.ids[0], metadata_);
  }
  if (manual_) return MakeUntiled("manual", HloSharding::Manual(metadata_));
  if (unknown_) return MakeUntiled("unknown", HloSharding::Unknown(metadata_));
  if (unreduced_) return MakeUntiled("unreduced", HloSharding::Unreduced(metadata_));
  return MakeTiled();
}

std::optional<HloSharding> LeafReader::MakeUntiled(absl::string_view kind, HloSharding sharding) {
  if (!devices_.ids.empty()) return Fail(absl::StrCat(kind, " shardings should not have any devices assigned"));
  return sharding;
}

std::optional<HloSharding> LeafReader::MakeTiled() {
  if (last_tile_dim_replicate_ && !subgroup_types_.empty()) {
    return Fail("last_tile_dim_replicate and last_tile_dims exclude each other");
  }
  std::optional<TileAssignment> tiles = MakeTiles();
  if (!tiles.has_value()) return std::nullopt;
  if (!last_tile_dim_replicate_ && !has_last_tile_dims_) return HloSharding::Tile(*tiles, metadata_);
  absl::StatusOr<HloSharding> sharding =
      last_tile_dim_replicate_ ? HloSharding::TryPartialTile(*tiles, kMaxClaimedDevices, metadata_)
                               : HloSharding::TrySubgroup(*tiles, subgroup_types_, kMaxClaimedDevices, metadata_);
  if (!sharding.ok()) return Fail(std::string(sharding.status().message()));
  return *std::move(sharding);
}

std::optional<TileAssignment> LeafReader::MakeTiles() {
  const auto fail = [&](std::string message) -> std::optional<TileAssignment> {
    Fail(std::move(message));
    return std::nullopt;
  };
  if (devices_.dims.empty()) {
    return fail("non-maximal shardings must have a tile assignment list including dimensions, devices=[…]");
  }
  if (!devices_.reshape_dims.empty()) {
    if (!devices_.ids.empty()) return fail("both a list of devices and an iota form");
    std::optional<IotaTileAssignment> iota =
        IotaTileAssignment::TryCreate(devices_.dims, devices_.reshape_dims, devices_.transpose_perm);
    if (iota.has_value()) return TileAssignment(*std::move(iota));
    if (devices_.reshape_dims.size() == devices_.transpose_perm.size())
      return fail("the number of devices is too large");
    return fail(absl::StrCat("iota_transpose_perm should have the same rank as iota_reshape_dims: expected ",
                             devices_.reshape_dims.size(), ", saw ", devices_.transpose_perm.size()));
  }
  if (devices_.ids.size() < 2) return fail("non-maximal shardings must have more than one device assigned");
  const int64_t count = SaturatingProduct(devices_.dims);
  const int64_t ids = static_cast<int64_t>(devices_.ids.size());
  const bool is_negative = std::any_of(devices_.dims.begin(), devices_.dims.end(), [](int64_t dim) { return dim < 0; });
  if (is_negative || count < ids || count > ids + kMaxMissingDevices) {
    return fail(absl::StrCat(ids, " devices for ", count, " tiles"));
  }
  auto list = std::make_shared<Array<int64_t>>(devices_.dims);
  std::copy(devices_.ids.begin(), devices_.ids.end(), list->begin());
  return TileAssignment(std::move(list));
}

std::optional<HloSharding> NamedReader::Read(size_t begin) {
  const bool is_read = mesh_.IsMaximal() ? ReadMaximal() : [&] {
    reader_.Match(Kind::kComma);
    const Kind kind = reader_.kind();
    return kind == Kind::kIdent ? ReadShortForm() : ReadDimensions();
  }();
  if (!is_read || !reader_.Expect(Kind::kRightBrace, "to end sharding attribute")) return std::nullopt;
  NamedSharding sharding(mesh_, std::move(dimensions_), std::move(replicated_), std::move(unreduced_),
                         std::move(manual_), std::move(metadata_));
  if (absl::Status status = sharding.Validate(); !status.ok()) {
    reader_.ErrorSince(begin, std::string(status.message()));
    return std::nullopt;
  }
  return HloSharding(std::move(sharding));
}

// [, metadata=…]
bool NamedReader::ReadMaximal() {
  if (!reader_.Match(Kind::kComma)) return true;
  if (!reader_.MatchAttribute("metadata")) return reader_.ErrorExpected("metadata=");
  return ReadMetadataList(&reader_, &metadata_);
}

// One word for all axes, [, metadata=…]
bool NamedReader::ReadShortForm() {
  const Token word = reader_.lexer().token();
  if (reader_.MatchIdent("manual")) {
    manual_ = AllAxes();
  } else if (reader_.MatchIdent("unreduced")) {
    unreduced_ = AllAxes();
  } else if (reader_.MatchIdent("replicated")) {
    return ReadMaximal();
  } else {
    return reader_.ErrorExpected("replicated, manual, unreduced or `[`");
  }
  if (mesh_.num_axes() == 0) return reader_.Error(word.begin, word.end, "this needs a mesh with axes");
  return ReadMaximal();
}

bool NamedReader::ReadDimensions() {
  const auto read_dimension = [&] {
    NamedSharding::DimensionSharding& dimension = dimensions_.emplace_back();
    return ReadAxes(&reader_, mesh_, &dimension.axes, &dimension.is_closed);
  };
  if (!reader_.ReadList(Kind::kLeftSquare, Kind::kRightSquare, "the dimensions' axes", read_dimension)) return false;
  while (reader_.Match(Kind::kComma)) {
    if (!ReadAttribute()) return false;
  }
  return true;
}

bool NamedReader::ReadAttribute() {
  if (reader_.MatchAttribute("replicated")) return ReadAxes(&reader_, mesh_, &replicated_, nullptr);
  if (reader_.MatchAttribute("unreduced")) return ReadAxes(&reader_, mesh_, &unreduced_, nullptr);
  if (reader_.MatchAttribute("manual")) return ReadAxes(&reader_, mesh_, &manual_, nullptr);
  if (reader_.MatchAttribute("metadata")) return ReadMetadataList(&reader_, &metadata_);
  return reader_.ErrorGot("unknown attribute in named sharding: expected replicated, unreduced, manual or metadata");
}

std::vector<AxisRef> NamedReader::AllAxes() const {
  std::vector<AxisRef> axes;
  for (int64_t i = 0; i < mesh_.num_axes(); ++i) axes.emplace_back(i);
  return axes;
}

}  // namespace

namespace hlo {

bool ReadDevices(TokenReader* reader, DevicesText* devices) {
  if (!ReadTileDims(reader, "sharding devices shape", &devices->dims)) return false;
  if (!reader->Match(Kind::kLessEqual)) return ReadInts(reader, &devices->ids);
  return ReadTileDims(reader, kIotaReshapeDims, &devices->reshape_dims) &&
         ReadTransposition(reader, devices->reshape_dims.size(), &devices->transpose_perm);
}

std::optional<Mesh> ReadMesh(TokenReader* reader) {
  const size_t begin = reader->lexer().token().begin;
  if (reader->MatchIdent("maximal_mesh")) return ReadMaximalMesh(reader);
  reader->lexer().Next();
  if (reader->kind() != Kind::kLeftSquare) {
    reader->ErrorExpected("`[` after mesh");
    return std::nullopt;
  }
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  const auto read_axis = [&] {
    return reader->ReadString(&names.emplace_back()) && reader->ExpectEqualSign("after axis name") &&
           reader->ReadInt(&sizes.emplace_back());
  };
  if (!reader->ReadList(Kind::kLeftSquare, Kind::kRightSquare, "the mesh's axes", read_axis)) return std::nullopt;
  if (sizes.size() > kMaxTileRank) {
    reader->ErrorSince(begin, absl::StrCat("more than ", kMaxTileRank, " axes"));
    return std::nullopt;
  }
  Mesh mesh(names, sizes);
  // XLA accepts a comma after a mesh that has axes, and any attribute name after that.
  if (!names.empty() && reader->Match(Kind::kComma) && reader->kind() == Kind::kAttributeName) {
    const bool has_device_ids = reader->AtAttribute("device_ids");
    reader->lexer().Next();
    if (has_device_ids) {
      std::optional<TileAssignment> devices = ReadDeviceIds(reader, sizes);
      if (!devices.has_value()) return std::nullopt;
      mesh = Mesh(std::move(names), std::move(sizes), *std::move(devices));
    }
  }
  if (absl::Status status = mesh.Validate(); !status.ok()) {
    reader->ErrorSince(begin, std::string(status.message()));
    return std::nullopt;
  }
  return mesh;
}

bool ReadAxes(TokenReader* reader, const Mesh& mesh, std::vector<AxisRef>* axes, bool* is_closed) {
  bool may_go_on = true;
  return reader->ReadList(Kind::kLeftBrace, Kind::kRightBrace, "the axes", [&] {
    if (!may_go_on) return reader->ErrorHere("Saw axis ref after '?'");
    if (is_closed == nullptr || !reader->Match(Kind::kQuestion)) return ReadAxis(reader, mesh, axes);
    *is_closed = false;
    may_go_on = false;
    return true;
  });
}

std::optional<HloSharding> ParseShardingPrefix(array::Lexer* lexer, const Shape* shape,
                                               std::vector<Diagnostic>* diagnostics) {
  TokenReader reader(lexer, diagnostics);
  if (reader.kind() != Kind::kLeftBrace) {
    reader.ErrorExpected("`{` to start sharding attribute");
    return std::nullopt;
  }
  const Kind next = lexer->LookAhead().kind;
  if (next == Kind::kLeftBrace || next == Kind::kRightBrace) {
    std::vector<HloSharding> elements;
    const auto read_element = [&] {
      std::optional<HloSharding> leaf = LeafReader(&reader).Read();
      if (!leaf.has_value()) return false;
      elements.push_back(*std::move(leaf));
      return true;
    };
    if (!reader.ReadList(Kind::kLeftBrace, Kind::kRightBrace, "sharding attribute", read_element)) return std::nullopt;
    return HloSharding::FlatTuple(std::move(elements));
  }
  std::optional<HloSharding> leaf = LeafReader(&reader).Read();
  if (leaf.has_value() && shape != nullptr) leaf = leaf->NormalizeTupleSharding(*shape);
  return leaf;
}

}  // namespace hlo

absl::StatusOr<HloSharding> ParseSharding(absl::string_view text) {
  Lexer lexer(text);
  std::vector<Diagnostic> diagnostics;
  std::optional<HloSharding> sharding = hlo::ParseShardingPrefix(&lexer, /*shape=*/nullptr, &diagnostics);
  if (sharding.has_value() && lexer.kind() != Kind::kEnd) {
    TokenReader(&lexer, &diagnostics).ErrorHere("unexpected text after the sharding");
  }
  if (!diagnostics.empty()) return DiagnosticsToStatus({"sharding", text}, diagnostics);
  return *std::move(sharding);
}

// ---------------------------------------------------------------------------------------------------------------------
// Printing
// ---------------------------------------------------------------------------------------------------------------------

namespace {

absl::string_view SubgroupTypeName(OpSharding::Type type) {
  switch (type) {
    case OpSharding::REPLICATED:
      return "replicated";
    case OpSharding::MAXIMAL:
      return "maximal";
    case OpSharding::MANUAL:
      return "manual";
    case OpSharding::UNREDUCED:
      return "unreduced";
    case OpSharding::UNKNOWN:
      return "unknown";
    case OpSharding::TUPLE:
      return "tuple";
    case OpSharding::OTHER:
      return "other";
  }
  return "other";
}

}  // namespace

void HloSharding::Print(Printer* printer, bool include_metadata) const {
  if (!IsTuple()) return PrintLeaf(printer, include_metadata);
  printer->Append("{");
  const std::vector<HloSharding>& elements = tuple_elements();
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) printer->Append(", ");
    if (i > 0 && i % 5 == 0) AppendCat(printer, "/*index=", i, "*/");
    elements[i].PrintLeaf(printer, include_metadata);
  }
  printer->Append("}");
}

void HloSharding::PrintLeaf(Printer* printer, bool include_metadata) const {
  if (UseNamedShardingLeaf()) return named_sharding().Print(printer, include_metadata);
  printer->Append("{");
  if (IsReplicatedLeaf()) {
    printer->Append("replicated");
  } else if (IsManualLeaf()) {
    printer->Append("manual");
  } else if (IsUnknownLeaf()) {
    printer->Append("unknown");
  } else if (IsUnreducedLeaf()) {
    printer->Append("unreduced");
  } else if (IsTileMaximalLeaf()) {
    AppendCat(printer, "maximal device=", tile_assignment().first());
  } else {
    tile_assignment().Print(printer);
    if (ReplicateOnLastTileDim()) printer->Append(" last_tile_dim_replicate");
    if (!subgroup_types().empty()) {
      printer->Append(" last_tile_dims={");
      AppendJoin(printer, subgroup_types(), ", ",
                 [](Printer* out, OpSharding::Type type) { out->Append(SubgroupTypeName(type)); });
      printer->Append("}");
    }
  }
  if (IsShardGroup()) {
    AppendCat(printer, IsShardAs() ? " shard_as " : " shard_like ", GetShardGroup().shard_group_id);
  }
  if (include_metadata && !metadata().empty()) {
    const bool is_list = metadata().size() > 1;
    printer->Append(is_list ? " metadata={" : " metadata=");
    AppendJoin(printer, metadata(), ", ",
               [](Printer* out, const OpMetadata& metadata) { PrintMetadata(out, metadata); });
    if (is_list) printer->Append("}");
  }
  printer->Append("}");
}

std::string HloSharding::ToString(bool include_metadata) const {
  StringPrinter printer;
  Print(&printer, include_metadata);
  return std::move(printer).ToString();
}

}  // namespace kashi
