#include "tests/mpi/random_collectives.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/literal_util.h"

namespace kashi::testing {
namespace {

constexpr const char* kTypes[] = {"pred", "s4",  "u4",   "s8",     "u8",       "s16",           "u16",
                                  "s32",  "u32", "s64",  "u64",    "bf16",     "f16",           "f32",
                                  "f64",  "c64", "c128", "f8e5m2", "f8e4m3fn", "f4e2m1fn",      "f32",
                                  "bf16", "f32", "s32",  "s2",     "u2",       "f8e4m3b11fnuz", "f8e3m4"};

// Writes the text of a program: the choices of a seed, groups of devices, and collective operations, whole or in two
// halves.
class CollectiveWriter {
 public:
  enum Mode { kReplica, kPartition, kBoth, kGlobal };
  struct Operand {
    std::string name, shape;
  };

  explicit CollectiveWriter(const RandomProgramOptions& options) : options_(options), random_(options.seed) {}

  std::mt19937_64& random() { return random_; }
  void set_type(const char* type) { type_ = type; }
  Mode mode() const { return mode_; }
  int64_t group_size() const { return size_; }
  const std::string& groups() const { return groups_; }
  int64_t NewChannel() { return ++channel_; }
  std::string NewName(const char* kind) { return absl::StrCat(kind, ++names_); }
  bool HasBegun() const { return !begun_.empty(); }
  void AddComputation(absl::string_view text) { absl::StrAppend(&computations_, text); }

