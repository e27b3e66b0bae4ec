// The attributes of operations as text: one function for each codec of attributes.def.
#include <string>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/dimension_numbers_text.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/hlo/attributes/string_escapes.h"
#include "kashi/hlo/attributes/window_util.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/text/hlo_text.h"
#include "kashi/literal/literal.h"

namespace kashi {

using hlo::AppendCEscaped;

void HloTextPrinter::Begin(HloAttribute attribute) {
  out_.Add(", ");
  out_.Add(HloAttributeName(attribute));
  out_.Add('=');
}

void HloTextPrinter::PrintOperationAttributes(const HloInstruction& instruction) {
  for (const HloOpcodeAttribute& entry : GetHloOpcodeInfo(instruction.opcode()).attributes) {
    // The accuracy comes after the common attributes.
    if (entry.attribute == HloAttribute::result_accuracy) continue;
    (this->*FunctionOf(entry.attribute))(instruction, entry);
  }
}

void HloTextPrinter::PrintAttribute(const HloInstruction& instruction, HloAttribute attribute) {
  for (const HloOpcodeAttribute& entry : GetHloOpcodeInfo(instruction.opcode()).attributes) {
    if (entry.attribute == attribute) (this->*FunctionOf(attribute))(instruction, entry);
  }
}

#define KASHI_PRINT(name)                 \
  template <HloField field, int argument> \
  void HloTextPrinter::Print##name(const HloInstruction& instruction, HloOpcodeAttribute entry)
// Finds the value of the field. An instruction without the field prints nothing.
#define KASHI_FIND(value)                                                \
  const HloFieldType<field>* value = instruction.fields().Find<field>(); \
  if (value == nullptr) return

KASHI_PRINT(Int) {
  KASHI_FIND(value);
  Begin(entry.attribute);
  out_.AddInt(*value);
}
KASHI_PRINT(Int32) { PrintInt<field, argument>(instruction, entry); }
KASHI_PRINT(IntNotOne) {
  if (instruction.fields().Get<field>(1) != 1) PrintInt<field, argument>(instruction, entry);
}
KASHI_PRINT(ChannelId) {
  if (options_.print_channel_id()) PrintInt<field, argument>(instruction, entry);
}

KASHI_PRINT(GroupMode) { (void)instruction, (void)entry; }  // read and forgotten

KASHI_PRINT(ComparisonOrder) { (void)instruction, (void)entry; }  // `type` says it

KASHI_PRINT(Bool) {
  KASHI_FIND(value);
  Begin(entry.attribute);
  out_.Add(*value ? "true" : "false");
}
KASHI_PRINT(True) {
  if (instruction.fields().Get<field>(false)) PrintBool<field, argument>(instruction, entry);
}
KASHI_PRINT(TriStateBool) {
  KASHI_FIND(value);
  const absl::string_view text = TriStateToString(*value);
  if (text.empty()) return;
  Begin(entry.attribute);
  out_.Add(text);
}

KASHI_PRINT(ShuffleMode) {
  if (!instruction.fields().Has(field)) return;
  Begin(entry.attribute);
  out_.Add(kRotateMode);
}

KASHI_PRINT(Float) {
  KASHI_FIND(value);
  Begin(entry.attribute);
  out_.Append(*value);
}

KASHI_PRINT(String) {
  KASHI_FIND(value);
  if constexpr (field == HloField::async_execution_thread) {
    if (*value == kMainExecutionThread) return;
  }
  if constexpr (field == HloField::infeed_config || field == HloField::outfeed_config) {
    if (!options_.print_infeed_outfeed_config() || value->empty()) return;
  }
  Begin(entry.attribute);
  out_.Add('"');
  AppendCEscaped(&out_, *value);
  out_.Add('"');
}

KASHI_PRINT(IntList) {
  KASHI_FIND(value);
  Begin(entry.attribute);
  out_.Add('{');
  out_.AddInts(*value);
  out_.Add('}');
}

KASHI_PRINT(OneDimension) {
  static_cast<void>(instruction);
  static_cast<void>(entry);
}

KASHI_PRINT(IntListList) {
  KASHI_FIND(lists);
  if (lists->empty()) return;
  Begin(entry.attribute);
  out_.Add('{');
  for (size_t i = 0; i < lists->size(); ++i) {
    if (i > 0) out_.Add(',');
    out_.Add('{');
    out_.AddInts((*lists)[i]);
    out_.Add('}');
  }
  out_.Add('}');
}

KASHI_PRINT(PairList) {
  KASHI_FIND(pairs);
  Begin(entry.attribute);
  out_.Add('{');
  for (size_t i = 0; i < pairs->size(); ++i) {
    out_.Add(i > 0 ? ",{" : "{");
    out_.AddInt((*pairs)[i].first);
    out_.Add(',');
    out_.AddInt((*pairs)[i].second);
    out_.Add('}');
  }
  out_.Add('}');
}

void HloTextPrinter::PrintCalled(const HloComputation* computation) { PrintName(computation->name()); }

KASHI_PRINT(Computation) {
  if (!NamesCalledComputations() || entry.attribute == HloAttribute::custom_call_to_apply) return;
  if constexpr (field == HloField::called_computations) {
    KASHI_FIND(called);
    if (called->size() <= argument) return;
    // The branches of a conditional have names of their own only if a predicate chooses.
    if (instruction.opcode() == HloOpcode::kConditional && instruction.operand(0)->shape().element_type() != PRED)
      return;
    Begin(entry.attribute);
    PrintCalled((*called)[argument]);
  }
}

KASHI_PRINT(ComputationList) {
  if (!NamesCalledComputations()) return;
  KASHI_FIND(called);
  if (instruction.opcode() == HloOpcode::kConditional) {
    if (instruction.operand(0)->shape().element_type() == PRED) return;
  } else if (called->empty()) {
    return;
  }
  Begin(entry.attribute);
  out_.Add('{');
  for (size_t i = 0; i < called->size(); ++i) {
    if (i > 0) out_.Add(", ");
    PrintCalled((*called)[i]);
  }
  out_.Add('}');
}

KASHI_PRINT(GatherDims) {
  KASHI_FIND(numbers);
  if constexpr (argument == 5) {
    Begin(entry.attribute);
    out_.AddInt(numbers->index_vector_dim());
  } else {
    const Int64List* const lists[] = {&numbers->offset_dims(), &numbers->collapsed_slice_dims(),
                                      &numbers->start_index_map(), &numbers->operand_batching_dims(),
                                      &numbers->start_indices_batching_dims()};
    if (argument >= 3 && lists[argument]->empty()) return;
    Begin(entry.attribute);
    out_.Add('{');
    out_.AddInts(*lists[argument]);
    out_.Add('}');
  }
}

KASHI_PRINT(ScatterDims) {
  KASHI_FIND(numbers);
  if constexpr (argument == 5) {
    Begin(entry.attribute);
    out_.AddInt(numbers->index_vector_dim());
  } else {
    const Int64List* const lists[] = {&numbers->update_window_dims(), &numbers->inserted_window_dims(),
                                      &numbers->scatter_dims_to_operand_dims(), &numbers->input_batching_dims(),
                                      &numbers->scatter_indices_batching_dims()};
    if (argument >= 3 && lists[argument]->empty()) return;
    Begin(entry.attribute);
    out_.Add('{');
    out_.AddInts(*lists[argument]);
    out_.Add('}');
  }
}

namespace {
const Int64List& DotList(const DotDimensionNumbers& numbers, int argument) {
  switch (argument) {
    case 0:
      return numbers.lhs_batch_dimensions();
    case 1:
      return numbers.lhs_contracting_dimensions();
    case 2:
      return numbers.rhs_batch_dimensions();
    default:
      return numbers.rhs_contracting_dimensions();
  }
}
}  // namespace

KASHI_PRINT(DotDims) {
  KASHI_FIND(numbers);
  const Int64List& list = DotList(*numbers, argument);
  if (list.empty() && entry.need != HloOpcodeAttribute::kAlwaysPrinted) return;
  Begin(entry.attribute);
  out_.Add('{');
  out_.AddInts(list);
  out_.Add('}');
}

KASHI_PRINT(RaggedDims) {
  KASHI_FIND(numbers);
  const Int64List& list = argument == 4   ? numbers->lhs_ragged_dimensions()
                          : argument == 5 ? numbers->rhs_group_dimensions()
                                          : DotList(numbers->dot_dimension_numbers(), argument);
  if (list.empty() && entry.need == HloOpcodeAttribute::kOptional) return;
  Begin(entry.attribute);
  out_.Add('{');
  out_.AddInts(list);
  out_.Add('}');
}

// Only if some precision is not the default.
KASHI_PRINT(OperandPrecision) {
  KASHI_FIND(config);
  bool is_default = true;
  for (const PrecisionConfig::Precision precision : config->operand_precision()) {
    is_default = is_default && precision == PrecisionConfig::DEFAULT;
  }
  if (is_default) return;
  Begin(entry.attribute);
  out_.Add('{');
  for (int i = 0; i < config->operand_precision_size(); ++i) {
    if (i > 0) out_.Add(',');
    out_.Add(PrecisionToString(config->operand_precision(i)));
  }
  out_.Add('}');
}

KASHI_PRINT(DotAlgorithm) {
  KASHI_FIND(config);
  if (config->algorithm() == PrecisionConfig::ALG_UNSET) return;
  Begin(entry.attribute);
  out_.Add(AlgorithmToString(config->algorithm()));
}

#define KASHI_PRINT_WORD(name, to_string, dropped) \
  KASHI_PRINT(name) {                              \
    KASHI_FIND(value);                             \
    if (dropped) return;                           \
    Begin(entry.attribute);                        \
    out_.Add(to_string(*value));                   \
  }
KASHI_PRINT_WORD(ApiVersion, CustomCallApiVersionToString, *value == API_VERSION_ORIGINAL)
KASHI_PRINT_WORD(Schedule, CustomCallScheduleToString, *value == SCHEDULE_NONE)
KASHI_PRINT_WORD(ConvKind, ConvolutionKindToString, *value == CONVOLUTION_KIND_UNSET)
KASHI_PRINT_WORD(Distribution, RandomDistributionToString, false)
KASHI_PRINT_WORD(RngAlgorithm, RandomAlgorithmToString, false)
KASHI_PRINT_WORD(FftKind, FftTypeToString, false)
KASHI_PRINT_WORD(FusionKind, ToString, false)
KASHI_PRINT_WORD(PaddingKind, PaddingTypeToString, *value == PADDING_INVALID)
KASHI_PRINT_WORD(Direction, ComparisonDirectionToString, false)
KASHI_PRINT_WORD(ComparisonKind, ComparisonTypeToString, false)
#undef KASHI_PRINT_WORD

KASHI_PRINT(TriangularSolve) {
  KASHI_FIND(options);
  if constexpr (argument == 3) {
    if (options->transpose_a() == TriangularSolveOptions::TRANSPOSE_INVALID) return;
    Begin(entry.attribute);
    out_.Add(TransposeToString(options->transpose_a()));
  } else {
    const bool flags[] = {options->left_side(), options->lower(), options->unit_diagonal()};
    if (!flags[argument]) return;
    Begin(entry.attribute);
    out_.Add("true");
  }
}

KASHI_PRINT(CholeskyLower) {
  KASHI_FIND(options);
  if (!options->lower()) return;
  Begin(entry.attribute);
  out_.Add("true");
}

KASHI_PRINT(Accuracy) {
  KASHI_FIND(accuracy);
  if (*accuracy == ResultAccuracy()) return;
  Begin(entry.attribute);
  out_.Add(ResultAccuracyAttributeToString(*accuracy));
}

KASHI_PRINT(Window) {
  KASHI_FIND(window);
  if (window->dimensions().empty() && instruction.opcode() != HloOpcode::kCustomCall) return;
  Begin(entry.attribute);
  out_.Add('{');
  window_util::Print(&out_, *window);
  out_.Add('}');
}

KASHI_PRINT(DimLabels) {
  KASHI_FIND(numbers);
  Begin(entry.attribute);
  out_.Add(ConvolutionDimensionNumbersToString(*numbers));
}

KASHI_PRINT(Padding) {
  KASHI_FIND(padding);
  Begin(entry.attribute);
  out_.Add(PaddingConfigToString(*padding));
}

KASHI_PRINT(SliceRanges) {
  KASHI_FIND(ranges);
  bool strided = false;
  for (const int64_t stride : ranges->strides) strided = strided || stride != 1;
  Begin(entry.attribute);
  out_.Add('{');
  for (size_t i = 0; i < ranges->starts.size(); ++i) {
    out_.Add(i > 0 ? ", [" : "[");
    out_.AddInt(ranges->starts[i]);
    out_.Add(':');
    out_.AddInt(ranges->limits[i]);
    if (strided) {
      out_.Add(':');
      out_.AddInt(ranges->strides[i]);
    }
    out_.Add(']');
  }
  out_.Add('}');
}

KASHI_PRINT(Aliasing) {
  KASHI_FIND(pairs);
  if (pairs->empty()) return;
  Begin(entry.attribute);
  out_.Add('{');
  for (size_t i = 0; i < pairs->size(); ++i) {
    const auto& [output, operand] = (*pairs)[i];
    if (i > 0) out_.Add(", ");
    AppendCat(&out_, output.ToString(), ": (", operand.first, ", ", operand.second.ToString(), ")");
  }
  out_.Add('}');
}

KASHI_PRINT(ShapeList) {
  KASHI_FIND(shapes);
  Begin(entry.attribute);
  out_.Add('{');
  for (size_t i = 0; i < shapes->size(); ++i) {
    if (i > 0) out_.Add(", ");
    ShapeUtil::PrintHumanStringWithLayout(&out_, (*shapes)[i]);
  }
  out_.Add('}');
}

KASHI_PRINT(SingleShape) {
  KASHI_FIND(shape);
  Begin(entry.attribute);
  ShapeUtil::PrintHumanStringWithLayout(&out_, *shape);
}

KASHI_PRINT(Literal) {
  KASHI_FIND(literal);
  Begin(entry.attribute);
  (*literal)->PrintWithLayoutOneline(&out_);
}

KASHI_PRINT(ReplicaGroups) {
  KASHI_FIND(devices);
  Begin(entry.attribute);
  devices->Print(&out_, options_.print_full_replica_group_list());
}

KASHI_PRINT(Domain) {
  KASHI_FIND(domain);
  Begin(entry.attribute);
  out_.Add("{kind=\"sharding\", entry=");
  domain->entry.Print(&out_);
  out_.Add(", exit=");
  domain->exit.Print(&out_);
  out_.Add('}');
}

#undef KASHI_PRINT
#undef KASHI_FIND

HloTextPrinter::AttributeFunction HloTextPrinter::FunctionOf(HloAttribute attribute) {
  static constexpr AttributeFunction kFunctions[] = {
#define KASHI_ATTRIBUTE(identifier, name, codec, field, argument) \
  &HloTextPrinter::Print##codec<HloField::field, argument>,
#include "kashi/hlo/ir/attributes.def"
  };
  return kFunctions[static_cast<size_t>(attribute)];
}

}  // namespace kashi
