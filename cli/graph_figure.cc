#include "cli/graph_figure.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/device_size.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::cli {
namespace {

constexpr int64_t kDeepestBox = 40;     // a computation that would lie deeper is drawn beside the entry
constexpr size_t kMostScopeParts = 16;  // of them, the outermost

using Instructions = std::vector<const HloInstruction*>;

// Of one computation: the scopes that are shown, as a tree. Scope 0 is the computation itself.
class ScopeTree {
 public:
  ScopeTree(const Instructions& instructions, const ScopeOf& scope_of) : scopes_(1) {
    const absl::flat_hash_set<const HloInstruction*> shown(instructions.begin(), instructions.end());
    for (auto each = instructions.rbegin(); each != instructions.rend(); ++each) {  // users first
      const HloInstruction& instruction = **each;
      std::vector<int64_t>& places = places_[&instruction];
      if (instruction.operands().empty()) {
        for (const HloInstruction* user : instruction.users()) {
          if (shown.count(user) > 0) places.push_back(places_.at(user).front());
        }
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        if (places.empty()) places = {0};
      } else {
        const bool gathers_results = instruction.IsRoot() && instruction.opcode() == HloOpcode::kTuple;
        places = {gathers_results ? 0 : Find(scope_of(instruction))};
      }
      for (const int64_t place : places) ++scopes_[place].own;
    }
  }

  struct Scope {
    int64_t parent = -1;
    std::string name;
    std::vector<int64_t> children;
    int64_t own = 0;  // instructions that are directly in it
  };
  const std::vector<Scope>& scopes() const { return scopes_; }
  // Where an instruction is drawn; a parameter or constant may be at several places.
  const std::vector<int64_t>& PlacesOf(const HloInstruction* instruction) const { return places_.at(instruction); }
  // A scope that holds nothing but another scope is not a box of its own.
  bool IsOnlyAWay(int64_t scope) const { return scopes_[scope].own == 0 && scopes_[scope].children.size() == 1; }
  // A scope with one instruction says nothing either.
  bool IsBox(int64_t scope) const {
    return scope > 0 && !IsOnlyAWay(scope) && (scopes_[scope].own > 1 || !scopes_[scope].children.empty());
  }

 private:
  int64_t Find(const std::vector<std::string>& parts) {
    int64_t at = 0;
    for (size_t i = 0; i < std::min(parts.size(), kMostScopeParts); ++i) {
      const auto [found, is_new] = numbers_.try_emplace({at, parts[i]}, static_cast<int64_t>(scopes_.size()));
      if (is_new) {
        scopes_[at].children.push_back(found->second);
        scopes_.push_back({at, parts[i], {}, 0});
      }
      at = found->second;
    }
    return at;
  }

  std::vector<Scope> scopes_;
  std::map<std::pair<int64_t, std::string>, int64_t> numbers_;
  absl::flat_hash_map<const HloInstruction*, std::vector<int64_t>> places_;
};

double BytesOfShape(const Shape& shape) {
  const absl::StatusOr<DeviceSize> size = GetDeviceSize(shape);
  return size.ok() ? static_cast<double>(size->bytes) : 0;
}

class FigureBuilder {
 public:
  FigureBuilder(const HloModule& module, absl::Span<const HloInstruction* const> shown, const ScopeOf& scope_of)
      : module_(module), scope_of_(scope_of) {
    figure_.boxes.emplace_back();
    for (const HloInstruction* instruction : shown) {
      const auto [found, is_new] = instructions_.try_emplace(instruction->parent());
      found->second.push_back(instruction);
      if (is_new) computations_.push_back(instruction->parent());
    }
  }

  GraphFigure Build() {
    CollectCallers();
    // Callers before callees, so that the box of a caller is there.
    for (auto each = computations_.rbegin(); each != computations_.rend(); ++each) AddComputation(**each);
    AddLines();
    return std::move(figure_);
  }

 private:
  void CollectCallers() {
    for (const auto& [computation, instructions] : instructions_) {
      for (const HloInstruction* instruction : instructions) {
        absl::flat_hash_set<const HloComputation*> called(instruction->called_computations().begin(),
                                                          instruction->called_computations().end());
        for (const HloComputation* each : called) callers_[each].push_back(instruction);
      }
    }
  }

  int64_t AddBox(int64_t parent, const HloInstruction* instruction, std::string label) {
    const auto number = static_cast<int64_t>(figure_.boxes.size());
    FigureBox& box = figure_.boxes.emplace_back();
    box.parent = parent;
    box.depth = figure_.boxes[parent].depth + 1;
    box.instruction = instruction;
    box.label = std::move(label);
    box.first = number;
    figure_.boxes[parent].children.push_back(number);
    return number;
  }

