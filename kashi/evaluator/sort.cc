// sort (docs/spec/hlo-ops.md, 3); to_apply(a0, b0, a1, b1, …) is "a before b".
//
// The lines along the dimension are sorted as lists of indices, by which the elements of all operands then move. A
// line is sorted by
//
//   keys        where the comparator is compare(f(a_i), f(b_i)) for one operand i: f of all elements at once, as
//               unsigned integers in the same order, sorted by counting digits. f may be absent; often it makes all
//               NaNs equal.
//   comparator  otherwise, with one call for each comparison. The sort ends for any comparator; one that contradicts
//               itself gives an unspecified order.
//
// Both are stable. Short lines are sorted by insertion from the back, as compiled code does it
// (kashi/codegen/small_sort.h): both engines then have the same order where a comparator contradicts itself, as
// compare(a, b), direction=LT does with NaN. Without is_stable, equal elements may come in any order: here in that of
// std::sort, which XLA's compiled code calls too, so that results agree where the C++ library is the same.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/fold.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/kernels/order_keys.h"
#include "kashi/literal/strided_copy.h"

namespace kashi::evaluator {
namespace {

// ---------------------------------------------------------------------------------------------------------------------
// By comparator
// ---------------------------------------------------------------------------------------------------------------------

constexpr int64_t kMostInserted = 64;  // elements of a line that is sorted by insertion alone
constexpr int64_t kInsertionSize = 9;  // up to here, below, insertion is faster; and the evaluator inserts

// before(i, j) on indices.
template <typename Before>
void InsertionSort(int64_t* indices, int64_t n, Before& before) {
  for (int64_t i = 1; i < n; ++i) {
    const int64_t index = indices[i];
    int64_t place = i;
    for (; place > 0 && before(index, indices[place - 1]); --place) indices[place] = indices[place - 1];
    indices[place] = index;
  }
}

// before(i, j) on indices. `spare` has room for half of them.
template <typename Before>
void MergeSort(int64_t* indices, int64_t n, int64_t* spare, Before& before) {
  if (n < kInsertionSize) {
    for (int64_t i = 1; i < n; ++i) {
      const int64_t index = indices[i];
      int64_t low = 0, high = i;  // goes after all elements that it is not before
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (before(index, indices[middle])) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      std::copy_backward(indices + low, indices + i, indices + i + 1);
      indices[low] = index;
    }
    return;
  }
  const int64_t half = n / 2;
  MergeSort(indices, half, spare, before);
  MergeSort(indices + half, n - half, spare, before);
  std::copy(indices, indices + half, spare);
  int64_t left = 0, right = half, out = 0;
  while (left < half && right < n)
    indices[out++] = before(indices[right], spare[left]) ? indices[right++] : spare[left++];
  std::copy(spare + left, spare + half, indices + out);
}

// to_apply on elements i and j of a line.
class Comparator {
 public:
  Comparator(const EvaluationRun& run, const LaneFunction& function, absl::Span<const Value> operands)
      : run_(run), function_(function), operands_(operands), scratch_(function, 1), inputs_(2 * operands.size()) {}

  void StartLine(int64_t first) { first_ = first; }
  const absl::Status& status() const { return status_; }

  bool operator()(int64_t i, int64_t j) {
    if (!status_.ok()) return false;
    for (size_t operand = 0; operand < operands_.size(); ++operand) {
      const int bytes = operands_[operand].element_bytes();
      inputs_[2 * operand] = operands_[operand].bytes() + (first_ + i) * bytes;
      inputs_[2 * operand + 1] = operands_[operand].bytes() + (first_ + j) * bytes;
    }
    bool is_before = false;
    status_ = function_.Run(scratch_, inputs_, {&is_before}, 1);
    if (++calls_ % kCallsPerCheck == 0 && status_.ok()) status_ = run_.CheckStopped();
    return is_before;
  }

 private:
  static constexpr int64_t kCallsPerCheck = 1024;

