#include "tests/engines/frame.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"

namespace kashi::tests {
namespace {

// A module in the making: an entry computation with parameters.
class ModuleText {
 public:
  explicit ModuleText(const Core& core) : computations_(core.computations) {}

  std::string Parameter(const Shape& shape) {
    const std::string name = absl::StrCat("p", parameters_);
    absl::StrAppend(&lines_, "  ", name, " = ", ShapeText(shape), " parameter(", parameters_++, ")\n");
    return name;
  }
  std::vector<std::string> Parameters(absl::Span<const Shape> shapes) {
    std::vector<std::string> names;
    for (const Shape& shape : shapes) names.push_back(Parameter(shape));
    return names;
  }
  // An instruction with a name of its own.
  std::string Add(const Shape& shape, absl::string_view expression) {
    const std::string name = absl::StrCat("x", values_++);
    absl::StrAppend(&lines_, "  ", name, " = ", ShapeText(shape), " ", expression, "\n");
    return name;
  }
  std::string AddUnary(const Shape& shape, const std::string& x) {
    return Add(shape, absl::StrCat(UnaryNeighbour(shape.element_type()), "(", x, ")"));
  }
  std::string AddBinary(const Shape& shape, const std::string& x, const std::string& y) {
    return Add(shape, absl::StrCat(BinaryNeighbour(shape.element_type()), "(", x, ", ", y, ")"));
  }
  void AddLines(absl::string_view lines) { absl::StrAppend(&lines_, lines); }
  void AddComputation(absl::string_view computation) { absl::StrAppend(&computations_, computation); }
  std::string AddCore(const Core& core, absl::Span<const std::string> operands) {
    AddLines(FillIn(core.lines, "", operands, "result"));
    return "result";
  }

  std::string End(const std::vector<std::pair<std::string, Shape>>& results) const {
    std::vector<std::string> names, shapes;
    for (const auto& [name, shape] : results) {
      names.push_back(name);
      shapes.push_back(ShapeText(shape));
    }
    return absl::StrCat("HloModule m\n\n", computations_, "ENTRY e {\n", lines_, "  ROOT root = (",
                        absl::StrJoin(shapes, ", "), ") tuple(", absl::StrJoin(names, ", "), ")\n}\n");
  }
  std::string End(const std::string& result) const {
    const std::string definition = absl::StrCat("  ", result, " = ");
    std::string lines = lines_;
    lines.replace(lines.rfind(definition), 2, "  ROOT ");
    return absl::StrCat("HloModule m\n\n", computations_, "ENTRY e {\n", lines, "}\n");
  }

