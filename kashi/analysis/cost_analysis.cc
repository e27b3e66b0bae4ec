#include "kashi/analysis/cost_analysis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

constexpr double kFmaFlops = 2;

// ---- Sizes. Products of a hostile module's dimensions may be beyond any integer, so they are doubles, and finite ones:
// infinities would make NaNs.

double Saturate(double count) { return std::min(count, std::numeric_limits<double>::max()); }

double Elements(const Shape& shape) {
  if (!shape.IsArray()) return 0;
  double count = 1;
  for (int64_t size : shape.dimensions()) count = Saturate(count * static_cast<double>(std::max<int64_t>(size, 0)));
  return count;
}

constexpr double kPointerBytes = 8;

// Of an array, without padding; each bounded dimension has its size beside the data. Of a tuple the table of pointers:
// an operand that is one is looked at, but not read.
double Bytes(const Shape& shape) {
  if (shape.IsTuple()) return kPointerBytes * shape.tuple_shapes_size();
  if (shape.IsOpaque()) return kPointerBytes;
  if (!shape.IsArray()) return 0;
  const double bits = Elements(shape) * static_cast<double>(ShapeUtil::ElementSizeInBits(shape));
  double size_bytes = 0;
  for (bool is_dynamic : shape.dynamic_dimensions()) size_bytes += is_dynamic ? sizeof(int32_t) : 0;
  return std::ceil(bits / 8) + size_bytes;
}

template <typename F>
double SumOverLeaves(const Shape& shape, F value_of) {
  double sum = 0;
  std::vector<const Shape*> rest = {&shape};
  while (!rest.empty()) {
    const Shape& next = *rest.back();
    rest.pop_back();
    if (!next.IsTuple()) {
      sum += value_of(next);
      continue;
    }
    for (const Shape& element : next.tuple_shapes()) rest.push_back(&element);
  }
  return sum;
}
double ElementsOfAll(const Shape& shape) { return SumOverLeaves(shape, Elements); }
// Of a result: all its arrays, but no tables.
double ResultBytes(const Shape& shape) { return shape.IsTuple() ? SumOverLeaves(shape, Bytes) : Bytes(shape); }

double OperandBytes(const HloInstruction& instruction, int64_t i) {
  return i < instruction.operand_count() ? Bytes(instruction.operand(i)->shape()) : 0;
}

// The first result of an operation that may have several.
const Shape& FirstArray(const Shape& shape) {
  return shape.IsTuple() && shape.tuple_shapes_size() > 0 ? shape.tuple_shapes(0) : shape;
}

double WindowElements(const Window& window) {
  double count = 1;
  for (const WindowDimension& dimension : window.dimensions()) {
    count = Saturate(count * static_cast<double>(std::max<int64_t>(dimension.size(), 0)));
  }
  return count;
}

double Product(const Shape& shape, absl::Span<const int64_t> dimensions) {
  double product = 1;
  for (int64_t d : dimensions) {
    if (d < 0 || d >= shape.dimensions_size()) continue;
    product = Saturate(product * static_cast<double>(std::max<int64_t>(shape.dimensions(d), 0)));
  }
  return product;
}

bool IsTranscendental(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAcos:
    case HloOpcode::kAcosh:
    case HloOpcode::kAsin:
    case HloOpcode::kAsinh:
    case HloOpcode::kAtan2:
    case HloOpcode::kAtanh:
    case HloOpcode::kCbrt:
    case HloOpcode::kCos:
    case HloOpcode::kCosh:
    case HloOpcode::kErf:
    case HloOpcode::kExp:
    case HloOpcode::kExpm1:
    case HloOpcode::kLog:
    case HloOpcode::kLog1p:
    case HloOpcode::kLogistic:
    case HloOpcode::kPower:
    case HloOpcode::kRsqrt:
    case HloOpcode::kSin:
    case HloOpcode::kSinh:
    case HloOpcode::kSqrt:
    case HloOpcode::kTan:
    case HloOpcode::kTanh:
      return true;
    default:
      return false;
  }
}

// A wide integer for products of two numbers from a file.
using Wide = __int128;