  const EvaluationRun& run_;
  const LaneFunction& function_;
  absl::Span<const Value> operands_;
  int64_t calls_ = 0;
  LaneFunction::Scratch scratch_;
  std::vector<const void*> inputs_;
  int64_t first_ = 0;
  absl::Status status_;
};

// ---------------------------------------------------------------------------------------------------------------------
// By keys
// ---------------------------------------------------------------------------------------------------------------------

// The values that a comparator compares: operand `operand`, through the computation `key` unless that is null.
struct KeyOrder {
  int64_t operand;
  ComparisonDirection direction;
  Comparison::Order order;
  std::unique_ptr<HloComputation> key;
};

// The direction of compare(y, x), from the direction of compare(x, y).
ComparisonDirection Flipped(ComparisonDirection direction) {
  switch (direction) {
    case ComparisonDirection::kGe:
      return ComparisonDirection::kLe;
    case ComparisonDirection::kGt:
      return ComparisonDirection::kLt;
    case ComparisonDirection::kLe:
      return ComparisonDirection::kGe;
    case ComparisonDirection::kLt:
      return ComparisonDirection::kGt;
    default:
      return direction;
  }
}

bool IsBackwards(ComparisonDirection direction) {
  return direction == ComparisonDirection::kGt || direction == ComparisonDirection::kGe;
}
// With a <= b, each of two equal elements is before the other: their order is reversed.
bool TurnsEquals(ComparisonDirection direction) {
  return direction == ComparisonDirection::kLe || direction == ComparisonDirection::kGe;
}

constexpr size_t kMostInstructions = 64;

// Collects the instructions on which `root` depends, operands first and itself last, and the numbers of the parameters
// among them. False if one is not elementwise, or if there are too many.
bool Collect(const HloInstruction* root, size_t depth, std::vector<const HloInstruction*>* order,
             std::vector<int64_t>* parameters) {
  if (absl::c_linear_search(*order, root)) return true;
  if (order->size() == kMostInstructions || depth == kMostInstructions) return false;
  if (root->opcode() == HloOpcode::kParameter) {
    parameters->push_back(root->parameter_number());
  } else if (root->opcode() != HloOpcode::kConstant && !HasElementKernel(root->opcode())) {
    return false;
  }
  for (const HloInstruction* operand : root->operands()) {
    if (!Collect(operand, depth + 1, order, parameters)) return false;
  }
  order->push_back(root);
  return true;
}

// Whether both compute the same, each of the one parameter that it has.
bool IsSameFunction(absl::Span<const HloInstruction* const> a, absl::Span<const HloInstruction* const> b) {
  if (a.size() != b.size()) return false;
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> twin;
  for (size_t i = 0; i < a.size(); ++i) {
    twin[a[i]] = b[i];
    if (a[i]->opcode() == HloOpcode::kParameter && b[i]->opcode() == HloOpcode::kParameter) continue;
    const auto eq_operands = [&](const HloInstruction* x, const HloInstruction* y) {
      const auto found = twin.find(x);
      return found != twin.end() && found->second == y;
    };
    const auto eq_computations = [](const HloComputation*, const HloComputation*) { return false; };
    if (!a[i]->Identical(*b[i], eq_operands, eq_computations)) return false;
  }
  return true;
}

// f as a computation of its own.
std::unique_ptr<HloComputation> MakeKeyFunction(absl::Span<const HloInstruction* const> order) {
  HloComputation::Builder builder("key");
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> clones;
  for (const HloInstruction* instruction : order) {
    if (instruction->opcode() == HloOpcode::kParameter) {
      clones[instruction] = builder.AddInstruction(HloInstruction::CreateParameter(0, instruction->shape(), "x"));
      continue;
    }
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(clones[operand]);
    clones[instruction] = builder.AddInstruction(instruction->CloneWithNewOperands(instruction->shape(), operands));
  }
  return builder.Build();
}

std::optional<KeyOrder> FindKeyOrder(const LaneFunction& function, const HloComputation& to_apply) {
  if (const std::optional<LaneFunction::ParameterComparison> found = function.AsComparison(); found.has_value()) {
    const ComparisonDirection direction = found->is_swapped ? Flipped(found->direction) : found->direction;
    return KeyOrder{found->operand, direction, found->order, nullptr};
  }
  const HloInstruction* root = to_apply.root_instruction();
  if (root->opcode() != HloOpcode::kCompare) return std::nullopt;
  std::vector<const HloInstruction*> left, right;
  std::vector<int64_t> a, b;
  if (!Collect(root->operand(0), 0, &left, &a) || !Collect(root->operand(1), 0, &right, &b) || a.size() != 1 ||
      b.size() != 1 || a[0] / 2 != b[0] / 2 || a[0] == b[0] || !IsSameFunction(left, right)) {
    return std::nullopt;
  }
  const ComparisonDirection direction = root->comparison_direction();
  return KeyOrder{a[0] / 2, a[0] < b[0] ? direction : Flipped(direction), root->comparison_order(),
                  MakeKeyFunction(left)};
}

// f of all elements of the operand.
absl::StatusOr<Value> EvaluateKeys(EvaluationRun& run, const KeyOrder& order, const Value& operand) {
  if (order.key == nullptr) return operand;
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<LaneFunction> function, LaneFunction::Make(*order.key, run));
  KASHI_ASSIGN_OR_RETURN(Value keys, run.MakeArray(function->result_types()[0], operand.dimensions()));
  kernels::PerThread<LaneFunction::Scratch> scratches;
  char* const out = keys.mutable_bytes();
  KASHI_RETURN_IF_ERROR(CheckedParallelFor(run, function->is_parallel(), keys.element_count(),
                                           kernels::ParallelGrain(1), [&](int64_t begin, int64_t end, int thread) {
                                             return function->Run(
                                                 scratches.Get(thread, *function, LaneFunction::kManyLanes),
                                                 {operand.bytes() + begin * operand.element_bytes()},
                                                 {out + begin * keys.element_bytes()}, end - begin);
                                           }));
  return keys;
}

// Sorts entries by digit after digit of their keys, from the lowest: DigitOf(entry, i) is the i-th byte. Stable. Ends
// early, with the entries in some order, with the error of check_stopped().
template <typename Entry, typename DigitOf>
absl::Status SortByDigits(std::vector<Entry>& entries, std::vector<Entry>& spare, int digits, DigitOf digit_of,
                          StopFunction check_stopped) {
  const size_t n = entries.size();
  std::vector<size_t> counts(256 * digits);
  for (const Entry& entry : entries) {
    for (int i = 0; i < digits; ++i) ++counts[256 * i + digit_of(entry, i)];
  }
  for (int i = 0; i < digits; ++i) {
    KASHI_RETURN_IF_ERROR(check_stopped());
    size_t* const starts = &counts[256 * i];
    if (starts[digit_of(entries[0], i)] == n) continue;  // all have the same
    size_t sum = 0;
    for (int digit = 0; digit < 256; ++digit) sum += std::exchange(starts[digit], sum);
    for (const Entry& entry : entries) spare[starts[digit_of(entry, i)]++] = entry;
    entries.swap(spare);
  }
  return absl::OkStatus();
}

// One line at a time.
class KeySorter {
 public:
  // Bytes for each element of a line, at most.
  static constexpr int64_t kBytesPerElement = 8 + 2 * 16;

