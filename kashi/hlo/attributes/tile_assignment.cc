#include "kashi/hlo/attributes/tile_assignment.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

using Permutation = IotaTileAssignment::Permutation;

// Drops the dimensions of size 1. `perm` may not be a permutation; as in XLA, missing entries then keep their old
// values.
void DropOnes(DimensionVector* dims, Permutation* perm) {
  Permutation new_place(dims->size());
  int kept = 0;
  for (size_t i = 0; i < dims->size(); ++i) new_place[i] = (*dims)[i] == 1 ? -1 : kept++;
  if (kept == static_cast<int>(dims->size())) return;
  size_t next = 0;
  for (size_t i = 0; i < perm->size(); ++i) {
    const int place = new_place[(*perm)[i]];
    if (place >= 0) (*perm)[next++] = place;
  }
  perm->resize(kept);
  dims->erase(std::remove(dims->begin(), dims->end(), 1), dims->end());
}

// Multiplies into one the dimensions that follow each other before and after the transposition; merged dimensions
// become 1. Nothing if a product does not fit; otherwise whether any were merged.
std::optional<bool> MergeNeighbours(DimensionVector* dims, const Permutation& perm) {
  bool merged = false;
  for (size_t i = 1, base = 0; i < perm.size(); ++i) {
    if (perm[base] + static_cast<int>(i - base) != perm[i]) {
      base = i;
      continue;
    }
    std::optional<int64_t> product = CheckedMultiply((*dims)[perm[base]], (*dims)[perm[i]]);
    if (!product.has_value()) return std::nullopt;
    (*dims)[perm[base]] = *product;
    (*dims)[perm[i]] = 1;
    merged = true;
  }
  return merged;
}

bool Canonicalize(DimensionVector* dims, Permutation* perm) {
  while (dims->size() > 1) {
    DropOnes(dims, perm);
    std::optional<bool> merged = MergeNeighbours(dims, *perm);
    if (!merged.has_value()) return false;
    if (!*merged) break;
  }
  if (dims->empty()) {
    dims->push_back(1);
    perm->assign(1, 0);
  }
  return true;
}

bool IsPermutationOf(absl::Span<const int> perm, size_t rank) {
  std::vector<bool> seen(rank);
  for (int dim : perm) {
    if (dim < 0 || dim >= static_cast<int>(rank) || seen[dim]) return false;
    seen[dim] = true;
  }
  return perm.size() == rank;
}

// A part of a dimension of reshape_dims.
struct Piece {
  int reshape_dim;
  int64_t size;
};

// The iota form with the pieces as its dimensions, transposed to `order`. They cover every dimension of reshape_dims;
// the pieces of one dimension are in `pieces` from major to minor.
std::optional<IotaTileAssignment> FromPieces(absl::Span<const int64_t> dims, absl::Span<const Piece> pieces,
                                             absl::Span<const int> order) {
  std::vector<int> by_dim(pieces.size());
  std::iota(by_dim.begin(), by_dim.end(), 0);
  std::stable_sort(by_dim.begin(), by_dim.end(),
                   [&](int a, int b) { return pieces[a].reshape_dim < pieces[b].reshape_dim; });
  DimensionVector reshape_dims;
  std::vector<int> new_dim(pieces.size());
  for (int p : by_dim) {
    new_dim[p] = static_cast<int>(reshape_dims.size());
    reshape_dims.push_back(pieces[p].size);
  }
  Permutation perm;
  for (int p : order) perm.push_back(new_dim[p]);
  return IotaTileAssignment::TryCreate(dims, reshape_dims, perm);
}

void AdvanceIndex(absl::Span<const int64_t> sizes, absl::Span<int64_t> index) {
  for (size_t i = sizes.size(); i-- > 0;) {
    if (++index[i] < sizes[i]) return;
    index[i] = 0;
  }
}

}  // namespace

int64_t SaturatingProduct(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  for (int64_t size : sizes) product = CheckedMultiply(product, size).value_or(std::numeric_limits<int64_t>::max());
  return product;
}

// ---------------------------------------------------------------------------------------------------------------------
// IotaTileAssignment
// ---------------------------------------------------------------------------------------------------------------------

IotaTileAssignment IotaTileAssignment::Create(absl::Span<const int64_t> dims) {
  return Create(dims, {SaturatingProduct(dims)}, {0});
}

IotaTileAssignment IotaTileAssignment::Create(absl::Span<const int64_t> dims, absl::Span<const int64_t> reshape_dims,
                                              absl::Span<const int> transpose_perm) {
  std::optional<IotaTileAssignment> iota = TryCreate(dims, reshape_dims, transpose_perm);
  KASHI_CHECK(iota.has_value()) << "no iota tile assignment";
  return *std::move(iota);
}