  int64_t Pick(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  bool Flip() { return Pick(2) == 1; }
  std::string Shape(const std::vector<int64_t>& sizes) {
    return absl::StrCat(type_, "[", absl::StrJoin(sizes, ","), "]");
  }
  bool IsReal() const { return type_[0] == 'f' || type_[0] == 'b' || type_[0] == 'c'; }
  bool IsComplex() const { return type_[0] == 'c'; }

  // ---- Groups. `size_` is that of a group, all equal; ids are replicas, partitions or devices.
  void ChooseGroups(bool may_be_flattened, bool may_be_uneven) {
    std::vector<Mode> modes = {kReplica};
    if (may_be_flattened) {
      modes.insert(modes.end(), {kBoth, kGlobal, kGlobal});
    } else {
      modes.push_back(kPartition);
    }
    mode_ = modes[Pick(static_cast<int64_t>(modes.size()))];
    const int64_t devices = options_.replicas * options_.partitions;
    const int64_t ids = mode_ == kPartition ? options_.partitions : mode_ == kGlobal ? devices : options_.replicas;
    std::vector<int64_t> order(ids);
    std::iota(order.begin(), order.end(), 0);
    if (Flip()) std::shuffle(order.begin(), order.end(), random_);
    int64_t of_group = ids;
    std::vector<std::vector<int64_t>> groups;
    if (may_be_uneven && Flip()) {
      for (size_t at = 0; at < order.size();) {
        const size_t n = std::min<size_t>(order.size() - at, static_cast<size_t>(1 + Pick(4)));
        groups.emplace_back(order.begin() + at, order.begin() + at + n);
        at += n;
      }
    } else {
      std::vector<int64_t> divisors;
      for (int64_t d = 1; d <= ids; ++d) {
        if (ids % d == 0) divisors.push_back(d);
      }
      of_group = divisors[divisors.size() - 1 - Pick(std::min<int64_t>(2, divisors.size()))];
      for (int64_t at = 0; at < ids; at += of_group) {
        groups.emplace_back(order.begin() + at, order.begin() + at + of_group);
      }
    }
    size_ = of_group * (mode_ == kBoth ? options_.partitions : 1);
    std::vector<std::string> texts;
    for (const auto& group : groups) texts.push_back(absl::StrCat("{", absl::StrJoin(group, ","), "}"));
    const bool is_implicit = groups.size() == 1 && mode_ != kGlobal && std::is_sorted(order.begin(), order.end());
    groups_ = absl::StrCat("replica_groups={", is_implicit ? "" : absl::StrJoin(texts, ","), "}");
    if (mode_ != kReplica) absl::StrAppend(&groups_, ", channel_id=", ++channel_);
    if (mode_ == kGlobal) absl::StrAppend(&groups_, ", use_global_device_ids=true");
  }

  // A computation of two scalars.
  std::string Reducer() {
    std::vector<std::string> opcodes;
    if (type_ == "pred") {
      opcodes = {"and", "or", "xor"};
    } else if (IsComplex()) {
      opcodes = {"add", "add", "multiply"};
    } else if (IsReal()) {
      opcodes = {"add", "add", "maximum", "minimum", "multiply", "subtract"};
    } else {
      opcodes = {"add", "maximum", "minimum", "multiply", "and", "or", "xor", "subtract"};
    }
    const std::string opcode = opcodes[Pick(static_cast<int64_t>(opcodes.size()))];
    const bool rounds = IsReal() && (opcode == "multiply" || opcode == "add");
    const bool is_wide = type_ == "f32" || type_ == "f64" || type_ == "c64" || type_ == "c128";
    const std::string name = absl::StrCat("combine", ++names_);
    const std::string head =
        absl::StrCat(name, " { a = ", type_, "[] parameter(0)\n  b = ", type_, "[] parameter(1)\n");
    if (rounds && options_.exact_sums && (!is_wide || opcode == "multiply")) {
      // Only the order of the members is right for this one.
      absl::StrAppend(&computations_, head, "  c = ", type_, "[] ", opcode, "(a, a)\n  ROOT r = ", type_,
                      "[] subtract(c, b) }\n");
    } else {
      absl::StrAppend(&computations_, head, "  ROOT r = ", type_, "[] ", opcode, "(a, b) }\n");
    }
    return name;
  }

  std::string Parameter(const std::vector<int64_t>& sizes) {
    const std::string name = absl::StrCat("p", parameters_);
    absl::StrAppend(&body_, "  ", name, " = ", Shape(sizes), " parameter(", parameters_++, ")\n");
    return name;
  }
  std::string Add(const std::string& shape, const std::string& call) {
    const std::string name = absl::StrCat("x", ++names_);
    absl::StrAppend(&body_, "  ", name, " = ", shape, " ", call, "\n");
    return name;
  }
  void Return(const std::string& shape, const std::string& name) {
    shapes_.push_back(shape);
    results_.push_back(name);
  }

  // ---- Operations in two halves. The second half comes somewhere later.
  // The operation, as it is or in two halves: its own, or those of async-start.
  void AddCollective(const std::string& shape, const std::string& opcode, const std::vector<Operand>& operands,
                     const std::string& rest) {
    const auto join = [&](std::string Operand::*part) {
      std::vector<std::string> parts;
      for (const Operand& operand : operands) parts.push_back(operand.*part);
      return absl::StrJoin(parts, ", ");
    };
    const std::string names = join(&Operand::name), shapes = join(&Operand::shape);
    const std::string whole = operands.size() == 1 ? shapes : absl::StrCat("(", shapes, ")");
    const std::string start_shape = opcode == "all-reduce"   ? shape
                                    : opcode == "all-gather" ? absl::StrCat("(", whole, ", ", shape, ")")
                                    : opcode == "collective-permute"
                                        ? absl::StrCat("(", whole, ", ", shape, ", u32[], u32[])")
                                        : "";
    switch (Pick(start_shape.empty() ? 2 : 3)) {
      case 0:
        return Return(shape, Add(shape, absl::StrCat(opcode, "(", names, ")", rest)));
      case 1: {
        const std::string start =
            Add(absl::StrCat("((", shapes, "), ", shape, ", u32[])"),
                absl::StrCat("async-start(", names, "), calls=", Wrapped(shape, opcode, operands, rest)));
        begun_.push_back({shape, absl::StrCat("async-done(", start, ")")});
        break;
      }
      default: {
        const std::string start = Add(start_shape, absl::StrCat(opcode, "-start(", names, ")", rest));
        begun_.push_back({shape, absl::StrCat(opcode, "-done(", start, ")")});
      }
    }
    // Other work with what the operation reads.
    if (Flip())
      Return(operands[0].shape,
             Add(operands[0].shape, absl::StrCat("reverse(", operands[0].name, "), dimensions={0}")));
  }
  void EndOne() {
    const auto one = begun_.begin() + Pick(static_cast<int64_t>(begun_.size()));
    Return(one->shape, Add(one->shape, one->done));
    begun_.erase(one);
  }

  std::string Text() {
    std::string text = absl::StrCat("HloModule random_", options_.seed, Flip() ? ", is_scheduled=true" : "",
                                    ", replica_count=", options_.replicas, ", num_partitions=", options_.partitions,
                                    "\n", computations_, "ENTRY e {\n");
    absl::StrAppend(&text, body_, "  ROOT t = (", absl::StrJoin(shapes_, ", "), ") tuple(",
                    absl::StrJoin(results_, ", "), ")\n}\n");
    return text;
  }

 private:
  struct Begun {
    std::string shape, done;
  };

  // A computation that is the operation.
  std::string Wrapped(const std::string& shape, const std::string& opcode, const std::vector<Operand>& operands,
                      const std::string& rest) {
    const std::string name = absl::StrCat("wrapped", ++names_);
    std::vector<std::string> parameters;
    absl::StrAppend(&computations_, name, " {\n");
    for (const Operand& operand : operands) {
      parameters.push_back(absl::StrCat("a", parameters.size()));
      absl::StrAppend(&computations_, "  ", parameters.back(), " = ", operand.shape, " parameter(",
                      parameters.size() - 1, ")\n");
    }
    absl::StrAppend(&computations_, "  ROOT r = ", shape, " ", opcode, "(", absl::StrJoin(parameters, ", "), ")", rest,
                    " }\n");
    return name;
  }

  const RandomProgramOptions& options_;
  std::mt19937_64 random_;
  std::string computations_, body_, type_, groups_;
  std::vector<std::string> shapes_, results_;
  std::vector<Begun> begun_;  // and not ended
  Mode mode_ = kReplica;
  int64_t size_ = 1, parameters_ = 0, names_ = 0, channel_ = 0;
};

class ProgramMaker {
 public:
  explicit ProgramMaker(const RandomProgramOptions& options) : options_(options), text_(options) {}