  KeySorter(const EvaluationRun& run, PrimitiveType type, const KeyOrder& order, int64_t n)
      : run_(run),
        type_(type),
        order_(order),
        is_narrow_(kernels::OrderKeyBits(type) == 32 && n <= int64_t{1} << 32),
        flip_(!IsBackwards(order.direction)       ? 0
              : kernels::OrderKeyBits(type) == 32 ? 0xffffffff
                                                  : ~uint64_t{0}),
        keys_(n) {
    for (auto* entries : {&narrow_, &narrow_spare_}) entries->resize(is_narrow_ ? n : 0);
    for (auto* entries : {&wide_, &wide_spare_}) entries->resize(is_narrow_ ? 0 : n);
  }

  // False if the line has elements that the order has no place for.
  absl::StatusOr<bool> Sort(const char* keys, int64_t* indices) {
    const int64_t n = keys_.size();
    if (!kernels::MakeOrderKeys(type_, order_.order, keys, n, keys_.data())) return false;
    const bool turns = TurnsEquals(order_.direction);
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t at = turns ? n - 1 - i : i;
      if (is_narrow_) {
        narrow_[i] = (keys_[at] ^ flip_) << 32 | at;
      } else {
        wide_[i] = {keys_[at] ^ flip_, at};
      }
    }
    KASHI_RETURN_IF_ERROR(is_narrow_ ? SortNarrow() : SortWide());
    for (int64_t i = 0; i < n; ++i) indices[i] = is_narrow_ ? narrow_[i] & 0xffffffff : wide_[i].index;
    return true;
  }
  // Whether two elements of the line that was sorted last have equal keys.
  bool HaveEqualKeys(int64_t i, int64_t j) const { return keys_[i] == keys_[j]; }