// The least x >= 0 with a * x ≡ c (mod m), for 0 <= a < m and gcd(a, m) = 1.
Wide SolveCongruence(Wide a, Wide c, Wide m) {
  Wide r0 = m, r1 = a, t0 = 0, t1 = 1;  // Euclid: t1 * a ≡ r1 (mod m)
  while (r1 != 0) {
    const Wide quotient = r0 / r1;
    r0 = std::exchange(r1, r0 - quotient * r1);
    t0 = std::exchange(t1, t0 - quotient * t1);
  }
  const Wide inverse = (t0 % m + m) % m;
  return inverse * ((c % m + m) % m) % m;
}

// The sum over 0 <= t < count of floor((step * t + start) / divisor), none of them negative. O(log).
Wide FloorSum(Wide count, Wide divisor, Wide step, Wide start) {
  Wide sum = 0;
  while (count > 0) {
    sum += (count - 1) * count / 2 * (step / divisor) + count * (start / divisor);
    step %= divisor;
    start %= divisor;
    const Wide last = step * count + start;  // the same with axes exchanged, as in Euclid's algorithm
    count = last / divisor;
    start = last % divisor;
    std::swap(divisor, step);
  }
  return sum;
}

// How many pairs (i, j), 0 <= i < columns, 0 <= j < rows, have width * i + height * j < limit. O(log).
Wide PointsBelow(Wide columns, Wide rows, Wide width, Wide height, Wide limit) {
  if (columns <= 0 || rows <= 0 || limit <= 0) return 0;
  const Wide reached = std::min(rows, CeilOfRatio(limit, height));  // rows with any
  const Wide beyond_full = limit - width * (columns - 1);
  const Wide full = beyond_full <= 0 ? 0 : std::min(reached, CeilOfRatio(beyond_full, height));
  const Wide partial = reached - full;
  return columns * full + partial + FloorSum(partial, width, height, limit - height * (reached - 1) - 1);
}

// How many pairs of an output position and a kernel position of one spatial dimension fall on an element of the input,
// not on its padding nor between dilated elements: o and k such that x = stride * o + window_dilation * k - padding_low
// is in [0, input * base_dilation) and divisible by the base dilation. Positions k that are the same modulo the
// dilation meet the same o, again a period apart, so they are counted together. For numbers that no machine could hold:
// as if all did.
double ValidPositions(int64_t input, int64_t output, const WindowDimension& window) {
  constexpr int64_t kMaxNumber = int64_t{1} << 31;
  constexpr int64_t kMaxPeriod = 64;
  const int64_t stride = window.stride(), dilation = window.base_dilation(), step = window.window_dilation();
  if (stride <= 0 || dilation <= 0 || step <= 0 || window.size() <= 0) return 0;
  const int64_t kernel_period = dilation / std::gcd(step, dilation);
  const int64_t largest = std::max({input, output, stride, dilation, step, window.size()});
  if (largest > kMaxNumber || std::min(kernel_period, window.size()) > kMaxPeriod ||
      window.padding_low() > kMaxNumber || window.padding_low() < -kMaxNumber) {
    return static_cast<double>(window.size()) * static_cast<double>(output);
  }
  const int64_t common = std::gcd(stride, dilation), output_period = dilation / common;
  Wide count = 0;
  for (int64_t k = 0; k < std::min(kernel_period, window.size()); ++k) {
    const int64_t offset = k * step - window.padding_low();
    if (offset % common != 0) continue;
    const Wide o = SolveCongruence(stride / common % output_period, -offset / common, output_period);
    const Wide columns = o < output ? CeilOfRatio<Wide>(output - o, output_period) : 0;
    const Wide rows = CeilOfRatio(window.size() - k, kernel_period);
    const Wide first = stride * o + offset;
    const Wide width = static_cast<Wide>(stride) * output_period, height = static_cast<Wide>(step) * kernel_period;
    count += PointsBelow(columns, rows, width, height, static_cast<Wide>(input) * dilation - first) -
             PointsBelow(columns, rows, width, height, -first);
  }
  return static_cast<double>(count);
}

// ---- What fusions read.