  std::string Make() {
    for (int i = 0; i < options_.operations; ++i) {
      AddOperation();
      if (text_.Flip()) AddWork();
      while (text_.Flip() && text_.HasBegun()) text_.EndOne();
    }
    while (text_.HasBegun()) text_.EndOne();
    return text_.Text();
  }

 private:
  void AddWork() {
    text_.set_type("f32");
    const std::string x = text_.Parameter({32, 32}), y = text_.Parameter({32, 32});
    text_.Return(text_.Shape({32, 32}),
                 text_.Add(text_.Shape({32, 32}),
                           absl::StrCat("dot(", x, ", ", y, "), lhs_contracting_dims={1}, rhs_contracting_dims={0}")));
  }

  // In a loop: begin, begin, work, end, end. Devices cannot know the number of iterations of one of the two.
  void AddLoop() {
    text_.set_type("s32");
    text_.ChooseGroups(/*may_be_flattened=*/true, /*may_be_uneven=*/true);
    const std::vector<int64_t> sizes = {1 + text_.Pick(3), 1 + text_.Pick(700)};
    const std::string shape = text_.Shape(sizes), state = absl::StrCat("(s32[], ", shape, ")");
    const std::string reducer = text_.Reducer(), name = text_.NewName("loop");
    const std::string pairs = Pairs(options_.replicas);
    const bool is_known = text_.Flip(), is_reduced_first = text_.Flip();
    const std::string reduced = "  d = $S all-reduce-done(s)\n", moved = "  e = $S collective-permute-done(t)\n";
    const std::string body = absl::StrCat(
        "  p = $T parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  x = $S get-tuple-element(p), index=1\n",
        "  s = $S all-reduce-start(x), ", text_.groups(), ", to_apply=", reducer,
        "\n  t = ($S, $S, u32[], u32[]) collective-permute-start(x), source_target_pairs=", pairs,
        "\n  y = $S negate(x)\n  one = s32[] constant(1)\n  next = s32[] add(i, one)\n",
        is_reduced_first ? reduced + moved : moved + reduced,
        "  z = $S subtract(d, e)\n  n = $S add(z, y)\n  ROOT r = $T tuple(next, n) }\n");
    const std::string condition =
        absl::StrCat("  p = $T parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  j = s32[] ",
                     is_known ? "copy(i)" : "multiply(i, i)", "\n  most = s32[] constant(4)\n",
                     "  ROOT c = pred[] compare(", is_known ? "i" : "j", ", most), direction=LT }\n");
    const std::string texts = absl::StrCat(name, "body {\n", body, name, "condition {\n", condition);
    text_.AddComputation(absl::StrReplaceAll(texts, {{"$S", shape}, {"$T", state}}));
    const std::string zero = text_.Add("s32[]", "constant(0)");
    const std::string p = text_.Parameter(sizes);
    const std::string first = text_.Add(state, absl::StrCat("tuple(", zero, ", ", p, ")"));
    const std::string loop =
        text_.Add(state, absl::StrCat("while(", first, "), condition=", name, "condition, body=", name, "body"));
    text_.Return(shape, text_.Add(shape, absl::StrCat("get-tuple-element(", loop, "), index=1")));
  }

  std::vector<int64_t> Sizes() {
    const int64_t most = text_.Flip() ? 3 : 700;
    return {1 + text_.Pick(3), 1 + text_.Pick(most), 1 + text_.Pick(3)};
  }