std::optional<IotaTileAssignment> IotaTileAssignment::TryCreate(absl::Span<const int64_t> dims,
                                                                absl::Span<const int64_t> reshape_dims,
                                                                absl::Span<const int> transpose_perm) {
  if (reshape_dims.size() != transpose_perm.size()) return std::nullopt;
  for (int dim : transpose_perm) {
    if (dim < 0 || dim >= static_cast<int64_t>(reshape_dims.size())) return std::nullopt;
  }
  IotaTileAssignment iota;
  iota.dims_.assign(dims.begin(), dims.end());
  iota.reshape_dims_.assign(reshape_dims.begin(), reshape_dims.end());
  iota.transpose_perm_.assign(transpose_perm.begin(), transpose_perm.end());
  if (!Canonicalize(&iota.reshape_dims_, &iota.transpose_perm_)) return std::nullopt;
  return iota;
}

bool IotaTileAssignment::IsConsistent() const {
  for (int64_t size : dims_) {
    if (size < 1) return false;
  }
  for (int64_t size : reshape_dims_) {
    if (size < 1) return false;
  }
  const int64_t count = num_elements();
  return count < std::numeric_limits<int64_t>::max() && count == SaturatingProduct(reshape_dims_) &&
         IsPermutationOf(transpose_perm_, reshape_dims_.size());
}

int64_t IotaTileAssignment::value_at(absl::Span<const int64_t> index) const {
  KASHI_CHECK_EQ(index.size(), dims_.size());
  uint64_t linear = 0;
  for (size_t i = 0; i < dims_.size(); ++i) {
    linear = linear * static_cast<uint64_t>(dims_[i]) + static_cast<uint64_t>(index[i]);
  }
  return ValueAtLinearIndex(static_cast<int64_t>(linear));
}

int64_t IotaTileAssignment::ValueAtLinearIndex(int64_t index) const {
  absl::InlinedVector<uint64_t, 6> digits(reshape_dims_.size(), 0);
  uint64_t rest = static_cast<uint64_t>(index);
  for (size_t i = transpose_perm_.size(); i-- > 0;) {
    const uint64_t size = static_cast<uint64_t>(reshape_dims_[transpose_perm_[i]]);
    if (size == 0) return 0;  // no such value: what is claimed has none
    digits[transpose_perm_[i]] = rest % size;
    rest /= size;
  }
  uint64_t value = 0;
  for (size_t i = 0; i < digits.size(); ++i) value = value * static_cast<uint64_t>(reshape_dims_[i]) + digits[i];
  return static_cast<int64_t>(value);
}

IotaTileAssignment IotaTileAssignment::WithDims(absl::Span<const int64_t> dims) const {
  IotaTileAssignment iota = *this;
  iota.dims_.assign(dims.begin(), dims.end());
  return iota;
}

// Dims and transposed reshape_dims are two factorizations of one number, major to minor. The pieces are the factors
// of both: dims [2,6], reshaped [4,3] gives 2 | 2 3. If neither of two factors divides the other, there is no iota
// form.
std::optional<IotaTileAssignment> IotaTileAssignment::Transpose(absl::Span<const int> perm) const {
  KASHI_CHECK(IsPermutationOf(perm, dims_.size())) << "not a permutation of " << ndims() << " dimensions";
  DimensionVector new_dims;
  bool is_reshape = true;  // dimensions of size 1 move about, the others stay in order
  int last = -1;
  for (int dim : perm) {
    new_dims.push_back(dims_[dim]);
    if (dims_[dim] == 1) continue;
    is_reshape = is_reshape && dim > last;
    last = dim;
  }
  if (is_reshape) return WithDims(new_dims);
  // Rows of 0, 1, 2, …: the transposed dimensions are dims themselves, even if they are inconsistent.
  if (reshape_dims_.size() == 1) return TryCreate(new_dims, dims_, perm);
  if (!IsConsistent()) return std::nullopt;
  std::vector<Piece> pieces;
  std::vector<int> first_piece = {0};  // of each dimension; and the end
  size_t at = 0;
  int64_t factor = reshape_dims_[transpose_perm_[0]];
  for (int64_t dim : dims_) {
    while (dim > 1) {
      while (factor == 1) factor = reshape_dims_[transpose_perm_[++at]];
      const int64_t piece = std::min(dim, factor);
      if (dim % piece != 0 || factor % piece != 0) return std::nullopt;
      pieces.push_back({transpose_perm_[at], piece});
      dim /= piece;
      factor /= piece;
    }
    first_piece.push_back(static_cast<int>(pieces.size()));
  }
  std::vector<int> order;
  for (int dim : perm) {
    for (int p = first_piece[dim]; p < first_piece[dim + 1]; ++p) order.push_back(p);
  }
  return FromPieces(new_dims, pieces, order);
}