// What is known of a fused computation, whoever calls it.
struct FusedFacts {
  // Bytes read of each parameter, by number. What looks at a part reads that part; whoever looks at all shares one
  // reading; what is updated in place is not read. Of a tuple the table and what is read of its elements.
  std::vector<double> reads;
  double all_reads = 0;
  double table_bytes = 0;  // of constants; a single number is in the code
  // Written for the root; for the elements of a root that is a tuple instruction.
  double written_bytes = 0;
  double element_written_bytes = 0;
  const HloInstruction* gather_or_scatter = nullptr;  // the first
};
using FusedFactsMap = absl::flat_hash_map<const HloComputation*, FusedFacts>;

double WrittenBytes(const HloInstruction& result) {
  return result.opcode() == HloOpcode::kDynamicUpdateSlice ? OperandBytes(result, 1) : ResultBytes(result.shape());
}

class FusedReads {
 public:
  FusedReads(const HloComputation& fused, const FusedFactsMap& nested) : nested_(nested) {
    const std::vector<HloInstruction*> order = fused.MakeInstructionPostOrder();
    for (auto instruction = order.rbegin(); instruction != order.rend(); ++instruction) PassOn(**instruction);
    for (const HloInstruction* parameter : fused.parameter_instructions()) reads_.push_back(Total(*parameter));
  }
  std::vector<double> Take() && { return std::move(reads_); }

 private:
  struct Read {
    double parts = 0;
    bool whole = false;
  };

  double Total(const HloInstruction& instruction) {
    const Read& read = Of(instruction);
    return read.parts + (read.whole ? Bytes(instruction.shape()) : 0);
  }
  Read& Of(const HloInstruction& instruction) {
    if (instruction.local_id() >= by_id_.size()) by_id_.resize(instruction.local_id() + 1);
    return by_id_[instruction.local_id()];
  }
  // All users of the instruction have told what they read of it; now it tells its operands.
  void PassOn(const HloInstruction& instruction) {
    const auto read_whole = [&](int64_t first) {
      for (int64_t i = first; i < instruction.operand_count(); ++i) Of(*instruction.operand(i)).whole = true;
    };
    if (instruction.operand_count() == 0) return;
    Read& first = Of(*instruction.operand(0));
    switch (instruction.opcode()) {
      case HloOpcode::kSlice:
      case HloOpcode::kDynamicSlice:
        first.parts += Bytes(instruction.shape());
        return read_whole(1);
      case HloOpcode::kDynamicUpdateSlice:
        return read_whole(1);
      case HloOpcode::kGetTupleElement: {
        const double total = Total(instruction);
        Read& tuple = Of(*instruction.operand(0));
        tuple.parts += total;
        tuple.whole = true;
        return;
      }
      case HloOpcode::kFusion:
        return PassOnFusion(instruction);
      default:
        return read_whole(0);
    }
  }
  void PassOnFusion(const HloInstruction& fusion) {
    const auto found =
        fusion.called_computations().empty() ? nested_.end() : nested_.find(fusion.called_computations()[0]);
    for (int64_t i = 0; i < fusion.operand_count(); ++i) {
      if (found == nested_.end() || i >= found->second.reads.size()) {
        Of(*fusion.operand(i)).whole = true;
      } else {
        Of(*fusion.operand(i)).parts += found->second.reads[i];
      }
    }
  }

  const FusedFactsMap& nested_;
  std::vector<Read> by_id_;
  std::vector<double> reads_;
};

FusedFacts FactsOf(const HloComputation& fused, const FusedFactsMap& nested) {
  FusedFacts facts;
  facts.reads = FusedReads(fused, nested).Take();
  for (double bytes : facts.reads) facts.all_reads += bytes;
  for (const HloInstruction* instruction : fused.instructions()) {
    const bool is_table = instruction->IsConstant() && !ShapeUtil::IsEffectiveScalar(instruction->shape());
    if (is_table) facts.table_bytes += ResultBytes(instruction->shape());
    const bool is_indexed = instruction->opcode() == HloOpcode::kGather || instruction->opcode() == HloOpcode::kScatter;
    if (is_indexed && facts.gather_or_scatter == nullptr) facts.gather_or_scatter = instruction;
  }
  const HloInstruction& root = *fused.root_instruction();
  facts.written_bytes = facts.element_written_bytes = WrittenBytes(root);
  if (root.opcode() != HloOpcode::kTuple) return facts;
  facts.element_written_bytes = 0;
  for (const HloInstruction* result : root.operands()) facts.element_written_bytes += WrittenBytes(*result);
  return facts;
}