  void AddOperation() {
    text_.set_type(kTypes[text_.Pick(sizeof(kTypes) / sizeof(kTypes[0]))]);
    switch (text_.Pick(11)) {
      case 0:
      case 1:
        return AddAllReduce();
      case 2:
        return AddAllGather();
      case 3:
        return AddReduceScatter();
      case 4:
        return AddAllToAll();
      case 5:
        return AddPermute();
      case 6:
        return AddBroadcast();
      case 7:
        return AddRagged();
      case 8:
        return AddTransfer();
      case 9:
        return AddLoop();
      default:
        return AddIds();
    }
  }

  void AddAllReduce() {
    text_.ChooseGroups(/*may_be_flattened=*/true, /*may_be_uneven=*/true);
    std::vector<int64_t> sizes = Sizes();
    if (text_.Pick(6) == 0) sizes[1] = 40000;
    const std::string reducer = text_.Reducer(), shape = text_.Shape(sizes), p = text_.Parameter(sizes);
    const std::string rest = absl::StrCat(", ", text_.groups(), ", to_apply=", reducer);
    const std::string opcode = text_.Pick(4) == 0 ? "collective-reduce" : "all-reduce";
    if (text_.Flip()) return text_.AddCollective(shape, opcode, {{p, shape}}, rest);
    const std::string other = text_.Shape({2, 5}), q = text_.Parameter({2, 5});
    text_.AddCollective(absl::StrCat("(", shape, ", ", other, ")"), opcode, {{p, shape}, {q, other}}, rest);
  }

  void AddAllGather() {
    text_.ChooseGroups(true, false);
    std::vector<int64_t> sizes = Sizes();
    const int64_t d = text_.Pick(3);
    const std::string operand = text_.Shape(sizes), p = text_.Parameter(sizes);
    sizes[d] *= text_.group_size();
    text_.AddCollective(text_.Shape(sizes), "all-gather", {{p, operand}},
                        absl::StrCat(", ", text_.groups(), ", dimensions={", d, "}"));
  }

  void AddReduceScatter() {
    text_.ChooseGroups(true, false);
    std::vector<int64_t> sizes = Sizes();
    const int64_t d = text_.Pick(3);
    const std::string shape = text_.Shape(sizes), reducer = text_.Reducer();
    sizes[d] *= text_.group_size();
    text_.AddCollective(shape, "reduce-scatter", {{text_.Parameter(sizes), text_.Shape(sizes)}},
                        absl::StrCat(", ", text_.groups(), ", dimensions={", d, "}, to_apply=", reducer));
  }

  void AddAllToAll() {
    text_.ChooseGroups(false, false);
    std::vector<int64_t> sizes = Sizes();
    if (text_.Flip()) {
      std::vector<CollectiveWriter::Operand> operands;
      std::vector<std::string> shapes;
      for (int64_t i = 0; i < text_.group_size(); ++i) {
        operands.push_back({text_.Parameter(sizes), text_.Shape(sizes)});
        shapes.push_back(text_.Shape(sizes));
      }
      const std::string shape = absl::StrCat("(", absl::StrJoin(shapes, ", "), ")");
      return text_.AddCollective(shape, "all-to-all", operands, absl::StrCat(", ", text_.groups()));
    }
    const int64_t d = text_.Pick(3);
    sizes[d] *= text_.group_size();
    text_.AddCollective(text_.Shape(sizes), "all-to-all", {{text_.Parameter(sizes), text_.Shape(sizes)}},
                        absl::StrCat(", ", text_.groups(), ", dimensions={", d, "}"));
  }

  // "{{0,2},{2,1}}"
  std::string Pairs(int64_t ids) {
    std::vector<int64_t> targets(ids);
    std::iota(targets.begin(), targets.end(), 0);
    std::shuffle(targets.begin(), targets.end(), text_.random());
    std::vector<std::string> pairs;
    for (int64_t source = 0; source < ids; ++source) {
      if (text_.Pick(4) > 0) pairs.push_back(absl::StrCat("{", source, ",", targets[source], "}"));
    }
    return absl::StrCat("{", absl::StrJoin(pairs, ","), "}");
  }

  void AddPermute() {
    const bool is_channel = text_.Flip();
    const std::string pairs = Pairs(is_channel ? options_.partitions : options_.replicas);
    const std::vector<int64_t> sizes = Sizes();
    const std::string shape = text_.Shape(sizes);
    text_.AddCollective(shape, "collective-permute", {{text_.Parameter(sizes), shape}},
                        absl::StrCat(", source_target_pairs=", pairs,
                                     is_channel ? absl::StrCat(", channel_id=", text_.NewChannel()) : ""));
  }