  // The box that the computation's instructions are in.
  int64_t BoxFor(const HloComputation& computation) {
    const bool is_entry = &computation == module_.entry_computation();
    const auto callers = callers_.find(&computation);
    if (!is_entry && callers != callers_.end() && callers->second.size() == 1) {
      const HloInstruction* caller = callers->second.front();
      const auto box = boxes_.find(caller);
      if (box != boxes_.end() && figure_.boxes[box->second.front()].depth < kDeepestBox) {
        const int64_t place = box->second.front();
        return caller->called_computations().size() == 1 ? place
                                                         : AddBox(place, nullptr, std::string(computation.name()));
      }
    }
    return AddBox(0, nullptr, absl::StrCat(is_entry ? "ENTRY " : "", computation.name()));
  }

  void AddComputation(const HloComputation& computation) {
    const Instructions& instructions = instructions_.at(&computation);
    const ScopeTree tree(instructions, scope_of_);
    std::vector<int64_t> boxes(tree.scopes().size(), BoxFor(computation));
    std::vector<std::string> ways(tree.scopes().size());  // names of scopes that are no boxes
    for (size_t i = 1; i < tree.scopes().size(); ++i) {   // parents come first
      const ScopeTree::Scope& scope = tree.scopes()[i];
      const int64_t parent = boxes[scope.parent];
      const std::string name = absl::StrCat(ways[scope.parent], scope.name);
      const auto number = static_cast<int64_t>(i);
      boxes[i] = tree.IsBox(number) ? AddBox(parent, nullptr, name) : parent;
      if (tree.IsOnlyAWay(number)) ways[i] = absl::StrCat(name, "/");
    }
    for (const HloInstruction* instruction : instructions) {
      std::vector<int64_t>& places = boxes_[instruction];
      absl::flat_hash_set<int64_t> taken;
      for (const int64_t scope : tree.PlacesOf(instruction)) {
        if (!taken.insert(boxes[scope]).second) continue;
        places.push_back(AddBox(boxes[scope], instruction, ""));
        figure_.boxes.back().is_copy = places.size() > 1;
      }
    }
    if (callers_[&computation].size() > 1) AddCalls(computation);
  }
  // The box of an operand that is nearest to its user.
  int64_t Nearest(const HloInstruction* operand, int64_t user) const {
    const std::vector<int64_t>& places = boxes_.at(operand);
    for (int64_t at = figure_.boxes[user].parent; at >= 0 && places.size() > 1; at = figure_.boxes[at].parent) {
      for (const int64_t place : places) {
        if (figure_.boxes[place].parent == at) return place;
      }
    }
    return places.front();
  }
  void AddLine(int64_t from, int64_t to, double bytes, bool is_control) {
    FigureLine line;
    line.from = from;
    line.to = to;
    line.bytes = bytes;
    line.is_control = is_control;
    figure_.lines.push_back(std::move(line));
  }
  void AddLines() {
    for (const auto& computation : computations_) {
      for (const HloInstruction* instruction : instructions_.at(computation)) {
        const int64_t user = boxes_.at(instruction).front();
        absl::flat_hash_set<const HloInstruction*> seen;
        for (const HloInstruction* operand : instruction->operands()) {
          if (boxes_.count(operand) == 0 || !seen.insert(operand).second) continue;
          AddLine(Nearest(operand, user), user, BytesOfShape(operand->shape()), false);
        }
        for (const HloInstruction* before : instruction->control_predecessors()) {
          if (boxes_.count(before) > 0) AddLine(boxes_.at(before).front(), user, 0, true);
        }
      }
    }
  }
  void AddCalls(const HloComputation& computation) {
    const auto root = boxes_.find(computation.root_instruction());
    if (root == boxes_.end()) return;
    for (const HloInstruction* caller : callers_[&computation]) {
      AddLine(root->second.front(), boxes_.at(caller).front(), 0, false);
      figure_.lines.back().is_call = true;
    }
  }

  const HloModule& module_;
  const ScopeOf& scope_of_;
  GraphFigure figure_;
  std::vector<const HloComputation*> computations_;  // callees first
  absl::flat_hash_map<const HloComputation*, Instructions> instructions_;
  absl::flat_hash_map<const HloComputation*, Instructions> callers_;
  absl::flat_hash_map<const HloInstruction*, std::vector<int64_t>> boxes_;
};

// ---- Places ---------------------------------------------------------------------------------------------------------

// The ancestors of both boxes that have one parent.
std::pair<int64_t, int64_t> Siblings(const std::vector<FigureBox>& boxes, int64_t a, int64_t b) {
  while (boxes[a].parent != boxes[b].parent) {
    if (boxes[a].depth >= boxes[b].depth) {
      a = boxes[a].parent;
    } else {
      b = boxes[b].parent;
    }
  }
  return {a, b};
}

// Lays out the boxes, inner ones first; then all corners become those within the figure, outer ones first.
class FigureLayout {
 public:
  FigureLayout(const SizeOf& size_of, GraphFigure* figure)
      : size_of_(size_of), boxes_(figure->boxes), lines_(figure->lines), lines_in_(boxes_.size()) {}

