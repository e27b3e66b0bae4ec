// Where an instruction belongs in the user's program, by its op_name.
//
//   op_name                                                    scope               layer
//   jit(step)/jvp(layer_3)/attention/dot_general               layer_3/attention   layer_3
//   jit(step)/transpose(jvp(layer_3))/attention/dot_general    layer_3/attention   layer_3
//   jit(step)/vmap(layer_3)/jit(silu)/logistic                 layer_3/silu        layer_3
//   jit(step)/while/body/checkpoint/rematted_computation/layer/tanh  layer         layer
//   params['layer_3']['kernel']  (an argument)                 (arguments)/params/layer_3   layer_3
//   "" or jit(step)/add                                        ""                  ""
//
// The first part is the program, the last one the operation: neither is in the scope. Transformations (jvp, transpose,
// vmap, …) and what JAX adds for control flow and recomputation (while/body, cond/branch_1_fun, checkpoint,
// closed_call, …) belong to what they contain, so that the forward, the backward and the recomputed pass of a layer are
// one scope. With `keep_transforms` they stay as they are written.
//
// In a module that is not compiled yet, the op_names of a called function begin within the function: they continue the
// op_name of the call. A function with several calls is in several scopes.
//
// The layer is the scope up to its first numbered part that has siblings with other numbers (layer_3, Block_0, h/7), or
// its first part if it has none. An argument is in the layer that has the name of one of its parts.
#ifndef KASHI_INSIGHT_SCOPES_H_
#define KASHI_INSIGHT_SCOPES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/execution_counts.h"

namespace kashi::insight {

struct ScopeOptions {
  bool keep_transforms = false;
};

// The parts of the scope that a whole op_name has, outermost first. O(length).
std::vector<std::string> ScopeParts(absl::string_view op_name, const ScopeOptions& options = {});
// Those of an argument's name: params['layer_3']['kernel'] is {"(arguments)", "params", "layer_3"}.
std::vector<std::string> ArgumentParts(absl::string_view name);

class Scopes {
 public:
  // One of the scopes of an instruction.
  struct Place {
    std::vector<std::string> parts;  // outermost first; empty: none
    double share = 1;                // of the runs of the instruction; the shares of all places add up to 1
  };

  // Not thread-safe. INVALID_ARGUMENT for modules with broken links or recursion. The module must outlive it.
  // O(instructions); each distinct op_name is read once.
  static absl::StatusOr<Scopes> Create(const HloModule& module, const ExecutionCounts& counts,
                                       const ScopeOptions& options = {});

  // At least one, the largest share first. An instruction without an op_name that only moves data (a copy, a bitcast,
  // the end of an asynchronous operation) is in the scope of its first user with one, or of its operand.
  std::vector<Place> PlacesOf(const HloInstruction& instruction) const;
  // The parts of the place with the largest share.
  std::vector<std::string> PartsOf(const HloInstruction& instruction) const { return PlacesOf(instruction)[0].parts; }
  std::string ScopeOf(const HloInstruction& instruction) const;  // "layer_3/attention"; "": none
  std::string LayerOf(const HloInstruction& instruction) const;  // "layer_3"; "": none
  // The layer of a scope of this module.
  std::string LayerOfParts(absl::Span<const std::string> parts) const;

  // Calls from more places than this count to the first place; so do those of a module with more names in called
  // functions than kMostNames.
  static constexpr int64_t kMostPlaces = 64;
  static constexpr int64_t kMostNames = 1'000'000;

 private:
  // The op_name before the names in a computation, and how often it runs there.
  struct Prefix {
    std::string op_name;  // "": the names are whole
    double runs = 0;
  };

  explicit Scopes(const ScopeOptions& options) : options_(options) {}
  void AddPrefixes(const CallGraph& graph, const ExecutionCounts& counts);
  void AddPrefix(const HloComputation* callee, std::string op_name, double runs);
  void AddLayers(const HloModule& module);
  std::string OpNameOf(const HloInstruction& instruction) const;
  const std::vector<std::string>& PartsOfName(std::string whole_op_name) const;

  ScopeOptions options_;
  int64_t names_left_ = kMostNames;
  absl::flat_hash_set<std::string> arguments_;  // the op_names of the entry's parameters
  absl::flat_hash_map<const HloComputation*, std::vector<Prefix>> prefixes_;
  // Each distinct op_name is read once.
  mutable absl::flat_hash_map<std::string, std::vector<std::string>> parts_;
  absl::flat_hash_set<std::string> numbered_;                  // scopes that end in a numbered part with siblings
  absl::flat_hash_map<std::string, std::string> layer_names_;  // the last part of a layer: the layer
};

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_SCOPES_H_
