// Construction, moves and destruction of literals; views. literal.h lists the files with the other functions.
#include "kashi/literal/literal.h"

#include <utility>

#include "kashi/array/layout_util.h"
#include "kashi/array/permutation_util.h"
#include "kashi/base/math.h"

namespace kashi {
namespace {

using literal::LiteralPiece;
using literal::LiteralTree;
using literal::VisitPairs;

// The tree of every literal that is an empty tuple and owns nothing.
const LiteralPiece& NilPiece() {
  static const LiteralTree* const kNil = new LiteralTree(ShapeUtil::MakeNil());
  return kNil->root;
}

template <typename Predicate>
bool AllOf(const LiteralPiece& root, Predicate predicate) {
  std::vector<const LiteralPiece*> open = {&root};
  while (!open.empty()) {
    const LiteralPiece* piece = open.back();
    open.pop_back();
    if (!predicate(*piece)) return false;
    for (const LiteralPiece& child : piece->children()) open.push_back(&child);
  }
  return true;
}

template <typename Visit>
absl::Status ForEachPiece(LiteralTree* tree, Visit visit) {
  KASHI_RETURN_IF_ERROR(visit(&tree->root));
  for (LiteralPiece& piece : tree->descendants) KASHI_RETURN_IF_ERROR(visit(&piece));
  return absl::OkStatus();
}

// The leaf's layout is complete, and all arithmetic on its size stays within int64.
absl::Status CompleteLeaf(Shape* leaf) {
  if (leaf->element_type_including_buffer() == PRIMITIVE_TYPE_INVALID)
    return InvalidArgument("a literal needs a valid shape");
  if (!leaf->IsArray()) return absl::OkStatus();
  // A size of 0 counts as 1 here: strides must fit too.
  std::optional<int64_t> bytes = primitive_util::ByteWidth(leaf->element_type());
  for (int64_t size : leaf->dimensions()) {
    if (size < 0) return InvalidArgument("a literal needs bounded dimensions: %s", leaf->ToString());
    if (bytes.has_value()) bytes = CheckedMultiply(*bytes, std::max<int64_t>(size, 1));
  }
  if (!bytes.has_value()) return ResourceExhausted("a literal of %s would need 2^63 bytes or more", leaf->ToString());
  if (!leaf->has_layout()) *leaf->mutable_layout() = LayoutUtil::GetDefaultLayoutForShape(*leaf);
  const absl::Span<const int64_t> order = leaf->layout().minor_to_major();
  if (order.size() != leaf->dimensions().size() || !IsPermutation(order)) {
    return InvalidArgument("the layout does not fit the shape: %s", leaf->ToString(/*print_layout=*/true));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LiteralTree>> MakeTree(const Shape& shape) {
  Shape complete = shape;
  KASHI_RETURN_IF_ERROR(ShapeUtil::ForEachMutableLeafShapeWithStatus(
      &complete, [](Shape* leaf, const ShapeIndex&) { return CompleteLeaf(leaf); }));
  if (complete.IsArray()) complete.mutable_layout()->set_element_size_in_bits(0);
  return std::make_unique<LiteralTree>(std::move(complete));
}

// A tree for borrowed memory: the shape stays as it is.
std::unique_ptr<LiteralTree> MakeBorrowingTree(const Shape& shape) {
  KASHI_CHECK(LayoutUtil::HasLayout(shape)) << shape;
  return std::make_unique<LiteralTree>(shape);
}

std::unique_ptr<LiteralTree> BorrowArray(const char* memory, const Shape& shape) {
  KASHI_CHECK(shape.IsArray()) << shape;
  std::unique_ptr<LiteralTree> tree = MakeBorrowingTree(shape);
  tree->root.Borrow(const_cast<char*>(memory));
  return tree;
}

template <typename Pointer>
std::unique_ptr<LiteralTree> BorrowArrays(absl::Span<Pointer> memory, const Shape& shape) {
  KASHI_CHECK(shape.IsTuple() && !ShapeUtil::IsNestedTuple(shape)) << shape;
  KASHI_CHECK_EQ(memory.size(), shape.tuple_shapes().size());
  std::unique_ptr<LiteralTree> tree = MakeBorrowingTree(shape);
  for (size_t i = 0; i < memory.size(); ++i) {
    if (tree->descendants[i].subshape().IsArray()) tree->descendants[i].Borrow(const_cast<char*>(memory[i]));
  }
  return tree;
}

template <typename Pointer>
std::unique_ptr<LiteralTree> BorrowTree(const ShapeTree<Pointer>& memory) {
  std::unique_ptr<LiteralTree> tree = MakeBorrowingTree(memory.shape());
  // Pre-order, as the ShapeTree; a tuple's children are taken from the end of a list of open nodes.
  std::vector<LiteralPiece*> open = {&tree->root};
  for (const auto& [index, pointer] : memory) {
    LiteralPiece* piece = open.back();
    open.pop_back();
    if (piece->subshape().IsArray()) piece->Borrow(const_cast<char*>(pointer));
    for (size_t i = piece->children().size(); i > 0; --i) open.push_back(&piece->children()[i - 1]);
  }
  return tree;
}

std::unique_ptr<LiteralTree> BorrowPieces(const LiteralPiece& root) {
  auto tree = std::make_unique<LiteralTree>(root.subshape());
  VisitPairs(tree->root, root, [](LiteralPiece& mine, LiteralPiece& other) { mine.BorrowFrom(other); });
  return tree;
}

std::unique_ptr<LiteralTree> TakePieces(LiteralPiece* root, Shape shape) {
  auto tree = std::make_unique<LiteralTree>(std::move(shape));
  VisitPairs(tree->root, *root, [](LiteralPiece& mine, LiteralPiece& other) { mine.TakeFrom(&other); });
  return tree;
}

}  // namespace

// --------------------------------------------------------------------------------------------------------- LiteralBase

const LiteralBase::Piece& LiteralBase::piece(ShapeIndexView index) const {
  const Piece* piece = root_;
  for (int64_t i : index) {
    KASHI_CHECK(i >= 0 && i < static_cast<int64_t>(piece->children().size()))
        << "no element " << ShapeIndex(index) << " in a literal " << shape();
    piece = &piece->children()[i];
  }
  return *piece;
}

LiteralBase::DynamicSizeType LiteralBase::GetDynamicSize(int64_t dim_index, const ShapeIndex& shape_index) const {
  return piece(shape_index).dynamic_size(dim_index);
}
LiteralBase::DynamicSizeType LiteralBase::GetDynamicSize(int64_t dim_index) const {
  return root_->dynamic_size(dim_index);
}

bool LiteralBase::IsKnown(const ShapeIndex& shape_index) const {
  return AllOf(piece(shape_index), [](const Piece& p) { return p.state() == ArrayValueState::kKnown; });
}
bool LiteralBase::IsDetermined(const ShapeIndex& shape_index) const {
  return AllOf(piece(shape_index), [](const Piece& p) { return p.state() != ArrayValueState::kUndetermined; });
}

Literal LiteralBase::CreateFromShape(const Shape& shape) {
  Literal literal(shape);
  KASHI_CHECK_OK(ForEachPiece(literal.tree_.get(), [](Piece* piece) {
    if (piece->subshape().IsArray()) std::memset(piece->buffer(), 0, piece->size_bytes());
    return absl::OkStatus();
  }));
  return literal;
}
Literal LiteralBase::CreateFromShapeWithUnknownLeafArrays(const Shape& shape) {
  return Literal(shape, /*allocate_arrays=*/false, ArrayValueState::kUnknown);
}
Literal LiteralBase::CreateFromShapeWithUndeterminedLeafArrays(const Shape& shape) {
  return Literal(shape, /*allocate_arrays=*/false, ArrayValueState::kUndetermined);
}

absl::StatusOr<int64_t> LiteralBase::SerializedSize() const { return ShapeUtil::SerializedSize(shape()); }

std::ostream& operator<<(std::ostream& out, const LiteralBase& literal) { return out << literal.ToString(); }

// -------------------------------------------------------------------------------------------------- MutableLiteralBase

Shape* MutableLiteralBase::mutable_shape_do_not_use() {
  KASHI_CHECK(root_ != &NilPiece()) << "the shape of an empty tuple without memory of its own cannot change";
  return const_cast<Shape*>(&shape());
}

void MutableLiteralBase::SetDynamicSize(int64_t dim_index, const ShapeIndex& shape_index, DynamicSizeType size) {
  const Piece& p = piece(shape_index);
  KASHI_CHECK(p.subshape().IsArray()) << p.subshape();
  const int dimension = static_cast<int>(dim_index);
  KASHI_CHECK(dimension >= 0 && dimension < p.subshape().dimensions_size()) << dim_index << " of " << p.subshape();
  KASHI_CHECK(size >= 0 && size <= p.subshape().dimensions(dimension)) << size << " for " << p.subshape();
  const_cast<Shape&>(p.subshape()).set_dynamic_dimension(dimension, true);
  const_cast<Piece&>(p).set_dynamic_size(dim_index, size);
}
void MutableLiteralBase::SetDynamicSize(int64_t dim_index, DynamicSizeType size) {
  SetDynamicSize(dim_index, {}, size);
}

absl::Status MutableLiteralBase::MakeKnown() {
  Piece* const piece = const_cast<Piece*>(root_);
  if (piece->buffer() != nullptr) return absl::OkStatus();
  KASHI_RETURN_IF_ERROR(piece->Allocate());
  std::memset(piece->buffer(), 0, piece->size_bytes());
  piece->set_state(ArrayValueState::kKnown);
  return absl::OkStatus();
}

absl::Status MutableLiteralBase::PrepareToPopulate() {
  return shape().IsArray() ? MakeKnown() : InvalidArgument("not an array: %s", shape().ToString());
}
absl::Status MutableLiteralBase::PrepareToPopulate(PrimitiveType type) {
  if (shape().IsArray() && shape().element_type() != type) {
    return InvalidArgument("elements of %s cannot be created as %s", shape().ToString(),
                           primitive_util::LowercasePrimitiveTypeName(type));
  }
  return PrepareToPopulate();
}

Literal MutableLiteralBase::MoveIntoTuple(absl::Span<Literal> elements) {
  std::vector<Shape> shapes;
  shapes.reserve(elements.size());
  for (const Literal& element : elements) shapes.push_back(element.shape());
  auto tree = std::make_unique<Tree>(Shape(std::move(shapes)));
  for (size_t i = 0; i < elements.size(); ++i) {
    VisitPairs(tree->descendants[i], *elements[i].root_, [](Piece& mine, Piece& other) { mine.TakeFrom(&other); });
    elements[i] = Literal();
  }
  return Literal(std::move(tree));
}

// ------------------------------------------------------------------------------------------------------------- Literal

Literal::Literal() : MutableLiteralBase(&NilPiece()) {}
Literal::Literal(std::unique_ptr<Tree> tree)
    : MutableLiteralBase(tree == nullptr ? &NilPiece() : &tree->root), tree_(std::move(tree)) {}
Literal::Literal(const Shape& shape) : Literal(shape, /*allocate_arrays=*/true) {}
Literal::Literal(const Shape& shape, bool allocate_arrays, ArrayValueState leaf_array_value_state) : Literal() {
  absl::StatusOr<Literal> literal = Make(shape, allocate_arrays, leaf_array_value_state);
  KASHI_CHECK_OK(literal);
  *this = *std::move(literal);
}
Literal::~Literal() = default;

Literal::Literal(Literal&& other) noexcept : Literal(std::move(other.tree_)) { other.root_ = &NilPiece(); }
Literal& Literal::operator=(Literal&& other) noexcept {
  if (this == &other) return *this;
  root_ = std::exchange(other.root_, &NilPiece());
  tree_ = std::move(other.tree_);
  return *this;
}

absl::StatusOr<Literal> Literal::Make(const Shape& shape, bool allocate_arrays,
                                      ArrayValueState leaf_array_value_state) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Tree> tree, MakeTree(shape));
  KASHI_RETURN_IF_ERROR(ForEachPiece(tree.get(), [&](Piece* piece) {
    if (!piece->subshape().IsArray()) return absl::OkStatus();
    piece->set_state(leaf_array_value_state);
    const bool has_memory = allocate_arrays && leaf_array_value_state == ArrayValueState::kKnown;
    return has_memory ? piece->Allocate() : absl::OkStatus();
  }));
  return Literal(std::move(tree));
}

absl::Status Literal::MoveFrom(Literal&& src_literal, const ShapeIndex& dest_shape_index) {
  const Piece& target = piece(dest_shape_index);
  if (!ShapeUtil::Equal(target.subshape(), src_literal.shape())) {
    return InvalidArgument("Destination subshape not equal to source shape: %s vs %s",
                           ShapeUtil::HumanStringWithLayout(target.subshape()),
                           ShapeUtil::HumanStringWithLayout(src_literal.shape()));
  }
  if (&src_literal == this) return absl::OkStatus();
  VisitPairs(target, *src_literal.root_, [](Piece& mine, Piece& other) { mine.TakeFrom(&other); });
  src_literal = Literal();
  return absl::OkStatus();
}

std::vector<Literal> Literal::DecomposeTuple() {
  KASHI_CHECK(shape().IsTuple()) << shape();
  std::vector<Literal> elements;
  elements.reserve(root_->children().size());
  for (Piece& child : root_->children()) {
    elements.push_back(Literal(TakePieces(&child, std::move(const_cast<Shape&>(child.subshape())))));
  }
  *this = Literal();
  return elements;
}

Literal Literal::SubLiteral(ShapeIndexView shape_index) {
  const Piece& subtree = piece(shape_index);
  return Literal(TakePieces(const_cast<Piece*>(&subtree), subtree.subshape()));
}

// --------------------------------------------------------------------------------------------------------------- views

MutableBorrowingLiteral::MutableBorrowingLiteral() : MutableLiteralBase(&NilPiece()) {}
MutableBorrowingLiteral::MutableBorrowingLiteral(const MutableBorrowingLiteral& literal) : MutableBorrowingLiteral() {
  Reset(BorrowPieces(*literal.root_));
}
MutableBorrowingLiteral& MutableBorrowingLiteral::operator=(const MutableBorrowingLiteral& literal) {
  if (this != &literal) Reset(BorrowPieces(*literal.root_));
  return *this;
}
MutableBorrowingLiteral::MutableBorrowingLiteral(MutableLiteralBase* literal) : MutableBorrowingLiteral() {
  Reset(BorrowPieces(*literal->root_));
}
MutableBorrowingLiteral::MutableBorrowingLiteral(MutableBorrowingLiteral literal, const ShapeIndex& view_root)
    : MutableBorrowingLiteral() {
  Reset(BorrowPieces(literal.piece(view_root)));
}
MutableBorrowingLiteral::MutableBorrowingLiteral(const char* src_buf_ptr, const Shape& shape)
    : MutableBorrowingLiteral() {
  Reset(BorrowArray(src_buf_ptr, shape));
}
MutableBorrowingLiteral::MutableBorrowingLiteral(absl::Span<char*> src_buf_ptrs, const Shape& shape)
    : MutableBorrowingLiteral() {
  Reset(BorrowArrays(src_buf_ptrs, shape));
}
MutableBorrowingLiteral::MutableBorrowingLiteral(ShapeTree<char*> src_buf_ptrs) : MutableBorrowingLiteral() {
  Reset(BorrowTree(src_buf_ptrs));
}
MutableBorrowingLiteral::~MutableBorrowingLiteral() = default;

void MutableBorrowingLiteral::Reset(std::unique_ptr<Tree> tree) {
  tree_ = std::move(tree);
  root_ = &tree_->root;
}

LiteralSlice::LiteralSlice() : LiteralBase(&NilPiece()) {}
LiteralSlice::LiteralSlice(const LiteralBase& literal) : LiteralBase(literal) {}
LiteralSlice::LiteralSlice(const LiteralBase& literal, const ShapeIndex& view_root)
    : LiteralBase(&literal.piece(view_root)) {}

BorrowingLiteral::BorrowingLiteral() : LiteralBase(&NilPiece()) {}
BorrowingLiteral::BorrowingLiteral(const char* src_buf_ptr, const Shape& shape) : BorrowingLiteral() {
  tree_ = BorrowArray(src_buf_ptr, shape);
  root_ = &tree_->root;
}
BorrowingLiteral::BorrowingLiteral(absl::Span<const char* const> src_buf_ptrs, const Shape& shape)
    : BorrowingLiteral() {
  tree_ = BorrowArrays(src_buf_ptrs, shape);
  root_ = &tree_->root;
}
BorrowingLiteral::BorrowingLiteral(ShapeTree<const char*> src_buf_ptrs) : BorrowingLiteral() {
  tree_ = BorrowTree(src_buf_ptrs);
  root_ = &tree_->root;
}
BorrowingLiteral::BorrowingLiteral(BorrowingLiteral&& other) noexcept : BorrowingLiteral() { *this = std::move(other); }
BorrowingLiteral& BorrowingLiteral::operator=(BorrowingLiteral&& other) noexcept {
  if (this == &other) return *this;
  root_ = std::exchange(other.root_, &NilPiece());
  tree_ = std::move(other.tree_);
  return *this;
}
BorrowingLiteral::~BorrowingLiteral() = default;

}  // namespace kashi