  // One or two values of one route. The second reception may end first.
  void AddTransfer() {
    const bool is_channel = options_.partitions > 1 && (options_.replicas == 1 || text_.Flip());
    const std::string pairs = Pairs(is_channel ? options_.partitions : options_.replicas);
    const std::string channel = absl::StrCat(", channel_id=", is_channel ? text_.NewChannel() : 0);
    const std::string rest =
        absl::StrCat(channel, ", frontend_attributes={_xla_send_recv_source_target_pairs=\"", pairs, "\"}");
    const std::vector<int64_t> sizes = Sizes();
    const std::string shape = text_.Shape(sizes), both = absl::StrCat("(", shape, ", u32[], token[])");
    std::vector<std::string> receptions;
    for (int64_t left = 1 + text_.Pick(2); left > 0; --left) {
      const std::string token = text_.Add("token[]", "after-all()");
      receptions.push_back(text_.Add(both, absl::StrCat("recv(", token, ")", rest)));
      const std::string sent = text_.Add(both, absl::StrCat("send(", text_.Parameter(sizes), ", ", token, ")", rest));
      text_.Add("token[]", absl::StrCat("send-done(", sent, ")", channel));
    }
    if (text_.Flip()) std::reverse(receptions.begin(), receptions.end());
    for (const std::string& reception : receptions) {
      const std::string done =
          text_.Add(absl::StrCat("(", shape, ", token[])"), absl::StrCat("recv-done(", reception, ")", channel));
      text_.Return(shape, text_.Add(shape, absl::StrCat("get-tuple-element(", done, "), index=0")));
    }
  }

  void AddBroadcast() {
    text_.ChooseGroups(false, true);
    const std::vector<int64_t> sizes = Sizes();
    const std::string shape = text_.Shape(sizes);
    text_.AddCollective(shape, "collective-broadcast", {{text_.Parameter(sizes), shape}},
                        absl::StrCat(", ", text_.groups()));
  }

  // Each member sends one row to each other: row i of the input to row `own` of the output.
  void AddRagged() {
    text_.ChooseGroups(false, false);
    if (text_.mode() != CollectiveWriter::kReplica || text_.groups() != "replica_groups={}") return AddBroadcast();
    const std::string shape = text_.Shape({text_.group_size(), 3}), input = text_.Parameter({text_.group_size(), 3}),
                      output = text_.Parameter({text_.group_size(), 3});
    std::vector<int64_t> iota(text_.group_size()), ones(text_.group_size(), 1);
    std::iota(iota.begin(), iota.end(), 0);
    const std::string list = absl::StrCat("s32[", text_.group_size(), "]");
    const std::string each = text_.Add(list, absl::StrCat("constant({", absl::StrJoin(iota, ","), "})"));
    const std::string one = text_.Add(list, absl::StrCat("constant({", absl::StrJoin(ones, ","), "})"));
    const std::string own = text_.Add("s32[]", absl::StrCat("convert(", text_.Add("u32[]", "replica-id()"), ")"));
    const std::string to = text_.Add(list, absl::StrCat("broadcast(", own, "), dimensions={}"));
    text_.AddCollective(shape, "ragged-all-to-all",
                        {{input, shape}, {output, shape}, {each, list}, {one, list}, {to, list}, {one, list}},
                        absl::StrCat(", ", text_.groups()));
  }

  void AddIds() {
    text_.Return("u32[]", text_.Add("u32[]", "partition-id()"));
    text_.Return("u32[]", text_.Add("u32[]", "replica-id()"));
  }

  const RandomProgramOptions& options_;
  CollectiveWriter text_;
};

}  // namespace

std::string MakeRandomProgram(const RandomProgramOptions& options) { return ProgramMaker(options).Make(); }

// Small whole numbers: sums of them are exact in wide types.
std::vector<Literal> MakeArguments(const HloModule& module, uint64_t seed, int64_t device) {
  std::mt19937_64 random(seed * 7919 + static_cast<uint64_t>(device));
  std::vector<Literal> arguments;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    const class Shape& shape = parameter->shape();
    Literal numbers(ShapeUtil::ChangeElementType(shape, S32));
    const bool may_be_negative = !primitive_util::IsUnsignedIntegralType(shape.element_type());
    for (int32_t& x : numbers.data<int32_t>()) {
      x = static_cast<int32_t>(random() % 8) - (may_be_negative ? 4 : 0);
    }
    arguments.push_back(numbers.Convert(shape.element_type()).value());
  }
  return arguments;
}

}  // namespace kashi::testing