 private:
  static constexpr int64_t kFewEntries = 256;  // too few to count digits
  struct Wide {
    uint64_t key, index;
  };

  absl::Status SortNarrow() {
    const auto less = [](uint64_t a, uint64_t b) { return a >> 32 < b >> 32; };
    if (narrow_.size() < kFewEntries) {
      std::stable_sort(narrow_.begin(), narrow_.end(), less);
      return absl::OkStatus();
    }
    return SortByDigits(
        narrow_, narrow_spare_, 4, [](uint64_t x, int i) { return x >> (32 + 8 * i) & 0xff; },
        [this] { return run_.CheckStopped(); });
  }
  absl::Status SortWide() {
    const auto less = [](const Wide& a, const Wide& b) { return a.key < b.key; };
    if (wide_.size() < kFewEntries) {
      std::stable_sort(wide_.begin(), wide_.end(), less);
      return absl::OkStatus();
    }
    return SortByDigits(
        wide_, wide_spare_, 8, [](const Wide& x, int i) { return x.key >> (8 * i) & 0xff; },
        [this] { return run_.CheckStopped(); });
  }

  const EvaluationRun& run_;
  PrimitiveType type_;
  const KeyOrder& order_;
  bool is_narrow_;
  uint64_t flip_;
  std::vector<uint64_t> keys_;
  std::vector<uint64_t> narrow_, narrow_spare_;  // key << 32 | index; these or those below
  std::vector<Wide> wide_, wide_spare_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Equal elements
// ---------------------------------------------------------------------------------------------------------------------

// Puts the indices of a sorted line into the order that std::sort gives them. It sorts ranks, not the elements: they
// are in order even if the comparator contradicts itself, which would lead std::sort out of the line.
class UnstableSorter {
 public:
  static constexpr int64_t kBytesPerElement = 8 + 16;
  // Longer lines stay as they are: std::sort does not stop at a deadline.
  static constexpr int64_t kLongestLine = int64_t{1} << 22;

  // is_equal(i, j): whether two neighbours are equal; is_same(i, j): whether two equal neighbours cannot be
  // distinguished. If all equal neighbours are the same, every order gives the same result.
  template <typename IsEqual, typename IsSame>
  void Sort(int64_t* indices, int64_t n, IsEqual is_equal, IsSame is_same) {
    ranks_.resize(n);
    entries_.resize(n);
    int64_t rank = 0;
    bool are_same = true;
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0) {
        if (!is_equal(indices[i - 1], indices[i])) {
          ++rank;
        } else {
          are_same = are_same && is_same(indices[i - 1], indices[i]);
        }
      }
      ranks_[indices[i]] = rank;
    }
    if (are_same) return;
    for (int64_t i = 0; i < n; ++i) entries_[i] = {ranks_[i], i};
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.rank < b.rank; });
    for (int64_t i = 0; i < n; ++i) indices[i] = entries_[i].index;
  }

 private:
  struct Entry {
    int64_t rank, index;
  };
  std::vector<int64_t> ranks_;
  std::vector<Entry> entries_;
};

// Whether the order of equal elements is visible in the result: they have parts that are not compared. A comparator
// that puts each of two equal elements before the other has an order of its own.
bool OrderOfEqualsShows(const Operation& op, const std::vector<Value>& operands, const KeyOrder* order, int64_t n) {
  if (op.instruction.is_stable() || n > UnstableSorter::kLongestLine) return false;
  if (order != nullptr && TurnsEquals(order->direction)) return false;
  return operands.size() > 1 || !primitive_util::IsIntegralType(operands[0].element_type());
}

