// Pretty forms of operations with regions, and convolution.
#include "absl/strings/str_cat.h"
#include "kashi/stablehlo/text/pretty_forms.h"

namespace kashi::stablehlo {
namespace {

// (%a init: %b), (%c init: %d): inputs first, then initial values.
bool ReadReduceOperands(MlirReader* reader, OperationDraft* draft) {
  absl::InlinedVector<Value*, 6> initial;
  do {
    if (!reader->Expect('(', "before an input") || !reader->ReadOperand(draft)) return false;
    if (!reader->cursor().MatchWord("init")) return reader->ErrorHere("`init:`");
    if (!reader->Expect(':', "after `init`") || !reader->ReadOperand(draft)) return false;
    initial.push_back(draft->operands.back());
    draft->operands.pop_back();
    if (!reader->Expect(')', "after an initial value")) return false;
  } while (reader->cursor().Match(','));
  draft->operands.insert(draft->operands.end(), initial.begin(), initial.end());
  return true;
}

// reducer(%a: T, %b: T) (%c: U, %d: U) {…}: the block's arguments are the firsts, then the seconds.
bool ReadReducer(MlirReader* reader, OperationDraft* draft) {
  if (!reader->cursor().MatchWord("reducer")) return reader->ErrorHere("`reducer`");
  MlirReader::ArgumentList arguments;
  MlirReader::ArgumentList seconds;
  while (reader->cursor().Match('(')) {
    for (MlirReader::ArgumentList* list : {&arguments, &seconds}) {
      MlirReader::NamedArgument argument;
      if (!reader->ReadArgument(&argument) || !reader->ReadOptionalLocation(&argument.location)) return false;
      list->push_back(argument);
      if (list == &arguments && !reader->Expect(',', "between the arguments of a reducer")) return false;
    }
    if (!reader->Expect(')', "after the arguments of a reducer")) return false;
  }
  arguments.insert(arguments.end(), seconds.begin(), seconds.end());
  return reader->ReadRegion(arguments, draft);
}

const Attribute* ReadKeyedAttribute(absl::string_view key, const Attribute* (MlirReader::*read)(), MlirReader* reader) {
  if (!reader->cursor().MatchWord(key)) return reader->ErrorHere(absl::StrCat("`", key, "=`")), nullptr;
  return reader->Expect('=', "after a name") ? (reader->*read)() : nullptr;
}

}  // namespace

bool MlirReader::AddReductionBody(absl::string_view operation_name, OperationDraft* draft) {
  OperationDraft inner;
  inner.begin = draft->begin;
  inner.end = draft->end;
  if (!FindOperationName(operation_name, &inner)) return false;
  const bool fits =
      inner.row != nullptr && inner.row->operands.Allows(2) && inner.row->results.Allows(1) && inner.row->regions <= 0;
  if (!fits) return Error(draft->begin, draft->end, absl::StrCat("`", inner.name, "` is no operation of two values"));
  const Type* result = draft->result_types.empty() ? nullptr : draft->result_types[0];
  if (result == nullptr || result->types.empty()) return Error(draft->begin, draft->end, "`applies` needs one tensor");
  const Type* scalar = TensorType(result->types[0], {});
  Region region;
  region.blocks = program_.NewArray<Block>(1);
  Block& block = region.blocks[0];
  block.arguments = program_.NewArray<Value>(2);
  Operation* operation = program_.New<Operation>();
  Operation* end = program_.New<Operation>();
  absl::Span<Value*> operands = program_.NewArray<Value*>(2);
  for (int i = 0; i < 2; ++i) {
    block.arguments[i].type = scalar;
    block.arguments[i].index = i;
    operands[i] = &block.arguments[i];
  }
  operation->operands = operands;
  operation->name = inner.name;
  operation->results = program_.NewArray<Value>(1);
  operation->results[0].type = scalar;
  operation->results[0].definition = operation;
  end->name = "stablehlo.return";
  end->operands = program_.CopyArray<Value*>({&operation->results[0]});
  operation->begin = end->begin = draft->begin;
  operation->end = end->end = draft->end;
  block.operations = program_.CopyArray<Operation*>({operation, end});
  draft->regions.push_back(region);
  return NormaliseAttributes(&inner, operation);
}

bool ReadReduce(MlirReader* reader, OperationDraft* draft) {
  TextCursor& cursor = reader->cursor();
  if (!ReadReduceOperands(reader, draft)) return false;
  absl::string_view applies;
  if (cursor.MatchWord("applies")) applies = cursor.ReadWord();
  if (!cursor.MatchWord("across")) return reader->ErrorHere("`across dimensions = [..]`");
  const Attribute* dimensions = ReadKeyedAttribute("dimensions", &MlirReader::ReadIntegers, reader);
  if (dimensions == nullptr) return false;
  reader->AddAttribute("dimensions", dimensions, draft);
  if (!reader->ReadOptionalAttributes(draft) || !ReadTypes(reader, draft)) return false;
  return applies.empty() ? ReadReducer(reader, draft) : reader->AddReductionBody(applies, draft);
}

// (%a = %0, %b = %1) : T, U attributes {…} cond {…} do {…}
bool ReadWhile(MlirReader* reader, OperationDraft* draft) {
  TextCursor& cursor = reader->cursor();
  MlirReader::ArgumentList arguments;
  if (!reader->Expect('(', "before the operands")) return false;
  while (cursor.Peek() == '%') {
    MlirReader::NamedArgument argument;
    argument.offset = cursor.offset();
    cursor.Match('%');
    argument.name = cursor.ReadSuffix();
    if (!reader->Expect('=', "after an argument") || !reader->ReadOperand(draft)) return false;
    argument.type = draft->operands.back()->type;
    arguments.push_back(argument);
    if (!cursor.Match(',')) break;
  }
  if (!reader->Expect(')', "after the operands")) return false;
  if (cursor.Match(':') && !reader->ReadTypeList(&draft->result_types)) return false;
  if (draft->result_types.size() != arguments.size()) return reader->ErrorHere("a type for each operand");
  for (size_t i = 0; i < arguments.size(); ++i) arguments[i].type = draft->result_types[i];
  if (cursor.MatchWord("attributes") && !reader->ReadOptionalAttributes(draft)) return false;
  if (!cursor.MatchWord("cond")) return reader->ErrorHere("`cond`");
  if (!reader->ReadRegion(arguments, draft)) return false;
  if (!cursor.MatchWord("do")) return reader->ErrorHere("`do`");
  return reader->ReadRegion(arguments, draft);
}

// (%inputs) inits (%carries) dimension=0 attributes {…} {…} : (T, U) -> (T, U)
bool ReadScan(MlirReader* reader, OperationDraft* draft) {
  TextCursor& cursor = reader->cursor();
  int64_t dimension = 0;
  if (!reader->Expect('(', "before the inputs") || !reader->ReadOperands(')', draft)) return false;
  if (!cursor.MatchWord("inits")) return reader->ErrorHere("`inits`");
  if (!reader->Expect('(', "before the initial values") || !reader->ReadOperands(')', draft)) return false;
  if (!cursor.MatchWord("dimension")) return reader->ErrorHere("`dimension=`");
  if (!reader->Expect('=', "after `dimension`") || !reader->ReadInt(&dimension)) return false;
  reader->AddAttribute("dimension", reader->NewInteger(S64, dimension), draft);
  if (cursor.MatchWord("attributes") && !reader->ReadOptionalAttributes(draft)) return false;
  return reader->ReadRegion({}, draft) && ReadTypes(reader, draft);
}

// (%a) in_shardings=[…] out_shardings=[…] manual_axes={"x"} (%b: T) {…} : (T) -> T
bool ReadManualComputation(MlirReader* reader, OperationDraft* draft) {
  TextCursor& cursor = reader->cursor();
  if (!reader->Expect('(', "before the operands") || !reader->ReadOperands(')', draft)) return false;
  const Attribute* in = ReadKeyedAttribute("in_shardings", &MlirReader::ReadShardings, reader);
  if (in == nullptr) return false;
  const Attribute* out = ReadKeyedAttribute("out_shardings", &MlirReader::ReadShardings, reader);
  if (out == nullptr) return false;
  const Attribute* axes = ReadKeyedAttribute("manual_axes", &MlirReader::ReadManualAxes, reader);
  if (axes == nullptr || !reader->Expect('(', "before the arguments")) return false;
  reader->AddAttribute("in_shardings", in, draft);
  reader->AddAttribute("out_shardings", out, draft);
  reader->AddAttribute("manual_axes", axes, draft);
  MlirReader::ArgumentList arguments;
  while (cursor.Peek() == '%') {
    arguments.emplace_back();
    if (!reader->ReadArgument(&arguments.back()) || !reader->ReadOptionalLocation(&arguments.back().location))
      return false;
    if (!cursor.Match(',')) break;
  }
  if (!reader->Expect(')', "after the arguments") || !reader->ReadRegion(arguments, draft)) return false;
  return reader->ReadOptionalAttributes(draft) && ReadTypes(reader, draft);
}

// (%a, %b) dim_numbers = […]x[…]->[…], window = {stride = [..], …} {…} : (T, T) -> T
bool ReadConvolution(MlirReader* reader, OperationDraft* draft) {
  static constexpr struct {
    absl::string_view key, attribute;
  } kWindow[] = {{"stride", "window_strides"},
                 {"pad", "padding"},
                 {"lhs_dilate", "lhs_dilation"},
                 {"rhs_dilate", "rhs_dilation"},
                 {"reverse", "window_reversal"}};
  TextCursor& cursor = reader->cursor();
  if (!reader->Expect('(', "before the operands") || !reader->ReadOperands(')', draft)) return false;
  if (!cursor.MatchWord("dim_numbers") || !reader->Expect('=', "after a name"))
    return reader->ErrorHere("`dim_numbers =`");
  if (!reader->ReadRecordFields("stablehlo.conv", &draft->attributes)) return false;
  if (cursor.Match(',')) {
    if (!cursor.MatchWord("window") || !reader->Expect('=', "after a name")) return reader->ErrorHere("`window =`");
    absl::InlinedVector<NamedAttribute, 8> window;
    if (!reader->ReadDictionary(&window)) return false;
    for (const NamedAttribute& field : window) {
      for (const auto& row : kWindow) {
        if (row.key == field.name) reader->AddAttribute(row.attribute, field.value, draft);
      }
    }
  }
  return reader->ReadOptionalAttributes(draft) && ReadTypes(reader, draft);
}

}  // namespace kashi::stablehlo
