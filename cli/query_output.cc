#include "cli/query_output.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/table_text.h"
#include "kashi/base/text.h"
#include "kashi/query/grouping.h"

namespace kashi::cli {

using query::Fact;
using query::FactSet;
using query::FactValue;
using query::Number;
namespace {

// ---- Values ---------------------------------------------------------------------------------------------------------

Json NumberJson(const Number& number) { return number.is_integer() ? Json(number.integer()) : Json(number.AsDouble()); }

Json ValueJson(const FactValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* names = std::get_if<std::vector<std::string>>(&value)) return *names;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  return NumberJson(std::get<Number>(value));
}

// Text of a file, on one line of a terminal.
std::string OneLine(const std::string& text) { return absl::StrReplaceAll(base::Printable(text), {{"\n", " "}}); }

// For people: numbers with separators.
std::string TableValue(const FactValue& value) {
  const auto* number = std::get_if<Number>(&value);
  if (number != nullptr) {
    return number->is_integer() ? base::WithThousands(number->integer()) : absl::StrFormat("%.4g", number->AsDouble());
  }
  return OneLine(query::ValueText(value));
}

// A value of a TSV file: tabs, newlines and backslashes are escaped.
std::string TsvValue(const FactValue& value) {
  return absl::StrReplaceAll(query::ValueText(value), {{"\\", "\\\\"}, {"\t", "\\t"}, {"\n", "\\n"}, {"\r", "\\r"}});
}

// ---- Rows -----------------------------------------------------------------------------------------------------------

struct Row {
  FactValue key;                   // what --sort sorts by
  std::vector<std::string> cells;  // of a table; or one line without its newline
};

// The largest number, the first text.
bool ComesBefore(const FactValue& a, const FactValue& b) {
  const auto* x = std::get_if<Number>(&a);
  const auto* y = std::get_if<Number>(&b);
  return x != nullptr && y != nullptr ? *y < *x : a < b;
}

void SortAndCut(const QueryOutputOptions& options, std::vector<Row>* rows) {
  if (!options.sort.empty() || options.by.has_value()) {
    absl::c_stable_sort(*rows, [&](const Row& a, const Row& b) {
      return options.reverse ? ComesBefore(b.key, a.key) : ComesBefore(a.key, b.key);
    });
  }
  if (options.top >= 0 && static_cast<int64_t>(rows->size()) > options.top) rows->resize(options.top);
}

bool IsLeft(Fact fact) { return !query::IsNumber(query::InfoOf(fact).type); }

// Prints the rows, each of one cell, or a table with this head.
void PrintRows(const QueryOutputOptions& options, const std::vector<std::string>& head,
               const std::vector<bool>& is_left, const std::vector<Row>& rows, Answers* answers) {
  const bool is_table = !options.json && !options.tsv && !head.empty();
  if (options.tsv) answers->Add(absl::StrCat(absl::StrJoin(head, "\t"), "\n"));
  if (!is_table) {
    for (const Row& row : rows) answers->Add(absl::StrCat(absl::StrJoin(row.cells, "\t"), "\n"));
    return;
  }
  if (rows.empty()) return;
  std::vector<std::vector<std::string>> table = {head};
  for (const Row& row : rows) table.push_back(row.cells);
  answers->Add(TableText(std::move(table), TerminalWidth(STDOUT_FILENO), is_left));
}

// ---- Lines and columns ----------------------------------------------------------------------------------------------

constexpr char kFileColour[] = "\x1b[35m";
constexpr char kLineColour[] = "\x1b[32m";
constexpr char kNameColour[] = "\x1b[1m";
constexpr char kSourceColour[] = "\x1b[2m";
constexpr char kNoColour[] = "\x1b[0m";

std::string Coloured(const std::string& text, const char* colour, bool is_coloured) {
  return is_coloured ? absl::StrCat(colour, text, kNoColour) : text;
}

// "step.hlo:12: %dot.3 = f32[8,16]{1,0} dot(%a, %b), …  // jit(step)/attention/dot_general": editors and terminals go
// to the place.
std::string LineText(const ModuleFile& file, const query::ModuleFacts& facts, const HloInstruction& x, bool coloured) {
  const auto print = HloPrintOptions()
                         .set_print_metadata(false)
                         .set_print_backend_config(false)
                         .set_print_original_value(false)
                         .set_compact_operands(true)
                         .set_print_operand_index_annotation_interval(0);
  std::string text = OneLine(x.ToString(print));
  const std::string name = absl::StrCat("%", x.name());
  if (coloured && text.compare(0, name.size(), name) == 0) {
    text = absl::StrCat(Coloured(name, kNameColour, true), text.substr(name.size()));
  }
  const uint32_t line = x.text_place().line;
  const std::string op_name = facts.TextOf(Fact::op_name, x);
  return absl::StrCat(
      Coloured(file.name, kFileColour, coloured),
      line == 0 ? "" : absl::StrCat(":", Coloured(absl::StrCat(line), kLineColour, coloured)), ": ", text,
      op_name.empty() ? "" : Coloured(absl::StrCat("  // ", OneLine(op_name)), kSourceColour, coloured));
}

class RowsOutput : public QueryOutput {
 public:
  RowsOutput(const QueryOutputOptions& options, Answers* answers) : options_(options), answers_(answers) {
    if (options.json && options_.columns.empty()) options_.columns = AllColumns();
    if (!options.sort.empty()) sort_ = query::FindFact(options.sort);
  }

