// kashi.XlaBuilder in Python: parts that its files share. Each file defines the methods of a group of XLA's functions.
//
// XLA's builder keeps the first error until Build; here a method raises it at once. A computation that an operation
// calls is a Module, which is copied.
#ifndef KASHI_PYTHON_SRC_BUILDER_H_
#define KASHI_PYTHON_SRC_BUILDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kashi/hlo/builder/xla_builder.h"
#include "module.h"
#include "sequences.h"

namespace kashi::python {

struct OpRef {
  std::shared_ptr<XlaBuilder> builder;  // which the operation must not outlive
  XlaOp op;
};

struct BuilderRef {
  std::shared_ptr<XlaBuilder> builder;

  XlaBuilder* get() const { return builder.get(); }
  // An operation of this builder, or a number as a constant of the type of `like`. TypeError for others.
  XlaOp Op(nb::handle operand, const OpRef* like = nullptr) const;
  // The operations of a sequence; ValueError if there is none, and there must be.
  std::vector<XlaOp> Ops(nb::handle operands) const;
  std::vector<XlaOp> SomeOps(nb::handle operands) const;
  // The result of a method: the operation, or the builder's error.
  OpRef Return(XlaOp op) const;
};

// The text with the method's example, if builder_examples.cc has one.
std::string WithExample(absl::string_view method, absl::string_view doc);

// kashi.XlaBuilder. Examples are added to its methods.
class Class : public nb::class_<BuilderRef> {
 public:
  using nb::class_<BuilderRef>::class_;
  // The text of the method is the one of `extra` that is a string.
  template <typename Function, typename... Extra>
  Class& def(const char* name, Function&& function, const Extra&... extra) {
    nb::class_<BuilderRef>::def(name, std::forward<Function>(function), Documented(name, extra)...);
    return *this;
  }

 private:
  template <typename Extra>
  static decltype(auto) Documented(const char* name, const Extra& extra) {
    if constexpr (std::is_convertible_v<const Extra&, const char*>) {
      return Text{WithExample(name, extra)};
    } else {
      return (extra);
    }
  }
  // Lives until the end of the call that it is an argument of.
  struct Text {
    std::string text;
    operator const char*() const { return text.c_str(); }
  };
};
using Numbers = std::vector<int64_t>;
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

Shape ShapeOf(const OpRef& op);
// The elements of an array.
Literal LiteralOf(nb::handle array);

// ---- Arguments that are not operations. None is the default of the optional ones.

// A copy of the module.
XlaComputation ComputationOf(const ModuleRef& module);
Pairs PairsOf(nb::handle pairs, const char* name);
std::vector<ReplicaGroup> GroupsOf(nb::handle groups);
std::optional<PrimitiveType> OptionalType(nb::handle type);
// Two names of precisions, or the name of an algorithm.
std::optional<PrecisionConfig> PrecisionOf(nb::handle precision);
inline const PrecisionConfig* Pointer(const std::optional<PrecisionConfig>& config) {
  return config.has_value() ? &*config : nullptr;
}
// "highest", or a dict of atol, rtol and ulps.
std::optional<ResultAccuracy> AccuracyOf(nb::handle accuracy);
// "same" or "valid".
Padding PaddingNamed(const std::string& name);
std::optional<ChannelHandle> ChannelOf(nb::handle id);
ChannelHandle ChannelOf(int64_t id, ChannelHandle::ChannelType type);
std::optional<bool> OptionalBool(nb::handle value);
// HLO's text: "{devices=[2,1]0,1}".
OpSharding ShardingOf(const std::string& text);
ShapeIndex ShapeIndexOf(nb::handle numbers, const char* name);

// ---- The groups of methods.

void DefineInputs(Class& builder);
void DefineElementwise(Class& builder);
void DefineOtherElementwise(Class& builder);
void DefineMovement(Class& builder);
void DefineParts(Class& builder);
void DefinePartsInDim(Class& builder);
void DefineDynamicSizes(Class& builder);
void DefineContractions(Class& builder);
void DefineConvolutions(Class& builder);
void DefineLinearAlgebra(Class& builder);
void DefineReductions(Class& builder);
void DefineIndexing(Class& builder);
void DefineCalls(Class& builder);
void DefineCustomCalls(Class& builder);
void DefineCollectives(Class& builder);
void DefineTransfers(Class& builder);
void DefineAttributes(Class& builder);
void DefineOperators(nb::module_& m);

}  // namespace kashi::python

#endif  // KASHI_PYTHON_SRC_BUILDER_H_
