// select-and-scatter (docs/spec/hlo-ops.md, 3): each window selects one of its elements, to whose place in the result
// its source is scattered.
//
//   x = 1 1 2 1, size 2, stride 2, GE        windows (1 1) (2 1) select elements 0 and 2
//   source = 10 20, init = 0                 out = 10 0 20 0
//
// The selection works like reduce-window: for each offset of the window in row-major order, a run of windows at a time.
// The scatter visits the sources one by one in row-major order, because windows may select the same element.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/evaluator/fold.h"
#include "kashi/evaluator/window_walk.h"

namespace kashi::evaluator {
namespace {

// The elements that one row of windows has selected so far, and their positions (-1: none yet).
struct Selection {
  Selection(const LaneFunction& select, int64_t lanes, int element_bytes)
      : scratch(select, LaneFunction::kManyLanes),
        positions(lanes),
        is_kept(lanes),
        elements((lanes * element_bytes + 7) / 8),
        candidates(elements.size()) {}
  LaneFunction::Scratch scratch;
  std::vector<int64_t> positions;
  std::vector<char> is_kept;
  std::vector<double> elements, candidates;  // doubles for alignment only
};

// Lane j takes the candidate unless it has something that it keeps. Candidates are vectors of `width`, input_step
// vectors apart, from element `input` on.
template <typename T>
void TakeCandidates(const WindowWalk::Run& run, int64_t width, const char* is_kept, const T* candidates, T* elements,
                    int64_t* positions) {
  for (int64_t i = 0; i < run.count; ++i) {
    const int64_t position = run.input + i * run.input_step * width;
    for (int64_t k = 0; k < width; ++k) {
      const int64_t j = i * width + k;
      const bool takes = !is_kept[j] || positions[j] < 0;
      elements[j] = takes ? candidates[j] : elements[j];
      positions[j] = takes ? position + k : positions[j];
    }
  }
}

class SelectAndScatter {
 public:
  SelectAndScatter(const WindowWalk& walk, const Value& x, const Value& source, const LaneFunction& select,
                   const LaneFunction& scatter, char* out, int out_bytes)
      : walk_(walk), x_(x), source_(source), select_(select), scatter_(scatter), out_(out), out_bytes_(out_bytes) {}

  absl::Status Run(const EvaluationRun& run) {
    const int64_t rows_per_part = walk_.rows() / walk_.parts();
    return CheckedParallelFor(run, select_.is_parallel() && scatter_.is_parallel(), walk_.parts(),
                              kernels::ParallelGrain(4 * walk_.part_outputs()), [&](int64_t begin, int64_t end, int) {
                                return RunRows(run, begin * rows_per_part, end * rows_per_part);
                              });
  }