  FactSet facts() const override {
    FactSet facts = query::SetOf(Fact::op_name);
    for (const Fact fact : options_.columns) facts |= query::SetOf(fact);
    if (sort_.has_value()) facts |= query::SetOf(*sort_);
    return facts;
  }

  void Add(const ModuleFile& file, const query::ModuleFacts& facts,
           absl::Span<const HloInstruction* const> found) override {
    for (const HloInstruction* x : found) {
      Row row;
      if (sort_.has_value()) row.key = facts.ValueOf(*sort_, *x);
      row.cells = CellsOf(file, facts, *x);
      rows_.push_back(std::move(row));
    }
    if (!IsStreamed()) return;
    PrintRows(options_, {}, {}, rows_, answers_);
    rows_.clear();
  }

  void Finish() override {
    if (IsStreamed()) return;
    SortAndCut(options_, &rows_);
    std::vector<std::string> head;
    std::vector<bool> is_left;
    for (const Fact fact : options_.columns) {
      head.emplace_back(query::InfoOf(fact).key);
      is_left.push_back(IsLeft(fact));
    }
    PrintRows(options_, head, is_left, rows_, answers_);
  }

 private:
  std::vector<Fact> AllColumns() const {
    std::vector<Fact> columns;
    for (size_t i = 0; i < query::kFactCount; ++i) {
      if (query::Facts()[i].need != query::FactNeed::kTime || options_.has_device) {
        columns.push_back(static_cast<Fact>(i));
      }
    }
    return columns;
  }

  // Lines are printed module by module, unless they must be sorted or aligned.
  bool IsStreamed() const {
    return !sort_.has_value() && options_.top < 0 && (options_.json || (options_.columns.empty() && !options_.tsv));
  }

  std::vector<std::string> CellsOf(const ModuleFile& file, const query::ModuleFacts& facts,
                                   const HloInstruction& x) const {
    if (options_.json) {
      Json json;
      for (const Fact fact : options_.columns) {
        json[query::InfoOf(fact).key] = ValueJson(facts.ValueOf(fact, x));
      }
      return {json.dump()};
    }
    if (options_.columns.empty()) return {LineText(file, facts, x, options_.colour)};
    std::vector<std::string> cells;
    for (const Fact fact : options_.columns) {
      const FactValue value = facts.ValueOf(fact, x);
      cells.push_back(options_.tsv ? TsvValue(value) : TableValue(value));
    }
    return cells;
  }

  QueryOutputOptions options_;
  Answers* answers_;
  std::optional<Fact> sort_;
  std::vector<Row> rows_;
};

// ---- Sums -----------------------------------------------------------------------------------------------------------

struct SumColumn {
  const char* name;
  double (*value)(const query::Group& group);
  bool needs_device;
};
constexpr SumColumn kSumColumns[] = {
    {"instructions", [](const query::Group& group) { return static_cast<double>(group.instructions); }, false},
    {"bytes", [](const query::Group& group) { return group.bytes; }, false},
    {"flops", [](const query::Group& group) { return group.cost.flops; }, false},
    {"transcendentals", [](const query::Group& group) { return group.cost.transcendentals; }, false},
    {"bytes_accessed", [](const query::Group& group) { return group.cost.bytes_accessed; }, false},
    {"seconds", [](const query::Group& group) { return group.seconds; }, true},
};

class SumsOutput : public QueryOutput {
 public:
  SumsOutput(const QueryOutputOptions& options, Answers* answers)
      : options_(options), answers_(answers), grouping_(*options.by, options.has_device) {
    for (const SumColumn& column : kSumColumns) {
      if (options.has_device || !column.needs_device) columns_.push_back(&column);
    }
  }

  FactSet facts() const override { return grouping_.facts(); }
  void Add(const ModuleFile&, const query::ModuleFacts& facts, absl::Span<const HloInstruction* const> found) override {
    grouping_.Add(facts, found);
  }