// ---------------------------------------------------------------------------------------------------------------------
// Lines
// ---------------------------------------------------------------------------------------------------------------------

// The state of a thread that sorts lines of n elements.
struct LineSorter {
  LineSorter(const EvaluationRun& run, const LaneFunction& function, const std::vector<Value>& operands,
             const KeyOrder* order, const Value* keys, int64_t n)
      : comparator(run, function, operands), operands(operands), indices(n), spare(n / 2) {
    if (order != nullptr) by_key.emplace(run, keys->element_type(), *order, n);
  }
  // Bytes of one; INT64_MAX if no memory could hold it.
  static int64_t BytesFor(int64_t n, bool has_order, bool is_unstable) {
    return SaturatingMultiply(
        n, 12 + (has_order ? KeySorter::kBytesPerElement : 0) + (is_unstable ? UnstableSorter::kBytesPerElement : 0));
  }
  // Puts the n indices of the line that begins with element `first` in order; `keys` are its keys.
  absl::Status Sort(int64_t first, const char* keys, int64_t n, bool is_unstable) {
    const auto is_same = [this, first](int64_t i, int64_t j) { return AreSame(first + i, first + j); };
    bool is_sorted = false;
    if (by_key.has_value()) {
      KASHI_ASSIGN_OR_RETURN(is_sorted, by_key->Sort(keys, indices.data()));
    }
    if (is_sorted) {
      const auto is_equal = [this](int64_t i, int64_t j) { return by_key->HaveEqualKeys(i, j); };
      if (is_unstable) unstable.Sort(indices.data(), n, is_equal, is_same);
      return absl::OkStatus();
    }
    std::iota(indices.begin(), indices.end(), 0);
    comparator.StartLine(first);
    if (n <= kMostInserted) {
      InsertionSort(indices.data(), n, comparator);
    } else {
      MergeSort(indices.data(), n, spare.data(), comparator);
    }
    KASHI_RETURN_IF_ERROR(comparator.status());
    const auto is_equal = [this](int64_t i, int64_t j) { return !comparator(i, j); };
    if (is_unstable) unstable.Sort(indices.data(), n, is_equal, is_same);
    return comparator.status();
  }
  // Whether two elements have the same bits in all operands.
  bool AreSame(int64_t i, int64_t j) const {
    return absl::c_all_of(operands, [i, j](const Value& x) {
      const int64_t bytes = x.element_bytes();
      return std::memcmp(x.bytes() + i * bytes, x.bytes() + j * bytes, bytes) == 0;
    });
  }

  Comparator comparator;
  const std::vector<Value>& operands;
  std::optional<KeySorter> by_key;
  UnstableSorter unstable;
  std::vector<int64_t> indices, spare;
};

// [outer, n, inner] -> [outer, inner, n], or back with n and inner exchanged.
absl::StatusOr<Value> SwapLastTwo(EvaluationRun& run, const Value& x, int64_t n, int64_t inner) {
  KASHI_ASSIGN_OR_RETURN(Value out, run.MakeArray(x.dense_shape()));
  KASHI_RETURN_IF_ERROR(literal::CopyStridedUntil(
      {x.element_count() / (n * inner), inner, n}, x.element_bytes(), {x.bytes(), {n * inner, 1, inner}},
      {out.mutable_bytes(), {n * inner, n, 1}}, [&run] { return run.CheckStopped(); }));
  return out;
}