 private:
  absl::Status RunRows(const EvaluationRun& run, int64_t begin, int64_t end) {
    // Blocks of a row, so that their selected elements stay in the cache.
    const int64_t block = std::clamp<int64_t>(4096 / walk_.width(), 1, walk_.row_outputs());
    Selection selection(select_, block * walk_.width(), x_.element_bytes());
    LaneFold scatter(scatter_, 1);
    for (int64_t row = begin; row < end; ++row) {
      KASHI_RETURN_IF_ERROR(run.CheckStopped());
      for (int64_t o = 0; o < walk_.row_outputs(); o += block) {
        const int64_t last = std::min(o + block, walk_.row_outputs());
        KASHI_RETURN_IF_ERROR(Select(run, row, o, last, selection));
        const int64_t first_source = row * walk_.row_elements() + o * walk_.width();
        KASHI_RETURN_IF_ERROR(Scatter(first_source, (last - o) * walk_.width(), selection, scatter));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Select(const EvaluationRun& evaluation, int64_t row, int64_t begin, int64_t end, Selection& selection) {
    std::fill_n(selection.positions.begin(), (end - begin) * walk_.width(), -1);
    return walk_.VisitRow(evaluation, row, begin, end, [&](const WindowWalk::Run& run) {
      if (run.output_step == 1) return SelectRun(run, run.output - begin, selection);
      for (int64_t i = 0; i < run.count; ++i) {
        const WindowWalk::Run one = {0, 1, run.input + i * run.input_step * walk_.width(), 1, 1};
        KASHI_RETURN_IF_ERROR(SelectRun(one, run.output + i * run.output_step - begin, selection));
      }
      return absl::OkStatus();
    });
  }

  // The windows of outputs `first` and following.
  absl::Status SelectRun(const WindowWalk::Run& run, int64_t first, Selection& selection) {
    const int bytes = x_.element_bytes();
    const int64_t width = walk_.width(), lanes = run.count * width;
    char* const elements = reinterpret_cast<char*>(selection.elements.data()) + first * width * bytes;
    int64_t* const positions = selection.positions.data() + first * width;
    const char* candidates = x_.bytes() + run.input * bytes;
    if (run.input_step != 1) {
      char* const gathered = reinterpret_cast<char*>(selection.candidates.data());
      literal::CopyStrided({run.count, width}, bytes, {candidates, {run.input_step * width, 1}},
                           {gathered, {width, 1}});
      candidates = gathered;
    }
    KASHI_RETURN_IF_ERROR(select_.Run(selection.scratch, {elements, candidates}, {selection.is_kept.data()}, lanes));
    kernels::SwitchBytes(bytes, [&](auto type) {
      using T = decltype(type);
      TakeCandidates<T>(run, width, selection.is_kept.data(), reinterpret_cast<const T*>(candidates),
                        reinterpret_cast<T*>(elements), positions);
    });
    return absl::OkStatus();
  }

  absl::Status Scatter(int64_t first_source, int64_t n, const Selection& selection, LaneFold& scatter) {
    const char* source = source_.bytes() + first_source * source_.element_bytes();
    for (int64_t j = 0; j < n; ++j, source += source_.element_bytes()) {
      const int64_t position = selection.positions[j];
      if (position < 0) continue;  // a window wholly in the padding
      KASHI_RETURN_IF_ERROR(scatter.Run({out_ + position * out_bytes_}, {source}, 1));
    }
    return absl::OkStatus();
  }

  const WindowWalk& walk_;
  const Value& x_;
  const Value& source_;
  const LaneFunction& select_;
  const LaneFunction& scatter_;
  char* out_;
  int out_bytes_;
};

}  // namespace

template <>
absl::StatusOr<Value> Evaluate<HloOpcode::kSelectAndScatter>(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const LaneFunction* select, op.run.Lanes(*op.instruction.select()));
  KASHI_ASSIGN_OR_RETURN(const LaneFunction* scatter, op.run.Lanes(*op.instruction.scatter()));
  const absl::Span<const PrimitiveType> selected = select->parameter_types(), scattered = scatter->parameter_types();
  if (selected.size() != 2 || selected[0] != selected[1] || select->result_types().size() != 1 ||
      select->result_types()[0] != PRED || scattered.size() != 2 || scatter->result_types().size() != 1 ||
      scatter->result_types()[0] != scattered[0]) {
    return InvalidArgument("The computations of %s do not fit its operands.", op.instruction.name());
  }
  KASHI_ASSIGN_OR_RETURN(const Value x, op.run.Convert(op.operands[0], selected[0]));
  KASHI_ASSIGN_OR_RETURN(const Value source, op.run.Convert(op.operands[1], scattered[1]));
  KASHI_ASSIGN_OR_RETURN(const Value init, op.run.Convert(op.operands[2], scattered[0]));
  KASHI_ASSIGN_OR_RETURN(Value out, op.MakeResultOf(scattered[0], x.dimensions()));
  kernels::FillElements(out.element_bytes(), init.untyped_data(), out.mutable_bytes(), out.element_count());
  KASHI_ASSIGN_OR_RETURN(const WindowWalk walk, WindowWalk::Make(op.instruction, x.dimensions(), source.dimensions()));
  if (x.element_count() > 0 && source.element_count() > 0) {
    SelectAndScatter steps(walk, x, source, *select, *scatter, out.mutable_bytes(), out.element_bytes());
    KASHI_RETURN_IF_ERROR(steps.Run(op.run));
  }
  std::vector<Value> results;
  results.push_back(std::move(out));
  return MakeResults(op, std::move(results));
}

}  // namespace kashi::evaluator