// The transposed dimensions that make up the last of dims, sorted: a dimension further left has the larger stride.
std::optional<IotaTileAssignment> IotaTileAssignment::SortRows() const {
  if (dims_.empty() || dims_.back() <= 1) return *this;
  int64_t row = dims_.back();
  std::vector<Piece> pieces;
  size_t tail = transpose_perm_.size();  // pieces from here on are within a row
  while (row > 1 && tail > 0) {
    const int64_t size = reshape_dims_[transpose_perm_[--tail]];
    if (size < 1 || (row % size != 0 && size % row != 0)) return std::nullopt;
    if (size > row) break;
    row /= size;
  }
  if (row > 1 && (tail >= transpose_perm_.size() || reshape_dims_[transpose_perm_[tail]] <= row)) return std::nullopt;
  const bool split = row > 1;
  if (split && !IsPermutationOf(transpose_perm_, reshape_dims_.size())) return std::nullopt;
  for (size_t i = 0; i < transpose_perm_.size(); ++i) {
    const int dim = transpose_perm_[i];
    if (split && i == tail) pieces.push_back({dim, reshape_dims_[dim] / row});
    pieces.push_back({dim, split && i == tail ? row : reshape_dims_[dim]});
  }
  if (!split) {
    IotaTileAssignment sorted = *this;
    std::sort(sorted.transpose_perm_.begin() + tail, sorted.transpose_perm_.end());
    return TryCreate(sorted.dims_, sorted.reshape_dims_, sorted.transpose_perm_);
  }
  std::vector<int> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin() + tail + 1, order.end(),
            [&](int a, int b) { return pieces[a].reshape_dim < pieces[b].reshape_dim; });
  return FromPieces(dims_, pieces, order);
}

void IotaTileAssignment::Print(Printer* printer) const {
  printer->Append("[");
  printer->AppendInt64List(dims_, /*leading_comma=*/false);
  printer->Append("]<=[");
  printer->AppendInt64List(reshape_dims_, /*leading_comma=*/false);
  printer->Append("]");
  if (reshape_dims_.size() <= 1) return;
  printer->Append("T(");
  AppendJoin(printer, transpose_perm_, ",");
  printer->Append(")");
}

std::string IotaTileAssignment::ToString() const {
  StringPrinter printer;
  Print(&printer);
  return std::move(printer).ToString();
}

// ---------------------------------------------------------------------------------------------------------------------
// TileAssignment
// ---------------------------------------------------------------------------------------------------------------------

TileAssignment::TileAssignment() {
  static const auto* const none =
      new TileAssignment(std::make_shared<const Array<int64_t>>(absl::Span<const int64_t>({0})));
  rep_ = none->rep_;
}

TileAssignment::TileAssignment(std::shared_ptr<const Array<int64_t>> array) {
  KASHI_CHECK(array != nullptr);
  auto rep = std::make_shared<Rep>();
  rep->array = std::move(array);
  rep_ = std::move(rep);
}

TileAssignment::TileAssignment(int64_t device_id)
    : TileAssignment(std::make_shared<const Array<int64_t>>(absl::Span<const int64_t>({1}), device_id)) {}

TileAssignment::TileAssignment(IotaTileAssignment iota) {
  auto rep = std::make_shared<Rep>();
  rep->iota = std::move(iota);
  rep_ = std::move(rep);
}

TileAssignment::TileAssignment(std::initializer_list<int64_t> dims)
    : TileAssignment(IotaTileAssignment::Create(absl::MakeConstSpan(dims.begin(), dims.size()))) {}

TileAssignment::TileAssignment(absl::Span<const int64_t> dims) : TileAssignment(IotaTileAssignment::Create(dims)) {}

TileAssignment::TileAssignment(absl::Span<const int64_t> dims, absl::Span<const int64_t> reshape_dims,
                               absl::Span<const int> transpose_perm)
    : TileAssignment(IotaTileAssignment::Create(dims, reshape_dims, transpose_perm)) {}

int64_t TileAssignment::operator()(absl::Span<const int64_t> index) const {
  return rep_->iota.has_value() ? rep_->iota->value_at(index) : (*rep_->array)(index);
}

bool TileAssignment::UsesDevice(int64_t device) const {
  if (rep_->iota.has_value()) return device >= 0 && device < num_elements();
  return std::find(rep_->array->begin(), rep_->array->end(), device) != rep_->array->end();
}

void TileAssignment::Each(absl::FunctionRef<void(absl::Span<const int64_t>, int64_t)> f) const {
  DimensionVector index(num_dimensions(), 0);
  const int64_t count = num_elements();
  for (int64_t i = 0; i < count; ++i) {
    f(index, AtLinearIndex(i));
    AdvanceIndex(dimensions(), absl::MakeSpan(index));
  }
}

