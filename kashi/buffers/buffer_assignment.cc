#include "kashi/buffers/buffer_assignment.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace kashi::buffers {
namespace {

// The steps as text, a line each.
class StepPrinter {
 public:
  explicit StepPrinter(const BufferAssignment& assignment) : assignment_(assignment) {}

  void Print(const BufferSequence& steps) {
    for (const BufferStep& step : steps) Print(step);
  }
  std::string text() && { return std::move(text_); }

 private:
  void Print(const BufferStep& step) {
    for (const BufferStep::Move& move : step.moves) Line("copy", {{move.from}}, {move.to});
    switch (step.kind) {
      case BufferStep::Kind::kMoves:
        return;
      case BufferStep::Kind::kInstruction:
        return Line(step.instruction->name(), step.operands, step.results);
      case BufferStep::Kind::kWhile:
        Line(absl::StrCat(step.instruction->name(), ": while"), {}, {});
        Within(step.computations[0]);
        ++depth_;
        Line("leave unless", {{step.selector}}, {});
        --depth_;
        Within(step.computations[1]);
        ++depth_;
        for (const BufferStep::Move& swap : step.swaps) Line("swap", {{swap.from, swap.to}}, {});
        --depth_;
        return;
      case BufferStep::Kind::kConditional:
        for (size_t i = 0; i < step.computations.size(); ++i) {
          Line(absl::StrCat(step.instruction->name(), ": branch ", i, " of"), {{step.selector}}, {});
          Within(step.computations[i]);
        }
    }
  }
  void Within(const BufferSequence& steps) {
    ++depth_;
    Print(steps);
    --depth_;
  }
  void Line(absl::string_view what, const std::vector<Leaves>& operands, const Leaves& results) {
    const auto name = [this](std::string* out, int buffer) { absl::StrAppend(out, assignment_.NameOf(buffer)); };
    Leaves all;
    for (const Leaves& operand : operands) all.insert(all.end(), operand.begin(), operand.end());
    absl::StrAppend(&text_, std::string(2 * depth_, ' '), what, all.empty() ? "" : "  ", absl::StrJoin(all, ", ", name),
                    results.empty() ? "" : " -> ", absl::StrJoin(results, ", ", name), "\n");
  }

  const BufferAssignment& assignment_;
  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::string BufferAssignment::NameOf(int buffer) const {
  static constexpr const char* kHomes[] = {"arena+", "argument ", "result ", "constant "};
  const Buffer& b = buffers[buffer];
  if (b.lies_in >= 0) return absl::StrCat("in result ", b.lies_in);
  return absl::StrCat(kHomes[static_cast<int>(b.home)], b.home == Home::kArena ? b.offset : b.number);
}

std::string BufferAssignment::StepsToString() const {
  StepPrinter printer(*this);
  printer.Print(steps);
  return std::move(printer).text();
}

std::string BufferAssignment::BuffersToString() const {
  std::string text = absl::StrCat("arena: ", arena_bytes, " bytes\n");
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& b = buffers[i];
    absl::StrAppend(&text, NameOf(static_cast<int>(i)), ": ", b.bytes, " bytes");
    if (b.home == Home::kArena) absl::StrAppend(&text, ", from ", b.first, " to ", b.last);
    if (b.maker != nullptr) absl::StrAppend(&text, ", ", b.maker->name());
    absl::StrAppend(&text, "\n");
  }
  for (const Update& update : updates) {
    absl::StrAppend(&text, "result ", update.result, " begins as argument ", update.argument, "\n");
  }
  for (const LeafAlias& alias : aliases) {
    absl::StrAppend(&text, "result ", alias.result, " may lie in argument ", alias.argument, "\n");
  }
  return text;
}

}  // namespace kashi::buffers