// ---- One instruction.

class Counter {
 public:
  using InstructionCosts = absl::flat_hash_map<const HloInstruction*, Cost>;
  using ComputationCosts = absl::flat_hash_map<const HloComputation*, Cost>;

  Counter(const HloInstruction& instruction, const InstructionCosts& instructions, const ComputationCosts& computations,
          const FusedFactsMap& fused)
      : instruction_(instruction), instructions_(instructions), computations_(computations), fused_(fused) {}

  Cost Count() {
    cost_.bytes_accessed = ResultBytes(instruction_.shape());
    for (const HloInstruction* operand : instruction_.operands()) cost_.bytes_accessed += Bytes(operand->shape());
    Handle();
    return Cost() + cost_;  // within bounds
  }

 private:
  const Shape& shape() const { return instruction_.shape(); }
  const Shape& operand_shape(int64_t i) const {
    return i < instruction_.operand_count() ? instruction_.operand(i)->shape() : shape();
  }
  Cost Callee(size_t i) const {
    const auto callees = instruction_.called_computations();
    if (i >= callees.size()) return {};
    return computations_.at(callees[i]);
  }
  // So many runs of a computation on elements: what it reads and writes stays in registers.
  void AddRuns(size_t callee, double times) {
    const Cost runs = Callee(callee) * std::max(times, 0.0);
    cost_.flops += runs.flops;
    cost_.transcendentals += runs.transcendentals;
    cost_.unknown += runs.unknown;
  }

