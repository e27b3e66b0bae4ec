// Modules, computations and instructions in Python: how they are kept alive, and what a handle does after a removal.
//
// A handle of an instruction or a computation shares a cell with all other handles of it. The cell keeps the module
// alive. When an edit removes the instruction, the cell is emptied, and the handles raise ReferenceError. All of this
// happens with the GIL. A program that runs without the GIL works on a copy of the module.
#ifndef KASHI_PYTHON_SRC_MODULE_H_
#define KASHI_PYTHON_SRC_MODULE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "binding.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::python {

// The program of the examples in help texts.
#define KASHI_SAMPLE_MODULE                                                          \
  ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  x = f32[2,3] parameter(0)\\n'\n" \
  "...                 '  ROOT y = f32[2,3] negate(x)\\n}\\n')\n"

struct Cell;

struct ModuleState : std::enable_shared_from_this<ModuleState> {
  explicit ModuleState(std::unique_ptr<HloModule> module) : module(std::move(module)) {}

  // The cell of an instruction or computation; makes it if there is none.
  std::shared_ptr<Cell> CellOf(const void* address);
  // Empties the cells of objects that the module does not hold any more. O(instructions).
  void DropRemoved();

  std::unique_ptr<HloModule> module;
  absl::flat_hash_map<const void*, Cell*> cells;  // each removes itself
};

struct Cell : std::enable_shared_from_this<Cell> {
  Cell(std::shared_ptr<ModuleState> state, const void* address) : state(std::move(state)), address(address) {}
  ~Cell() {
    if (address != nullptr) state->cells.erase(address);
  }
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  const std::shared_ptr<ModuleState> state;
  const void* address;  // null: removed
};

// Raises ReferenceError.
[[noreturn]] void ThrowRemoved();

// A handle: the type of Python's Instruction and Computation.
template <typename T>
struct Ref {
  std::shared_ptr<Cell> cell;

  ModuleState& state() const { return *cell->state; }
  // ReferenceError if it was removed.
  T* get() const {
    if (cell->address == nullptr) ThrowRemoved();
    return static_cast<T*>(const_cast<void*>(cell->address));
  }
  T* operator->() const { return get(); }
  friend bool operator==(const Ref& a, const Ref& b) { return a.cell == b.cell; }
};
using InstructionRef = Ref<HloInstruction>;
using ComputationRef = Ref<HloComputation>;
struct ModuleRef {
  std::shared_ptr<ModuleState> state;
  HloModule* operator->() const { return state->module.get(); }
};

// The module that a function of this name got. TypeError for anything else.
const ModuleRef& ModuleOfArgument(nb::handle module, absl::string_view function);

inline InstructionRef RefTo(ModuleState& state, const HloInstruction* instruction) {
  return {state.CellOf(instruction)};
}
inline ComputationRef RefTo(ModuleState& state, const HloComputation* computation) {
  return {state.CellOf(computation)};
}
// A tuple of handles; None for null.
template <typename Range>
nb::tuple RefsTo(ModuleState& state, const Range& range) {
  nb::list refs;
  for (const auto* each : range) {
    if (each == nullptr) {
      refs.append(nb::none());
    } else {
      refs.append(nb::cast(RefTo(state, each)));
    }
  }
  return nb::tuple(refs);
}

// Attributes of the operation as values of Python (attributes.cc).
nb::dict AttributesOf(const InstructionRef& instruction);
// The text of an attribute of this value, which AttributesOf gives back: `dimensions={0,1}`. Appends the computations
// that it names to `called`.
std::string AttributeText(HloOpcode opcode, const std::string& name, nb::handle value,
                          std::vector<HloComputation*>* called);
// A constant's elements; an array or a tuple.
nb::object LiteralArrays(const Literal& literal);

}  // namespace kashi::python

#endif  // KASHI_PYTHON_SRC_MODULE_H_