  void Finish() override {
    const std::string key(query::InfoOf(*options_.by).key);
    std::vector<std::string> head = {key};
    std::vector<bool> is_left = {IsLeft(*options_.by)};
    for (const SumColumn* column : columns_) {
      head.emplace_back(column->name);
      is_left.push_back(false);
    }
    std::vector<Row> rows;
    for (const query::Group& group : grouping_.groups()) rows.push_back(RowOf(key, group));
    SortAndCut(options_, &rows);
    if (!options_.json && !options_.tsv) rows.insert(rows.begin(), RowOf(key, Total()));
    PrintRows(options_, head, is_left, rows, answers_);
  }

 private:
  query::Group Total() const {
    query::Group total;
    total.value = std::string("in all");
    for (const query::Group& group : grouping_.groups()) {
      total.instructions += group.instructions;
      total.bytes += group.bytes;
      total.cost += group.cost;
      total.seconds += group.seconds;
    }
    return total;
  }

  // By the column of --sort; otherwise by flops.
  FactValue SortKey(const std::string& key, const query::Group& group) const {
    if (options_.sort == key) return group.value;
    const std::string wanted = options_.sort.empty() ? DefaultSort() : options_.sort;
    for (const SumColumn* column : columns_) {
      if (column->name == wanted) return Number(column->value(group));
    }
    return group.value;
  }
  std::string DefaultSort() const { return options_.has_device ? "seconds" : "flops"; }

  Row RowOf(const std::string& key, const query::Group& group) const {
    Row row{SortKey(key, group), {}};
    if (options_.json) {
      Json json;
      json[key] = ValueJson(group.value);
      for (const SumColumn* column : columns_) json[column->name] = NumberJson(Number(column->value(group)));
      row.cells = {json.dump()};
      return row;
    }
    const auto text = [&](const FactValue& value) { return options_.tsv ? TsvValue(value) : TableValue(value); };
    const std::string value = text(group.value);
    row.cells = {value.empty() && !options_.tsv ? "(none)" : value};
    for (const SumColumn* column : columns_) row.cells.push_back(text(Number(column->value(group))));
    return row;
  }

  QueryOutputOptions options_;
  Answers* answers_;
  query::Grouping grouping_;
  std::vector<const SumColumn*> columns_;
};

// ---- Counts, names, nothing -----------------------------------------------------------------------------------------

// -c and -l: a line for each file with matches. With one module, -c is only the number.
class FilesOutput : public QueryOutput {
 public:
  FilesOutput(const QueryOutputOptions& options, Answers* answers) : options_(options), answers_(answers) {}

  FactSet facts() const override { return {}; }
  void Add(const ModuleFile& file, const query::ModuleFacts&, absl::Span<const HloInstruction* const> found) override {
    ++modules_;
    if (options_.count) counts_.emplace_back(file.name, static_cast<int64_t>(found.size()));
    if (!options_.count && !found.empty()) {
      answers_->Add(options_.json ? absl::StrCat(Json{{"file", file.name}}.dump(), "\n")
                                  : absl::StrCat(file.name, "\n"));
    }
  }
  void Finish() override {
    for (const auto& [file, count] : counts_) {
      if (options_.json) {
        answers_->AddLine({{"file", file}, {"count", count}});
      } else if (modules_ == 1) {
        answers_->Add(absl::StrCat(count, "\n"));
      } else if (count > 0) {
        answers_->Add(absl::StrCat(file, ":", count, "\n"));
      }
    }
  }

 private:
  QueryOutputOptions options_;
  Answers* answers_;
  int64_t modules_ = 0;
  std::vector<std::pair<std::string, int64_t>> counts_;
};

class NoOutput : public QueryOutput {
 public:
  FactSet facts() const override { return {}; }
  void Add(const ModuleFile&, const query::ModuleFacts&, absl::Span<const HloInstruction* const>) override {}
};

}  // namespace

std::unique_ptr<QueryOutput> MakeQueryOutput(const QueryOutputOptions& options, Answers* answers) {
  if (options.quiet) return std::make_unique<NoOutput>();
  if (options.count || options.files) return std::make_unique<FilesOutput>(options, answers);
  if (options.by.has_value()) return std::make_unique<SumsOutput>(options, answers);
  return std::make_unique<RowsOutput>(options, answers);
}

std::vector<std::string> SumColumns(bool has_device) {
  std::vector<std::string> names;
  for (const SumColumn& column : kSumColumns) {
    if (has_device || !column.needs_device) names.emplace_back(column.name);
  }
  return names;
}

}  // namespace kashi::cli