  void Handle() {
    const HloOpcode opcode = instruction_.opcode();
    switch (opcode) {
      // What moves no data.
      case HloOpcode::kAddDependency:
      case HloOpcode::kAfterAll:
      case HloOpcode::kBitcast:
      case HloOpcode::kConstant:
      case HloOpcode::kDomain:
      case HloOpcode::kGetTupleElement:
      case HloOpcode::kParameter:
        cost_.bytes_accessed = 0;
        return;
      case HloOpcode::kCustomCall:
        cost_ = {};
        cost_.unknown = 1;
        return;
      case HloOpcode::kTranspose:  // one that the layouts undo is a bitcast
        if (IsBitcast()) cost_.bytes_accessed = 0;
        return;
      case HloOpcode::kTuple:
        cost_.bytes_accessed = Bytes(shape());
        return;

      // What looks at a part of an operand.
      case HloOpcode::kSlice:
        cost_.bytes_accessed = 2 * Bytes(shape());
        return;
      case HloOpcode::kDynamicSlice:
      case HloOpcode::kGather:
        cost_.bytes_accessed = 2 * Bytes(shape()) + OperandBytes(instruction_, 1);
        return;
      case HloOpcode::kDynamicUpdateSlice:
        cost_.bytes_accessed = 2 * OperandBytes(instruction_, 1) + OperandBytes(instruction_, 2);
        return;
      case HloOpcode::kScatter:
        return HandleScatter();

      // What runs a computation on elements.
      case HloOpcode::kMap:
        return AddRuns(0, Elements(shape()));
      case HloOpcode::kReduce:
        return AddRuns(0, Elements(operand_shape(0)) - Elements(FirstArray(shape())));
      case HloOpcode::kReduceWindow:
        return AddRuns(0, (WindowElements(instruction_.window()) - 1) * Elements(FirstArray(shape())));
      case HloOpcode::kSelectAndScatter: {
        const double sources = Elements(operand_shape(1));
        AddRuns(0, sources * (WindowElements(instruction_.window()) - 1));
        return AddRuns(1, sources);
      }
      case HloOpcode::kSort: {  // as if by comparisons
        const double elements = Elements(operand_shape(0));
        cost_.flops = elements * Log2Ceiling(static_cast<uint64_t>(std::min(elements, 0x1p63)));
        return;
      }

      // Linear algebra.
      case HloOpcode::kDot:
        cost_.flops = DotFlops(instruction_);
        return;
      case HloOpcode::kConvolution:
        cost_.flops = ConvolutionFlops(instruction_);
        return;
      case HloOpcode::kFft:
        return HandleFft();
      case HloOpcode::kCholesky: {
        const Shape& a = operand_shape(0);
        cost_.bytes_accessed = std::floor(Bytes(shape()) / 2) + std::floor(Bytes(a) / 2);
        if (a.dimensions_size() > 0) cost_.flops = std::floor(LastSize(a) * Elements(a) / 3);
        return;
      }
      case HloOpcode::kTriangularSolve: {
        const Shape& a = operand_shape(0);
        cost_.bytes_accessed = Bytes(shape()) + std::floor(Bytes(a) / 2) + OperandBytes(instruction_, 1);
        if (a.dimensions_size() > 0) cost_.flops = kFmaFlops * LastSize(a) * Elements(operand_shape(1));
        return;
      }

      // Between devices.
      case HloOpcode::kAllReduce:
      case HloOpcode::kAllReduceStart:  // as if of two members
        cost_.flops = ElementsOfAll(shape());
        return;

      case HloOpcode::kRng:
        cost_.transcendentals = Elements(shape());
        return;
      case HloOpcode::kRngBitGenerator:
        cost_.transcendentals = ElementsOfAll(shape());
        return;

      // Control flow.
      case HloOpcode::kCall:
      case HloOpcode::kAsyncStart:
        cost_ = Callee(0);
        return;
      case HloOpcode::kWhile:
        cost_ = Callee(0) + Callee(1);
        return;
      case HloOpcode::kConditional:
        cost_ = {};
        for (size_t i = 0; i < instruction_.called_computations().size(); ++i) {
          const Cost branch = Callee(i);
          cost_.flops = std::max(cost_.flops, branch.flops);
          cost_.transcendentals = std::max(cost_.transcendentals, branch.transcendentals);
          cost_.bytes_accessed = std::max(cost_.bytes_accessed, branch.bytes_accessed);
          cost_.unknown = std::max(cost_.unknown, branch.unknown);
        }
        return;
      case HloOpcode::kFusion:
        return HandleFusion();

      default:
        if (!instruction_.IsElementwise()) return;
        if (IsTranscendental(opcode)) {
          cost_.transcendentals = Elements(shape());
        } else if (opcode != HloOpcode::kCopy) {
          cost_.flops = Elements(shape());
        }
        return;
    }
  }

  bool IsBitcast() const {
    const Shape& operand = operand_shape(0);
    return operand.has_layout() && shape().has_layout() &&
           ShapeUtil::TransposeIsBitcast(operand, shape(), instruction_.dimensions());
  }

  static double LastSize(const Shape& array) {
    return static_cast<double>(array.dimensions(array.dimensions_size() - 1));
  }

  void HandleScatter() {
    const int64_t count = (instruction_.operand_count() - 1) / 2;
    cost_.bytes_accessed = OperandBytes(instruction_, count);
    for (int64_t i = count + 1; i < instruction_.operand_count(); ++i) {
      cost_.bytes_accessed += 3 * OperandBytes(instruction_, i);  // the updates, and what they change, read and written
    }
    AddRuns(0, Elements(operand_shape(count + 1)));
  }

  void HandleFft() {
    double log_factor = 1;
    for (int64_t length : instruction_.fft_length()) {
      log_factor = Saturate(log_factor * Log2Floor(static_cast<uint64_t>(std::max<int64_t>(length, 1))));
    }
    constexpr double kFmaPerComplexProduct = 4;
    cost_.flops = kFmaFlops * kFmaPerComplexProduct * log_factor * Elements(operand_shape(0));
  }

  // ---- Fusions.