absl::Status TileAssignment::EachStatus(absl::FunctionRef<absl::Status(absl::Span<const int64_t>, int64_t)> f) const {
  DimensionVector index(num_dimensions(), 0);
  const int64_t count = num_elements();
  for (int64_t i = 0; i < count; ++i) {
    KASHI_RETURN_IF_ERROR(f(index, AtLinearIndex(i)));
    AdvanceIndex(dimensions(), absl::MakeSpan(index));
  }
  return absl::OkStatus();
}

const std::shared_ptr<const Array<int64_t>>& TileAssignment::shared_array() const {
  if (!rep_->iota.has_value()) return rep_->array;
  std::call_once(rep_->once, [this] {
    auto array = std::make_shared<Array<int64_t>>(dimensions());
    for (int64_t i = 0; i < array->num_elements(); ++i) array->begin()[i] = AtLinearIndex(i);
    rep_->array = std::move(array);
  });
  return rep_->array;
}

absl::StatusOr<TileAssignment> TileAssignment::ToExplicit(int64_t max_devices) const {
  if (!rep_->iota.has_value()) return *this;
  if (!rep_->iota->IsConsistent()) {
    return InvalidArgumentStrCat(rep_->iota->ToString(), " is not a list of devices: its groups differ in size");
  }
  if (num_elements() > max_devices) {
    return ResourceExhausted("%s would be a list of more than %d devices", rep_->iota->ToString(), max_devices);
  }
  return TileAssignment(shared_array());
}

TileAssignment TileAssignment::Reshape(absl::Span<const int64_t> dims) const {
  if (rep_->iota.has_value()) {
    KASHI_CHECK(!rep_->iota->IsConsistent() || SaturatingProduct(dims) == num_elements()) << "for " << ToString();
    return TileAssignment(rep_->iota->WithDims(dims));
  }
  auto array = shared_array_clone();
  array->Reshape(dims);
  return TileAssignment(std::move(array));
}

absl::StatusOr<TileAssignment> TileAssignment::TryTranspose(absl::Span<const int> perm, int64_t max_devices) const {
  if (rep_->iota.has_value()) {
    if (std::optional<IotaTileAssignment> iota = rep_->iota->Transpose(perm)) return TileAssignment(*std::move(iota));
  }
  KASHI_ASSIGN_OR_RETURN(TileAssignment list, ToExplicit(max_devices));
  auto array = list.shared_array_clone();
  array->TransposeDimensions(perm);
  return TileAssignment(std::move(array));
}

TileAssignment TileAssignment::Transpose(absl::Span<const int> perm) const {
  absl::StatusOr<TileAssignment> transposed = TryTranspose(perm, std::numeric_limits<int64_t>::max());
  KASHI_CHECK_OK(transposed);
  return *std::move(transposed);
}

absl::StatusOr<TileAssignment> TileAssignment::TrySortRows(int64_t max_devices) const {
  if (rep_->iota.has_value()) {
    if (std::optional<IotaTileAssignment> iota = rep_->iota->SortRows()) return TileAssignment(*std::move(iota));
  }
  KASHI_ASSIGN_OR_RETURN(TileAssignment list, ToExplicit(max_devices));
  const int64_t row = list.num_dimensions() == 0 ? 1 : list.dimensions().back();
  if (row < 1) return list;
  auto array = list.shared_array_clone();
  for (int64_t* begin = array->begin(); begin != array->end(); begin += row) std::sort(begin, begin + row);
  return TileAssignment(std::move(array));
}

void TileAssignment::Print(Printer* printer) const {
  printer->Append("devices=");
  if (rep_->iota.has_value()) return rep_->iota->Print(printer);
  printer->Append("[");
  printer->AppendInt64List(dimensions(), /*leading_comma=*/false);
  printer->Append("]");
  printer->AppendInt64List(absl::MakeConstSpan(rep_->array->begin(), rep_->array->num_elements()),
                           /*leading_comma=*/false);
}

std::string TileAssignment::ToString() const {
  StringPrinter printer;
  Print(&printer);
  return std::move(printer).ToString();
}

bool operator==(const TileAssignment& a, const TileAssignment& b) {
  if (a.rep_ == b.rep_) return true;
  if (a.dimensions() != b.dimensions()) return false;
  if (a.iota().has_value() && b.iota().has_value()) return *a.iota() == *b.iota();
  const int64_t count = a.num_elements();  // one of the two has that many in memory
  for (int64_t i = 0; i < count; ++i) {
    if (a.AtLinearIndex(i) != b.AtLinearIndex(i)) return false;
  }
  return true;
}

}  // namespace kashi
