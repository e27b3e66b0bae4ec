#include "kashi/hlo/attributes/collective_device_list.h"

#include <limits>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/sharding_reader.h"
#include "kashi/hlo/attributes/token_reader.h"

namespace kashi {

using array::Lexer;
using hlo::DevicesText;
using hlo::TokenReader;
namespace {

using Kind = array::Token::Kind;

constexpr int64_t kMaxExpandedDevices = int64_t{1} << 24;

void PrintGroups(Printer* printer, absl::Span<const ReplicaGroup> groups) {
  printer->Append("{");
  bool first = true;
  for (const ReplicaGroup& group : groups) {
    printer->Append(first ? "{" : ",{");
    printer->AppendInt64List(group.replica_ids(), /*leading_comma=*/false);
    printer->Append("}");
    first = false;
  }
  printer->Append("}");
}

bool ReadGroups(TokenReader* reader, std::vector<ReplicaGroup>* groups) {
  return reader->ReadList(Kind::kLeftBrace, Kind::kRightBrace, "the replica groups", [&] {
    RepeatedField<int64_t>* ids = groups->emplace_back().mutable_replica_ids();
    return reader->ReadList(Kind::kLeftBrace, Kind::kRightBrace, "a replica group",
                            [&] { return reader->ReadInt(&ids->emplace_back()); });
  });
}

std::optional<CollectiveDeviceList> ReadIota(TokenReader* reader) {
  const size_t begin = reader->lexer().token().begin;
  DevicesText devices;
  if (!hlo::ReadDevices(reader, &devices)) return std::nullopt;
  // XLA reads only as many entries as there are dimensions. If there are fewer entries, it reads past the end.
  devices.transpose_perm.resize(std::min(devices.transpose_perm.size(), devices.reshape_dims.size()));
  if (!devices.ids.empty()) {
    reader->ErrorSince(begin, "a list of devices where an iota form should be: groups are written {{0,1},{2,3}}");
  } else if (devices.dims.size() != 2) {
    reader->ErrorSince(
        begin, absl::StrCat("the two dimensions are groups and devices of each; these are ", devices.dims.size()));
  } else if (auto iota = IotaTileAssignment::TryCreate(devices.dims, devices.reshape_dims, devices.transpose_perm)) {
    return CollectiveDeviceList(IotaReplicaGroupList(*std::move(iota)));
  } else {
    reader->ErrorSince(begin, "an iota form whose dimensions do not fit each other, or have too large a product");
  }
  return std::nullopt;
}

std::optional<CollectiveDeviceList> ReadMeshAxes(TokenReader* reader) {
  const size_t begin = reader->lexer().token().begin;
  std::optional<Mesh> mesh = hlo::ReadMesh(reader);
  std::vector<AxisRef> axes;
  if (!mesh.has_value() || !hlo::ReadAxes(reader, *mesh, &axes, /*is_closed=*/nullptr)) return std::nullopt;
  absl::StatusOr<MeshAxesReplicaGroupList> list = MeshAxesReplicaGroupList::Create(*std::move(mesh), std::move(axes));
  if (list.ok()) return CollectiveDeviceList(*list);
  reader->ErrorSince(begin, std::string(list.status().message()));
  return std::nullopt;
}

// `read` must consume the whole text.
template <typename Read>
auto ReadWhole(absl::string_view text, const Read& read)
    -> absl::StatusOr<typename decltype(read(nullptr))::value_type> {
  Lexer lexer(text);
  std::vector<Diagnostic> diagnostics;
  TokenReader reader(&lexer, &diagnostics);
  auto result = read(&reader);
  if (result.has_value() && lexer.kind() != Kind::kEnd) reader.ErrorHere("unexpected text after the replica groups");
  if (!diagnostics.empty()) return DiagnosticsToStatus({"replica_groups", text}, diagnostics);
  return *std::move(result);
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// IotaReplicaGroupList, MeshAxesReplicaGroupList
// ---------------------------------------------------------------------------------------------------------------------

IotaReplicaGroupList::IotaReplicaGroupList(IotaTileAssignment tile_assignment)
    : tile_assignment_(std::move(tile_assignment)) {
  KASHI_CHECK_EQ(tile_assignment_.ndims(), 2);
}

absl::StatusOr<MeshAxesReplicaGroupList> MeshAxesReplicaGroupList::Create(Mesh mesh, std::vector<AxisRef> axes) {
  KASHI_RETURN_IF_ERROR(ValidateAxes(axes, mesh));
  DimensionVector sizes;
  for (const AxisRef& axis : axes) sizes.push_back(axis.size(mesh));
  const int64_t devices = SaturatingProduct(sizes);
  if (devices < 2) return InvalidArgument("groups over axes of a mesh must have two devices or more, got %d", devices);
  if (devices == std::numeric_limits<int64_t>::max()) return InvalidArgument("groups of more than 2^63 devices");
  return MeshAxesReplicaGroupList(std::move(mesh), std::move(axes), devices);
}

int64_t MeshAxesReplicaGroupList::num_replica_groups() const {
  return SaturatingProduct(mesh_.axis_sizes()) / num_devices_per_group_;
}

void MeshAxesReplicaGroupList::Print(Printer* printer) const {
  mesh_.Print(printer);
  printer->Append(" {");
  AppendJoin(printer, axes_, ",", [&](Printer* out, const AxisRef& axis) { axis.Print(out, mesh_); });
  printer->Append("}");
}

// ---------------------------------------------------------------------------------------------------------------------
// CollectiveDeviceList
// ---------------------------------------------------------------------------------------------------------------------

struct CollectiveDeviceList::Rep {
  std::optional<IotaReplicaGroupList> iota;
  std::optional<MeshAxesReplicaGroupList> mesh_axes;
  mutable std::once_flag once;  // guards `groups` where there is another form
  mutable std::vector<ReplicaGroup> groups;
};

CollectiveDeviceList::CollectiveDeviceList() {
  static const auto* const empty = new std::shared_ptr<const Rep>(std::make_shared<Rep>());
  rep_ = *empty;
}

CollectiveDeviceList::CollectiveDeviceList(std::vector<ReplicaGroup> replica_groups) {
  auto rep = std::make_shared<Rep>();
  rep->groups = std::move(replica_groups);
  rep_ = std::move(rep);
}

CollectiveDeviceList::CollectiveDeviceList(absl::Span<const std::vector<int64_t>> replica_groups) {
  auto rep = std::make_shared<Rep>();
  rep->groups.reserve(replica_groups.size());
  for (const std::vector<int64_t>& ids : replica_groups) {
    rep->groups.emplace_back().mutable_replica_ids()->Assign(ids.begin(), ids.end());
  }
  rep_ = std::move(rep);
}

CollectiveDeviceList::CollectiveDeviceList(const IotaReplicaGroupList& iota) {
  auto rep = std::make_shared<Rep>();
  rep->iota = iota;
  rep_ = std::move(rep);
}

CollectiveDeviceList::CollectiveDeviceList(const MeshAxesReplicaGroupList& mesh_axes) {
  auto rep = std::make_shared<Rep>();
  rep->mesh_axes = mesh_axes;
  rep_ = std::move(rep);
}

const std::optional<IotaReplicaGroupList>& CollectiveDeviceList::iota_replica_group_list() const { return rep_->iota; }
const std::optional<MeshAxesReplicaGroupList>& CollectiveDeviceList::mesh_axes_replica_group_list() const {
  return rep_->mesh_axes;
}

int64_t CollectiveDeviceList::num_replica_groups() const {
  if (rep_->iota.has_value()) return rep_->iota->num_replica_groups();
  if (rep_->mesh_axes.has_value()) return rep_->mesh_axes->num_replica_groups();
  return static_cast<int64_t>(rep_->groups.size());
}

int64_t CollectiveDeviceList::num_devices_per_group() const {
  if (rep_->iota.has_value()) return rep_->iota->num_devices_per_group();
  if (rep_->mesh_axes.has_value()) return rep_->mesh_axes->num_devices_per_group();
  return rep_->groups.empty() ? 0 : rep_->groups[0].replica_ids_size();
}

absl::Status CollectiveDeviceList::CheckExpandable() const {
  int64_t devices = 0;
  if (rep_->iota.has_value()) {
    if (!rep_->iota->tile_assignment().IsConsistent()) {
      return InvalidArgumentStrCat(rep_->iota->ToString(), " assigns no device to some places, or one to several");
    }
    devices = rep_->iota->tile_assignment().num_elements();
  } else if (rep_->mesh_axes.has_value()) {
    const Mesh& mesh = rep_->mesh_axes->mesh();
    for (int64_t size : mesh.axis_sizes()) {
      if (size < 1) return InvalidArgument("%s has an axis of size %d", mesh.ToString(), size);
    }
    const std::optional<IotaTileAssignment>& iota = mesh.device_assignment().iota();
    if (iota.has_value() && !iota->IsConsistent()) {
      return InvalidArgumentStrCat(mesh.ToString(), " assigns no device to some places, or one to several");
    }
    devices = mesh.device_assignment().num_elements();
  }
  if (devices <= kMaxExpandedDevices) return absl::OkStatus();
  return ResourceExhausted("%s is more than %d devices", ToString(), kMaxExpandedDevices);
}

const std::vector<ReplicaGroup>& CollectiveDeviceList::replica_groups() const {
  if (rep_->iota.has_value() || rep_->mesh_axes.has_value()) {
    std::call_once(rep_->once, [this] { rep_->groups = Expand(); });
  }
  return rep_->groups;
}

std::vector<ReplicaGroup> CollectiveDeviceList::Expand() const {
  KASHI_CHECK_OK(CheckExpandable());
  TileAssignment by_group;  // [groups, devices of each]
  if (rep_->iota.has_value()) {
    by_group = TileAssignment(rep_->iota->tile_assignment());
  } else {
    // The mesh with the axes of a group first and the other axes after them, in reverse.
    const std::vector<AxisRef> axes(rep_->mesh_axes->axes().begin(), rep_->mesh_axes->axes().end());
    absl::StatusOr<TileAssignment> by_axes = DevicesByAxes(rep_->mesh_axes->mesh(), {axes}, kMaxExpandedDevices);
    KASHI_CHECK_OK(by_axes);
    by_group = by_axes->Transpose({1, 0});
  }
  std::vector<ReplicaGroup> groups(by_group.dim(0));
  int64_t next = 0;
  for (ReplicaGroup& group : groups) {
    group.mutable_replica_ids()->resize(by_group.dim(1));
    for (int64_t& id : *group.mutable_replica_ids()) id = by_group.AtLinearIndex(next++);
  }
  return groups;
}

void CollectiveDeviceList::Print(Printer* printer, bool print_full_replica_group_list) const {
  const bool is_list = !rep_->iota.has_value() && !rep_->mesh_axes.has_value();
  if (is_list || (print_full_replica_group_list && CheckExpandable().ok())) {
    PrintGroups(printer, replica_groups());
  } else if (rep_->iota.has_value()) {
    rep_->iota->Print(printer);
  } else {
    rep_->mesh_axes->Print(printer);
  }
}

std::string CollectiveDeviceList::ToString(bool print_full_replica_group_list) const {
  StringPrinter printer;
  Print(&printer, print_full_replica_group_list);
  return std::move(printer).ToString();
}

std::string ReplicaGroupsToString(absl::Span<const ReplicaGroup> replica_groups) {
  StringPrinter printer;
  PrintGroups(&printer, replica_groups);
  return std::move(printer).ToString();
}

bool operator==(const CollectiveDeviceList& a, const CollectiveDeviceList& b) {
  const auto &ra = *a.rep_, &rb = *b.rep_;
  if (a.rep_ == b.rep_) return true;
  if (!(ra.iota == rb.iota && ra.mesh_axes == rb.mesh_axes)) return false;
  return ra.iota.has_value() || ra.mesh_axes.has_value() || ra.groups == rb.groups;
}

// ---------------------------------------------------------------------------------------------------------------------
// Text
// ---------------------------------------------------------------------------------------------------------------------

std::optional<CollectiveDeviceList> ParseCollectiveDeviceListPrefix(Lexer* lexer,
                                                                    std::vector<Diagnostic>* diagnostics) {
  TokenReader reader(lexer, diagnostics);
  if (hlo::AtMesh(*lexer)) return ReadMeshAxes(&reader);
  if (reader.kind() == Kind::kLeftSquare) return ReadIota(&reader);
  if (reader.kind() != Kind::kLeftBrace) {
    reader.ErrorExpected("replica groups: {{0,1},{2,3}}, [2,2]<=[4] or mesh['x'=2,'y'=2] {'y'}");
    return std::nullopt;
  }
  std::vector<ReplicaGroup> groups;
  if (!ReadGroups(&reader, &groups)) return std::nullopt;
  return groups.empty() ? CollectiveDeviceList() : CollectiveDeviceList(std::move(groups));
}

absl::StatusOr<std::vector<ReplicaGroup>> ParseReplicaGroupsOnly(absl::string_view text) {
  return ReadWhole(text, [](TokenReader* reader) -> std::optional<std::vector<ReplicaGroup>> {
    std::vector<ReplicaGroup> groups;
    if (!ReadGroups(reader, &groups)) return std::nullopt;
    return groups;
  });
}

absl::StatusOr<CollectiveDeviceList> ParseCollectiveDeviceListOnly(absl::string_view text) {
  return ReadWhole(text, [](TokenReader* reader) {
    return ParseCollectiveDeviceListPrefix(&reader->lexer(), reader->diagnostics());
  });
}

}  // namespace kashi