 private:
  int parameters_ = 0, values_ = 0;
  std::string computations_, lines_;
};

Sizes SizesOfShape(const Shape& x) { return Sizes(x.dimensions().begin(), x.dimensions().end()); }
std::string LeadingDimensions(size_t count) {
  Sizes dimensions(count);
  std::iota(dimensions.begin(), dimensions.end(), 0);
  return ListText(dimensions);
}

std::string Bare(const Core& core) {
  ModuleText module(core);
  return module.End(module.AddCore(core, module.Parameters(core.operands)));
}

// Operands of one shape are one parameter: scatter(x, i, x). With `is_fused`, something is computed before and after.
std::string WithOneOperand(const Core& core, bool is_fused) {
  if (core.result.is_dynamic()) return "";
  ModuleText module(core);
  std::vector<std::string> operands;
  for (size_t i = 0; i < core.operands.size(); ++i) {
    const auto first = std::find_if(core.operands.begin(), core.operands.begin() + static_cast<int64_t>(i),
                                    [&](const Shape& shape) { return ShapeUtil::Equal(shape, core.operands[i]); });
    const size_t at = static_cast<size_t>(first - core.operands.begin());
    if (at < i) {
      operands.push_back(operands[at]);
    } else {
      operands.push_back(module.Parameter(core.operands[i]));
      if (is_fused) operands.back() = module.AddUnary(core.operands[i], operands.back());
    }
  }
  if (std::set<std::string>(operands.begin(), operands.end()).size() == operands.size()) return "";
  const std::string result = module.AddCore(core, operands);
  return is_fused ? module.End(module.AddUnary(core.result, result)) : module.End(result);
}
std::string OneOperand(const Core& core) { return WithOneOperand(core, /*is_fused=*/false); }
std::string OneOperandFused(const Core& core) { return WithOneOperand(core, /*is_fused=*/true); }

// Elementwise operations before and after: all of it can be one kernel.
std::string Fused(const Core& core) {
  if (core.result.is_dynamic()) return "";
  ModuleText module(core);
  std::vector<std::string> operands = module.Parameters(core.operands);
  for (size_t i = 0; i < operands.size(); ++i) operands[i] = module.AddUnary(core.operands[i], operands[i]);
  const std::string result = module.AddCore(core, operands);
  return module.End(module.AddBinary(core.result, result, module.Parameter(core.result)));
}

// The producer's result, or an operand, is a result too.
std::string Shared(const Core& core) {
  ModuleText module(core);
  const std::vector<std::string> operands = module.Parameters(core.operands);
  std::vector<std::pair<std::string, Shape>> results = {{module.AddCore(core, operands), core.result}};
  if (core.middle.has_value()) {
    results.emplace_back("middle", *core.middle);
  } else if (!operands.empty()) {
    results.emplace_back(module.AddUnary(core.operands[0], operands[0]), core.operands[0]);
  }
  if (!core.result.is_dynamic()) results.emplace_back(module.AddUnary(core.result, "result"), core.result);
  return module.End(results);
}

// Three turns of a loop with operands and result in its state. The result is added up, and the first operand changes.
// `more`: also a large array, so that the loop is not one on small arrays.
std::string LoopWith(const Core& core, const std::optional<Shape>& more) {
  if (core.result.is_dynamic()) return "";
  std::vector<Shape> state = {ScalarOf(S32)};
  state.insert(state.end(), core.operands.begin(), core.operands.end());
  state.push_back(core.result);
  if (more.has_value()) state.push_back(*more);
  std::vector<std::string> shapes;
  for (const Shape& shape : state) shapes.push_back(ShapeText(shape));
  const std::string tuple = absl::StrCat("(", absl::StrJoin(shapes, ", "), ")");

  std::string body = absl::StrCat("loop.body {\n  s = ", tuple, " parameter(0)\n");
  std::vector<std::string> names;
  for (size_t i = 0; i < state.size(); ++i) {
    names.push_back(absl::StrCat("e", i));
    absl::StrAppend(&body, "  e", i, " = ", shapes[i], " get-tuple-element(s), index=", i, "\n");
  }
  absl::StrAppend(&body, "  one = s32[] constant(1)\n  next = s32[] add(e0, one)\n");
  const size_t count = core.operands.size();
  absl::StrAppend(&body, FillIn(core.lines, "", absl::MakeConstSpan(names).subspan(1, count), "result"));
  absl::StrAppend(&body, "  sum = ", shapes[count + 1], " ", BinaryNeighbour(core.result.element_type()), "(e",
                  count + 1, ", result)\n");
  std::vector<std::string> next = names;
  next[0] = "next";
  next[count + 1] = "sum";
  if (count > 0) {
    absl::StrAppend(&body, "  first = ", shapes[1], " ", UnaryNeighbour(core.operands[0].element_type()), "(e1)\n");
    next[1] = "first";
  }
  if (more.has_value()) {
    absl::StrAppend(&body, "  large = ", shapes.back(), " negate(", names.back(), ")\n");
    next.back() = "large";
  }
  absl::StrAppend(&body, "  ROOT t = ", tuple, " tuple(", absl::StrJoin(next, ", "), ")\n}\n");

  ModuleText module(core);
  module.AddComputation(body);
  module.AddComputation(absl::StrCat("loop.condition {\n  s = ", tuple,
                                     " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] "
                                     "constant(3)\n  ROOT more = pred[] compare(i, n), direction=LT\n}\n"));
  std::vector<std::string> initial = {module.Add(ScalarOf(S32), "constant(0)")};
  for (size_t i = 1; i < state.size(); ++i) initial.push_back(module.Parameter(state[i]));
  module.AddLines(absl::StrCat("  before = ", tuple, " tuple(", absl::StrJoin(initial, ", "), ")\n  loop = ", tuple,
                               " while(before), condition=loop.condition, body=loop.body\n"));
  return module.End("loop");
}
std::string Loop(const Core& core) { return LoopWith(core, std::nullopt); }
std::string LargeLoop(const Core& core) { return LoopWith(core, ShapeUtil::MakeShape(F32, {600, 33})); }

// f32[]: the sum of an array, or one element of it.
std::string AddScalar(const Shape& x, const std::string& name, bool as_sum, ModuleText* module) {
  std::string value = name;
  const Shape reals = WithType(x, F32);
  if (!as_sum && !x.dimensions().empty()) {
    if (ShapeUtil::ElementsIn(x) == 0) return "";
    std::vector<std::string> ranges;
    for (int64_t size : x.dimensions()) ranges.push_back(absl::StrCat("[", size - 1, ":", size, "]"));
    const Shape one = WithSizes(x, Sizes(x.dimensions().size(), 1));
    value = module->Add(one, absl::StrCat("slice(", value, "), slice={", absl::StrJoin(ranges, ", "), "}"));
    value = module->Add(ScalarOf(x.element_type()), absl::StrCat("reshape(", value, ")"));
    return x.element_type() == F32 ? value : module->Add(ScalarOf(F32), absl::StrCat("convert(", value, ")"));
  }
  if (x.element_type() != F32) value = module->Add(reals, absl::StrCat("convert(", value, ")"));
  if (x.dimensions().empty()) return value;
  module->AddComputation(BinaryComputation("frame.sum", "add", F32));
  return module->Add(ScalarOf(F32),
                     absl::StrCat("reduce(", value, ", ", module->Add(ScalarOf(F32), "constant(0)"),
                                  "), dimensions=", LeadingDimensions(x.dimensions().size()), ", to_apply=frame.sum"));
}

// x less the greatest of each row (its last dimension).
std::string AddRowwise(const Shape& x, const std::string& name, ModuleText* module) {
  const PrimitiveType type = x.element_type();
  Sizes rows = SizesOfShape(x);
  rows.pop_back();
  const Shape of_rows = WithSizes(x, rows);
  const std::string computation = absl::StrCat("frame.row", name);
  module->AddComputation(BinaryComputation(computation, "maximum", type));
  const std::string greatest =
      module->Add(of_rows, absl::StrCat("reduce(", name, ", ", module->Parameter(ScalarOf(type)), "), dimensions={",
                                        rows.size(), "}, to_apply=", computation));
  const std::string wide =
      module->Add(x, absl::StrCat("broadcast(", greatest, "), dimensions=", LeadingDimensions(rows.size())));
  return module->AddBinary(x, name, wide);
}

// A scalar of the result in a kernel of rows of another array.
std::string RowsTimes(const Core& core, bool as_sum) {
  if (core.result.is_dynamic()) return "";
  ModuleText module(core);
  const std::string result = module.AddCore(core, module.Parameters(core.operands));
  const std::string scalar = AddScalar(core.result, result, as_sum, &module);
  if (scalar.empty()) return "";
  const Shape matrix = ShapeUtil::MakeShape(F32, {20, 33});
  const std::string rows = AddRowwise(matrix, module.Parameter(matrix), &module);
  const std::string wide = module.Add(matrix, absl::StrCat("broadcast(", scalar, "), dimensions={}"));
  return module.End(module.Add(matrix, absl::StrCat("multiply(", rows, ", ", wide, ")")));
}
std::string RowsTimesSum(const Core& core) { return RowsTimes(core, true); }
std::string RowsTimesElement(const Core& core) { return RowsTimes(core, false); }

// The first operand comes out of a kernel of rows.
std::string AfterRows(const Core& core) {
  if (core.operands.empty() || core.operands[0].dimensions().empty()) return "";
  ModuleText module(core);
  std::vector<std::string> operands = module.Parameters(core.operands);
  operands[0] = AddRowwise(core.operands[0], operands[0], &module);
  return module.End(module.AddCore(core, operands));
}

// The result goes into a kernel of rows; a result with few dimensions is repeated first.
std::string BeforeRows(const Core& core) {
  if (core.result.is_dynamic()) return "";
  ModuleText module(core);
  std::string value = module.AddCore(core, module.Parameters(core.operands));
  Shape shape = core.result;
  if (shape.dimensions().size() < 2) {
    Sizes sizes = SizesOfShape(shape);
    while (sizes.size() < 2) sizes.push_back(20);
    const std::string dimensions = LeadingDimensions(shape.dimensions().size());
    shape = WithSizes(shape, sizes);
    value = module.Add(shape, absl::StrCat("broadcast(", value, "), dimensions=", dimensions));
  }
  return module.End(AddRowwise(shape, value, &module));
}

// The result beside another array along the last dimension, and the first operand put together of two.
std::string Joined(const Core& core) {
  if (core.result.is_dynamic()) return "";
  ModuleText module(core);
  std::vector<std::string> operands;
  for (size_t i = 0; i < core.operands.size(); ++i) {
    const Shape& shape = core.operands[i];
    const size_t rank = shape.dimensions().size();
    if (i > 0 || rank == 0 || shape.dimensions().back() < 2) {
      operands.push_back(module.Parameter(shape));
      continue;
    }
    Sizes front = SizesOfShape(shape), back = front;
    front.back() /= 2;
    back.back() -= front.back();
    const std::string a = module.Parameter(WithSizes(shape, front)), b = module.Parameter(WithSizes(shape, back));
    operands.push_back(module.Add(shape, absl::StrCat("concatenate(", a, ", ", b, "), dimensions={", rank - 1, "}")));
  }
  std::string value = module.AddCore(core, operands);
  Shape shape = core.result;
  if (shape.dimensions().empty()) {
    shape = WithSizes(shape, {1});
    value = module.Add(shape, absl::StrCat("reshape(", value, ")"));
  }
  Sizes other = SizesOfShape(shape), both = other;
  other.back() = 3;
  both.back() += 3;
  const Shape joined = WithSizes(shape, both);
  value = module.Add(joined, absl::StrCat("concatenate(", value, ", ", module.Parameter(WithSizes(shape, other)),
                                          "), dimensions={", both.size() - 1, "}"));
  return module.End(module.AddUnary(joined, value));
}

// The result padded, among elementwise neighbours.
std::string Padded(const Core& core) {
  if (core.result.is_dynamic() || core.result.dimensions().empty()) return "";
  ModuleText module(core);
  std::string value = module.AddCore(core, module.Parameters(core.operands));
  value = module.AddUnary(core.result, value);
  Sizes sizes = SizesOfShape(core.result);
  std::vector<std::string> edges(sizes.size(), "0_0");
  edges.back() = "1_2";
  edges.front() = sizes.size() == 1 ? "1_2" : "2_0";
  sizes.back() += 3;
  if (sizes.size() > 1) sizes.front() += 2;
  const Shape padded = WithSizes(core.result, sizes);
  value = module.Add(padded, absl::StrCat("pad(", value, ", ", module.Parameter(ScalarOf(padded.element_type())),
                                          "), padding=", absl::StrJoin(edges, "x")));
  return module.End(module.AddBinary(padded, value, module.Parameter(padded)));
}

// A large array beside it, so that the program is not a small one.
std::string BesideLarge(const Core& core) {
  ModuleText module(core);
  const std::string result = module.AddCore(core, module.Parameters(core.operands));
  const Shape large = ShapeUtil::MakeShape(F32, {270000});
  const std::string zeros = module.Add(large, absl::StrCat("iota(), iota_dimension=0"));
  return module.End({{result, core.result}, {module.AddUnary(large, zeros), large}});
}

// The result repeated until it has more than 16384 elements, among elementwise neighbours.
std::string Repeated(const Core& core) {
  const int64_t count = ShapeUtil::ElementsIn(core.result);
  if (core.result.is_dynamic() || count == 0) return "";
  ModuleText module(core);
  std::string value = module.AddCore(core, module.Parameters(core.operands));
  Sizes sizes = SizesOfShape(core.result);
  sizes.push_back(16384 / count + 37);
  const Shape wide = WithSizes(core.result, sizes);
  value = module.Add(
      wide, absl::StrCat("broadcast(", value, "), dimensions=", LeadingDimensions(core.result.dimensions_size())));
  return module.End(module.AddBinary(wide, value, module.Parameter(wide)));
}

// The consumer's local names must not be the producer's.
std::string WithPrefix(absl::string_view text, absl::string_view prefix) { return FillIn(text, prefix, {}, "$r"); }

}  // namespace

Core CoreOf(const Form& form) {
  return {form.operands, WithPrefix(form.computations, "f."), WithPrefix(form.lines, "f."), form.result, std::nullopt};
}

Core CoreOf(const Form& producer, const Form& consumer, size_t slot) {
  Core core{producer.operands, "", "", consumer.result, producer.result};
  core.computations = absl::StrCat(WithPrefix(producer.computations, "f."), WithPrefix(consumer.computations, "g."));
  std::vector<std::string> mine, operands;
  for (size_t i = 0; i < producer.operands.size(); ++i) mine.push_back(absl::StrCat("$", i));
  for (size_t i = 0; i < consumer.operands.size(); ++i) {
    if (i == slot) {
      operands.emplace_back("middle");
      continue;
    }
    operands.push_back(absl::StrCat("$", core.operands.size()));
    core.operands.push_back(consumer.operands[i]);
  }
  core.lines = absl::StrCat(FillIn(producer.lines, "f.", mine, "middle"), FillIn(consumer.lines, "g.", operands, "$r"));
  return core;
}

absl::Span<const Frame> Frames() {
  static constexpr Frame kFrames[] = {
      {"bare", &Bare},
      {"fused", &Fused},
      {"shared", &Shared},
      {"loop", &Loop},
      {"large loop", &LargeLoop},
      {"rows times sum", &RowsTimesSum},
      {"rows times element", &RowsTimesElement},
      {"after rows", &AfterRows},
      {"before rows", &BeforeRows},
      {"joined", &Joined},
      {"padded", &Padded},
      {"beside large", &BesideLarge},
      {"repeated", &Repeated},
      {"one operand", &OneOperand},
      {"one operand, fused", &OneOperandFused},
  };
  return kFrames;
}

}  // namespace kashi::tests