// Sorts lines of n contiguous elements.
absl::StatusOr<std::vector<Value>> SortLines(const Operation& op, const LaneFunction& function,
                                             const std::vector<Value>& operands, int64_t n) {
  EvaluationRun& run = op.run;
  std::vector<Value> results(operands.size());
  Targets targets;
  for (size_t i = 0; i < operands.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(
        results[i], op.MakeResultOf(operands[i].element_type(), operands[i].dimensions(), static_cast<int64_t>(i)));
    targets.push_back(results[i].mutable_bytes());
  }
  std::optional<KeyOrder> order = FindKeyOrder(function, *op.instruction.to_apply());
  Value keys;
  if (order.has_value()) {
    KASHI_ASSIGN_OR_RETURN(keys, EvaluateKeys(run, *order, operands[order->operand]));
    const bool is_order = order->direction != ComparisonDirection::kEq && order->direction != ComparisonDirection::kNe;
    if (!is_order || !kernels::HasOrderKeys(keys.element_type())) order.reset();
  }
  const KeyOrder* const key_order = order.has_value() ? &*order : nullptr;
  const bool is_unstable = OrderOfEqualsShows(op, operands, key_order, n);
  const int64_t lines = operands[0].element_count() / n;
  const int64_t sorters_in_use = function.is_parallel() ? std::min<int64_t>(lines, base::ParallelThreadCount()) : 1;
  KASHI_ASSIGN_OR_RETURN(
      const ScratchMemory scratch,
      run.ReserveScratch(SaturatingMultiply(sorters_in_use, LineSorter::BytesFor(n, order.has_value(), is_unstable)),
                         op.instruction));
  kernels::PerThread<LineSorter> sorters;
  KASHI_RETURN_IF_ERROR(CheckedParallelFor(
      run, function.is_parallel(), lines, kernels::ParallelGrain(16 * n), [&](int64_t begin, int64_t end, int thread) {
        LineSorter& sorter = sorters.Get(thread, run, function, operands, key_order, &keys, n);
        for (int64_t line = begin; line < end; ++line) {
          const char* const line_keys = keys.is_array() ? keys.bytes() + line * n * keys.element_bytes() : nullptr;
          KASHI_RETURN_IF_ERROR(sorter.Sort(line * n, line_keys, n, is_unstable));
          const int64_t* const indices = sorter.indices.data();
          for (size_t i = 0; i < operands.size(); ++i) {
            const int64_t start = line * n * operands[i].element_bytes();
            kernels::GatherElements(operands[i].element_bytes(), operands[i].bytes() + start, indices,
                                    targets[i] + start, n);
          }
        }
        return absl::OkStatus();
      }));
  return results;
}

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kSort>(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const LaneFunction* function, op.run.Lanes(*op.instruction.to_apply()));
  const absl::Span<const PrimitiveType> parameters = function->parameter_types();
  const int64_t dimension = op.instruction.dimensions().empty() ? 0 : op.instruction.dimensions(0);
  const absl::Span<const int64_t> sizes = op.operands[0].dimensions();
  if (parameters.size() != 2 * op.operands.size() || function->result_types().size() != 1 ||
      function->result_types()[0] != PRED || dimension < 0 || (!sizes.empty() && dimension >= sizes.size())) {
    return InvalidArgument("The computation or dimension of %s does not fit its operands.", op.instruction.name());
  }
  std::vector<Value> operands;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (parameters[2 * i] != parameters[2 * i + 1] || op.operands[i].dimensions() != sizes) {
      return InvalidArgument("The computation of %s does not fit its operands.", op.instruction.name());
    }
    KASHI_ASSIGN_OR_RETURN(Value operand, op.run.Convert(op.operands[i], parameters[2 * i]));
    operands.push_back(std::move(operand));
  }
  const int64_t n = sizes.empty() ? 1 : sizes[dimension];
  if (operands[0].element_count() == 0 || n == 1) return MakeResults(op, std::move(operands));
  int64_t inner = 1;
  for (size_t i = dimension + 1; i < sizes.size(); ++i) inner *= sizes[i];
  for (Value& operand : operands) {
    if (inner == 1) break;
    KASHI_ASSIGN_OR_RETURN(operand, SwapLastTwo(op.run, operand, n, inner));
  }
  KASHI_ASSIGN_OR_RETURN(std::vector<Value> results, SortLines(op, *function, operands, n));
  for (Value& result : results) {
    if (inner == 1) break;
    KASHI_ASSIGN_OR_RETURN(result, SwapLastTwo(op.run, result, inner, n));
  }
  return MakeResults(op, std::move(results));
}

}  // namespace kashi::evaluator
