#include "kashi/array/layout.h"

#include <algorithm>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/base/check.h"

namespace kashi {
namespace {

template <typename T>
std::string PrintToString(const T& value) {
  StringPrinter printer;
  value.Print(&printer);
  return std::move(printer).ToString();
}

void PrintTileDimension(Printer* printer, int64_t dimension) {
  if (dimension >= 0) {
    printer->Append(dimension);
  } else if (dimension == Tile::kCombineDimension) {
    printer->Append("*");
  } else {
    AppendCat(printer, "Invalid value ", dimension);
  }
}

void PrintSparseType(Printer* printer, absl::string_view mark, PrimitiveType type) {
  if (type == PRIMITIVE_TYPE_INVALID) return;
  AppendCat(printer, mark, "(",
            primitive_util::IsIntegralType(type) ? primitive_util::LowercasePrimitiveTypeName(type) : "invalid", ")");
}

void PrintNumber(Printer* printer, absl::string_view letter, int64_t value) {
  AppendCat(printer, letter, "(", value, ")");
}

}  // namespace

void Tile::Print(Printer* printer) const {
  printer->Append("(");
  AppendJoin(printer, dimensions_, ",", PrintTileDimension);
  printer->Append(")");
}

std::string Tile::ToString() const { return PrintToString(*this); }

std::ostream& operator<<(std::ostream& out, const Tile& tile) { return out << tile.ToString(); }

std::string SplitConfig::ToString() const {
  StringPrinter printer;
  AppendCat(&printer, "(", dimension_, ":");
  printer.AppendInt64List(split_indices_, /*leading_comma=*/false);
  printer.Append(")");
  return std::move(printer).ToString();
}

std::ostream& operator<<(std::ostream& out, const SplitConfig& config) { return out << config.ToString(); }

Layout::Layout() = default;
Layout::~Layout() = default;
Layout::Layout(Layout&& other) noexcept = default;
Layout& Layout::operator=(Layout&& other) noexcept = default;

Layout::Layout(const Layout& other)
    : minor_to_major_(other.minor_to_major_),
      tiles_(other.tiles_),
      split_configs_(other.split_configs_),
      physical_shape_(other.physical_shape_ ? std::make_unique<Shape>(*other.physical_shape_) : nullptr),
      element_size_in_bits_(other.element_size_in_bits_),
      tail_padding_alignment_in_elements_(other.tail_padding_alignment_in_elements_),
      dynamic_shape_metadata_prefix_bytes_(other.dynamic_shape_metadata_prefix_bytes_),
      index_primitive_type_(other.index_primitive_type_),
      pointer_primitive_type_(other.pointer_primitive_type_),
      memory_space_(other.memory_space_) {}

Layout& Layout::operator=(const Layout& other) {
  if (this != &other) *this = Layout(other);
  return *this;
}

Layout::Layout(absl::Span<const int64_t> minor_to_major, absl::Span<const Tile> tiles,
               PrimitiveType index_primitive_type, PrimitiveType pointer_primitive_type,
               int64_t tail_padding_alignment_in_elements, int64_t element_size_in_bits, int64_t memory_space,
               absl::Span<const SplitConfig> split_configs, std::unique_ptr<Shape> physical_shape,
               int64_t dynamic_shape_metadata_prefix_bytes)
    : minor_to_major_(minor_to_major.begin(), minor_to_major.end()),
      tiles_(tiles.begin(), tiles.end()),
      split_configs_(split_configs.begin(), split_configs.end()),
      physical_shape_(std::move(physical_shape)),
      element_size_in_bits_(element_size_in_bits),
      tail_padding_alignment_in_elements_(tail_padding_alignment_in_elements),
      dynamic_shape_metadata_prefix_bytes_(dynamic_shape_metadata_prefix_bytes),
      index_primitive_type_(index_primitive_type),
      pointer_primitive_type_(pointer_primitive_type) {
  KASHI_CHECK_GE(tail_padding_alignment_in_elements, 1);
  set_memory_space(memory_space);
}

Layout::Layout(absl::Span<const int64_t> minor_to_major, absl::Span<const Tile> tiles, int64_t element_size_in_bits)
    : minor_to_major_(minor_to_major.begin(), minor_to_major.end()),
      tiles_(tiles.begin(), tiles.end()),
      element_size_in_bits_(element_size_in_bits) {}

void Layout::Print(Printer* printer) const {
  printer->Append("{");
  printer->AppendInt64List(minor_to_major_, /*leading_comma=*/false);

  StringPrinter rest;
  if (!tiles_.empty()) {
    rest.Append("T");
    for (const Tile& tile : tiles_) tile.Print(&rest);
  }
  if (tail_padding_alignment_in_elements_ != 1) PrintNumber(&rest, "L", tail_padding_alignment_in_elements_);
  PrintSparseType(&rest, "#", index_primitive_type_);
  PrintSparseType(&rest, "*", pointer_primitive_type_);
  if (element_size_in_bits_ != 0) PrintNumber(&rest, "E", element_size_in_bits_);
  if (memory_space_ != 0) PrintNumber(&rest, "S", memory_space_);
  if (!split_configs_.empty()) {
    rest.Append("SC");
    for (const SplitConfig& config : split_configs_) rest.Append(config.ToString());
  }
  if (physical_shape_ != nullptr) {
    rest.Append("P(");
    physical_shape_->Print(&rest, /*print_layout=*/true);
    rest.Append(")");
  }
  if (dynamic_shape_metadata_prefix_bytes_ > 0) PrintNumber(&rest, "M", dynamic_shape_metadata_prefix_bytes_);

  std::string attributes = std::move(rest).ToString();
  if (!attributes.empty()) AppendCat(printer, ":", attributes);
  printer->Append("}");
}

std::string Layout::ToString() const { return PrintToString(*this); }

std::ostream& operator<<(std::ostream& out, const Layout& layout) { return out << layout.ToString(); }

bool Layout::Equal::operator()(const Layout& lhs, const Layout& rhs) const {
  if (lhs.minor_to_major() != rhs.minor_to_major()) return false;
  if (!ignore_tiles_ && lhs.tiles() != rhs.tiles()) return false;
  if (!ignore_tail_padding_ && lhs.tail_padding_alignment_in_elements() != rhs.tail_padding_alignment_in_elements()) {
    return false;
  }
  if (!ignore_index_primitive_type_ && lhs.index_primitive_type() != rhs.index_primitive_type()) return false;
  if (!ignore_pointer_primitive_type_ && lhs.pointer_primitive_type() != rhs.pointer_primitive_type()) return false;
  if (!ignore_element_size_ && lhs.element_size_in_bits() != rhs.element_size_in_bits()) return false;
  if (!ignore_memory_space_ && lhs.memory_space() != rhs.memory_space()) return false;
  if (!ignore_split_configs_ && lhs.split_configs() != rhs.split_configs()) return false;
  if (ignore_physical_shape_) return true;
  if (lhs.has_physical_shape() != rhs.has_physical_shape()) return false;
  return !lhs.has_physical_shape() || lhs.physical_shape() == rhs.physical_shape();
}

Layout& Layout::DeleteDimension(int dimension) {
  auto position = std::find(minor_to_major_.begin(), minor_to_major_.end(), dimension);
  KASHI_CHECK(position != minor_to_major_.end()) << "no dimension " << dimension << " in " << ToString();
  minor_to_major_.erase(position);
  for (int64_t& entry : minor_to_major_) entry -= entry > dimension;
  return *this;
}

const Shape& Layout::physical_shape() const {
  KASHI_CHECK(has_physical_shape());
  return *physical_shape_;
}

Shape* Layout::mutable_physical_shape() {
  if (physical_shape_ == nullptr) physical_shape_ = std::make_unique<Shape>();
  return physical_shape_.get();
}

Layout& Layout::clear_physical_shape() {
  physical_shape_ = nullptr;
  return *this;
}

}  // namespace kashi