  void HandleFusion() {
    cost_ = Callee(0);
    if (instruction_.called_computations().empty()) return;
    const FusedFacts& fused = fused_.at(instruction_.called_computations()[0]);
    // One that is there for the sake of a gather or a scatter costs what that costs.
    if (instruction_.IsCustomFusion() && fused.gather_or_scatter != nullptr) {
      cost_ = instructions_.at(fused.gather_or_scatter);
      return;
    }
    cost_.bytes_accessed =
        (shape().IsTuple() ? fused.element_written_bytes : fused.written_bytes) + fused.all_reads + fused.table_bytes;
  }

  const HloInstruction& instruction_;
  const InstructionCosts& instructions_;
  const ComputationCosts& computations_;
  const FusedFactsMap& fused_;
  Cost cost_;
};

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  flops = Saturate(flops + other.flops);
  transcendentals = Saturate(transcendentals + other.transcendentals);
  bytes_accessed = Saturate(bytes_accessed + other.bytes_accessed);
  unknown = Saturate(unknown + other.unknown);
  return *this;
}

Cost operator*(Cost a, double times) {
  a.flops = Saturate(a.flops * times);
  a.transcendentals = Saturate(a.transcendentals * times);
  a.bytes_accessed = Saturate(a.bytes_accessed * times);
  a.unknown = Saturate(a.unknown * times);
  return a;
}

double DotFlops(const HloInstruction& dot) {
  if (dot.operand_count() < 1) return 0;
  const auto& contracted = dot.dot_dimension_numbers().lhs_contracting_dimensions();
  const double width = Product(dot.operand(0)->shape(), std::vector<int64_t>(contracted.begin(), contracted.end()));
  return kFmaFlops * Elements(dot.shape()) * width;
}

double ConvolutionFlops(const HloInstruction& convolution) {
  const ConvolutionDimensionNumbers& numbers = convolution.convolution_dimension_numbers();
  if (convolution.operand_count() < 2) return 0;
  const Shape& input = convolution.operand(0)->shape();
  const Shape& output = convolution.shape();
  const auto size = [](const Shape& shape, int64_t d) {
    return d >= 0 && d < shape.dimensions_size() ? std::max<int64_t>(shape.dimensions(d), 0) : int64_t{0};
  };
  double positions = 1;
  const Window& window = convolution.window();
  for (int i = 0; i < window.dimensions_size(); ++i) {
    if (i >= numbers.input_spatial_dimensions_size() || i >= numbers.output_spatial_dimensions_size()) return 0;
    positions *= ValidPositions(size(input, numbers.input_spatial_dimensions(i)),
                                size(output, numbers.output_spatial_dimensions(i)), window.dimensions(i));
  }
  const int64_t features =
      size(input, numbers.input_feature_dimension()) / std::max<int64_t>(convolution.feature_group_count(), 1);
  const int64_t batch =
      size(input, numbers.input_batch_dimension()) / std::max<int64_t>(convolution.batch_group_count(), 1);
  return kFmaFlops * static_cast<double>(features) * static_cast<double>(batch) * positions *
         static_cast<double>(size(output, numbers.output_feature_dimension()));
}

absl::StatusOr<CostAnalysis> CostAnalysis::Run(const HloModule& module) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  CostAnalysis result;
  FusedFactsMap facts;
  absl::flat_hash_set<const HloComputation*> fused;  // whatever a fusion calls, also if it does not know that it is one
  for (const CallGraph::Node& node : graph.nodes()) {
    for (const HloInstruction* instruction : node.computation->instructions()) {
      if (instruction->opcode() != HloOpcode::kFusion) continue;
      for (const HloComputation* callee : instruction->called_computations()) fused.insert(callee);
    }
  }
  for (const CallGraph::Node& node : graph.nodes()) {
    Cost sum;
    for (const HloInstruction* instruction : node.computation->instructions()) {
      const Cost cost = Counter(*instruction, result.costs_, result.computation_costs_, facts).Count();
      result.costs_.emplace(instruction, cost);
      sum += cost;
    }
    result.computation_costs_.emplace(node.computation, sum);
    if (fused.contains(node.computation)) facts.emplace(node.computation, FactsOf(*node.computation, facts));
  }
  result.total_ = result.computation_costs_.at(module.entry_computation());
  return result;
}

}  // namespace kashi