  void Run() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const auto [a, b] = Siblings(boxes_, lines_[i].from, lines_[i].to);
      // A call is no reason to stand above: its line leads from one drawing into another.
      if (a != b && !lines_[i].is_call) lines_in_[boxes_[a].parent].push_back({a, b, i});
    }
    for (size_t i = boxes_.size(); i-- > 0;) LayOut(static_cast<int64_t>(i));
    for (size_t i = 1; i < boxes_.size(); ++i) {
      const draw::LayeredPoint& parent = boxes_[boxes_[i].parent].corner;
      boxes_[i].corner = {boxes_[i].corner.x + parent.x, boxes_[i].corner.y + parent.y};
    }
    for (FigureLine& line : lines_) FinishLine(&line);
  }

 private:
  struct InnerLine {
    int64_t a;
    int64_t b;
    size_t line;
  };

  void LayOut(int64_t number) {
    FigureBox& box = boxes_[number];
    if (box.children.empty()) {
      const draw::LayeredBox size = number == 0 ? draw::LayeredBox() : size_of_(box);
      box.width = size.width;
      box.height = size.height;
      return;
    }
    if (box.instruction == nullptr) {  // a scope comes where its first instruction does
      box.first = boxes_[box.children.front()].first;
      for (const int64_t child : box.children) box.first = std::min(box.first, boxes_[child].first);
    }
    std::sort(box.children.begin(), box.children.end(), [this](int64_t a, int64_t b) {
      return std::make_pair(boxes_[a].first, a) < std::make_pair(boxes_[b].first, b);
    });
    absl::flat_hash_map<int64_t, int64_t> places;
    std::vector<draw::LayeredBox> sizes;
    for (const int64_t child : box.children) {
      places.emplace(child, static_cast<int64_t>(places.size()));
      sizes.push_back({boxes_[child].width, boxes_[child].height});
    }
    std::map<std::pair<int64_t, int64_t>, size_t> pairs;
    std::vector<draw::LayeredLine> inner;
    for (const InnerLine& each : lines_in_[number]) {
      if (pairs.try_emplace({each.a, each.b}, inner.size()).second)
        inner.push_back({places.at(each.a), places.at(each.b)});
    }
    const draw::LayeredLayout layout = draw::LayOutInLayers(sizes, inner);
    const double left = number == 0 ? 0 : kFigurePadding, top = number == 0 ? 0 : kFigurePadding + kFigureHead;
    for (size_t i = 0; i < sizes.size(); ++i) {
      boxes_[box.children[i]].corner = {layout.corners[i].x + left, layout.corners[i].y + top};
    }
    box.width = layout.width + 2 * left;
    box.height = layout.height + top + left;
    if (number > 0) box.width = std::max(box.width, size_of_(box).width);
    for (const InnerLine& each : lines_in_[number]) {
      FigureLine& line = lines_[each.line];
      if (line.from != each.a || line.to != each.b) continue;
      for (const draw::LayeredPoint& point : layout.routes[pairs.at({each.a, each.b})]) {
        line.points.push_back({point.x + left, point.y + top});
      }
    }
  }
  // A line between boxes of different parents is straight. Those of one parent get the place of it.
  void FinishLine(FigureLine* line) {
    const FigureBox& from = boxes_[line->from];
    const FigureBox& to = boxes_[line->to];
    if (line->points.empty()) {
      line->points = {{from.corner.x + from.width / 2, from.corner.y + from.height},
                      {to.corner.x + to.width / 2, to.corner.y}};
      return;
    }
    const draw::LayeredPoint& parent = boxes_[from.parent].corner;
    for (draw::LayeredPoint& point : line->points) point = {point.x + parent.x, point.y + parent.y};
  }

  const SizeOf& size_of_;
  std::vector<FigureBox>& boxes_;
  std::vector<FigureLine>& lines_;
  std::vector<std::vector<InnerLine>> lines_in_;  // by parent
};

}  // namespace

GraphFigure MakeGraphFigure(const HloModule& module, absl::Span<const HloInstruction* const> shown,
                            const ScopeOf& scope_of, const SizeOf& size_of) {
  GraphFigure figure = FigureBuilder(module, shown, scope_of).Build();
  FigureLayout(size_of, &figure).Run();
  return figure;
}

}  // namespace kashi::cli
