#include "cli/lsp_server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/module_check.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "nlohmann/json.hpp"

namespace kashi::cli {

using editor::Completion;
using editor::Document;
using editor::OutlineItem;
using editor::TextPosition;
using editor::TextPositions;
using editor::TextRange;
namespace {

// Numbers of the protocol.
constexpr int kMethodNotFound = -32601, kInvalidParams = -32602, kInvalidRequest = -32600, kNotInitialized = -32002;
constexpr int kIncrementalSync = 2;
constexpr int kSeverityError = 1, kSeverityWarning = 2;
constexpr int kSymbolFunction = 12, kSymbolVariable = 13;
constexpr int kCompletionVariable = 6, kCompletionProperty = 10, kCompletionKeyword = 14, kCompletionFunction = 3;

std::vector<HloFinding> Verify(const HloModule& module) { return VerifyHlo(module, VerifierOptionsFor(module)); }

Json ErrorOf(int code, absl::string_view message) {
  return Json{{"code", code}, {"message", base::Printable(message)}};
}

// The member of an object, or null.
const JsonInput& Member(const JsonInput& object, const char* key) {
  static const JsonInput null;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : null;
}
std::string StringOf(const JsonInput& value) { return value.is_string() ? value.get<std::string>() : ""; }
size_t NumberOf(const JsonInput& value) {
  if (value.is_number_unsigned()) return value.get<size_t>();
  return value.is_number_integer() ? static_cast<size_t>(std::max<int64_t>(0, value.get<int64_t>())) : 0;
}
std::string UriOf(const JsonInput& params) { return StringOf(Member(Member(params, "textDocument"), "uri")); }
TextPosition PositionIn(const JsonInput& position) {
  return {NumberOf(Member(position, "line")), NumberOf(Member(position, "character"))};
}

Json PositionJson(const TextPositions& positions, size_t offset) {
  const TextPosition position = positions.PositionOf(offset);
  return {{"line", position.line}, {"character", position.column}};
}
Json RangeJson(const TextPositions& positions, TextRange range) {
  return {{"start", PositionJson(positions, range.begin)}, {"end", PositionJson(positions, range.end)}};
}
Json LocationJson(const std::string& uri, const TextPositions& positions, TextRange range) {
  return {{"uri", uri}, {"range", RangeJson(positions, range)}};
}

Json SymbolJson(const TextPositions& positions, const OutlineItem& item, int kind) {
  Json json;
  json["name"] = base::Printable(item.name);
  json["detail"] = base::Printable(item.detail);
  json["kind"] = kind;
  json["range"] = RangeJson(positions, item.whole);
  json["selectionRange"] = RangeJson(positions, item.selection);
  Json children = Json::array();
  for (const OutlineItem& child : item.children) children.push_back(SymbolJson(positions, child, kSymbolVariable));
  json["children"] = std::move(children);
  return json;
}

int CompletionKind(Completion::Kind kind) {
  switch (kind) {
    case Completion::Kind::kOpcode:
      return kCompletionKeyword;
    case Completion::Kind::kAttribute:
      return kCompletionProperty;
    case Completion::Kind::kInstruction:
      return kCompletionVariable;
    case Completion::Kind::kComputation:
      return kCompletionFunction;
  }
  return kCompletionVariable;
}

Json CompletionsJson(const Document& document, size_t offset) {
  Json list = Json::array();
  for (const Completion& completion : document.CompletionsAt(offset)) {
    list.push_back({{"label", completion.text},
                    {"kind", CompletionKind(completion.kind)},
                    {"detail", base::Printable(completion.detail)}});
  }
  return list;
}

Json FoldingJson(const Document& document) {
  Json list = Json::array();
  for (const editor::IndexedComputation& computation : document.index().computations()) {
    const size_t first = document.positions().PositionOf(computation.whole.begin).line;
    const size_t last = document.positions().PositionOf(computation.whole.end).line;
    if (last > first) list.push_back({{"startLine", first}, {"endLine", last}});
  }
  return list;
}

Json Capabilities() {
  return {{"positionEncoding", "utf-16"},
          {"textDocumentSync", Json{{"openClose", true}, {"change", kIncrementalSync}}},
          {"hoverProvider", true},
          {"definitionProvider", true},
          {"referencesProvider", true},
          {"documentHighlightProvider", true},
          {"documentSymbolProvider", true},
          {"foldingRangeProvider", true},
          {"renameProvider", Json{{"prepareProvider", true}}},
          {"completionProvider", Json{{"triggerCharacters", std::vector<std::string>{"%", "(", "="}}}}};
}

}  // namespace

// ---- Messages -------------------------------------------------------------------------------------------------------

std::vector<Json> LspServer::Handle(const JsonInput& message) {
  std::vector<Json> out;
  const std::string method = StringOf(Member(message, "method"));
  const JsonInput& params = Member(message, "params");
  const JsonInput& id = Member(message, "id");
  if (id.is_null()) {
    Notice(method, params, &out);
    return out;
  }
  if (method.empty()) return out;  // an answer; the server asks for nothing
  std::optional<Json> error;
  Json result = Answer(method, params, &error);
  Json reply{{"jsonrpc", "2.0"},
             {"id", id.is_string() ? Json(StringOf(id)) : Json(id.is_number() ? id.get<int64_t>() : 0)}};
  if (error.has_value()) {
    reply["error"] = *std::move(error);
  } else {
    reply["result"] = std::move(result);
  }
  out.push_back(std::move(reply));
  return out;
}

Json LspServer::Answer(const std::string& method, const JsonInput& params, std::optional<Json>* error) {
  if (method == "initialize") {
    is_initialized_ = true;
    return {{"capabilities", Capabilities()}, {"serverInfo", Json{{"name", "kashi"}, {"version", KASHI_VERSION}}}};
  }
  if (!is_initialized_) {
    *error = ErrorOf(kNotInitialized, "`initialize` has not come yet");
    return Json();
  }
  if (is_shut_down_) {
    *error = ErrorOf(kInvalidRequest, "the server is shut down");
    return Json();
  }
  if (method == "shutdown") {
    is_shut_down_ = true;
    return Json();
  }
  if (method.rfind("textDocument/", 0) != 0) {
    *error = ErrorOf(kMethodNotFound, absl::StrCat("no method `", method, "`"));
    return Json();
  }
  const Document* const document = Find(UriOf(params));
  if (document == nullptr) {
    *error = ErrorOf(kInvalidParams, absl::StrCat("`", UriOf(params), "` is not open"));
    return Json();
  }
  return AnswerAbout(*document, method, params, error);
}

namespace {

Json HoverJson(const Document& document, size_t offset) {
  const std::optional<editor::Hover> hover = document.HoverAt(offset);
  if (!hover.has_value()) return Json();
  return {{"contents", Json{{"kind", "markdown"}, {"value", hover->markdown}}},
          {"range", RangeJson(document.positions(), hover->range)}};
}

Json ReferencesJson(const Document& document, const std::string& uri, size_t offset, bool with_definition) {
  Json list = Json::array();
  const std::optional<TextRange> definition = document.DefinitionAt(offset);
  for (const TextRange& range : document.PlacesAt(offset)) {
    if (!with_definition && range == *definition) continue;
    list.push_back(LocationJson(uri, document.positions(), range));
  }
  return list;
}

Json HighlightsJson(const Document& document, size_t offset) {
  Json list = Json::array();
  for (const TextRange& range : document.PlacesAt(offset)) {
    list.push_back({{"range", RangeJson(document.positions(), range)}});
  }
  return list;
}

Json RenameJson(const Document& document, const std::string& uri, size_t offset, const std::string& name,
                std::optional<Json>* error) {
  const absl::StatusOr<std::vector<TextRange>> places = document.Rename(offset, name);
  if (!places.ok()) {
    *error = ErrorOf(kInvalidParams, places.status().message());
    return Json();
  }
  Json edits = Json::array();
  for (const TextRange& range : *places) {
    edits.push_back(
        {{"range", RangeJson(document.positions(), range)}, {"newText", name.substr(name.rfind('%', 0) == 0 ? 1 : 0)}});
  }
  Json changes = Json::object();
  changes[uri] = std::move(edits);
  return {{"changes", std::move(changes)}};
}

}  // namespace

Json LspServer::AnswerAbout(const Document& document, const std::string& method, const JsonInput& params,
                            std::optional<Json>* error) const {
  const std::string uri = UriOf(params);
  const size_t offset = document.positions().OffsetOf(PositionIn(Member(params, "position")));
  if (method == "textDocument/hover") return HoverJson(document, offset);
  if (method == "textDocument/documentHighlight") return HighlightsJson(document, offset);
  if (method == "textDocument/completion") return CompletionsJson(document, offset);
  if (method == "textDocument/foldingRange") return FoldingJson(document);
  if (method == "textDocument/definition") {
    const std::optional<TextRange> range = document.DefinitionAt(offset);
    return range.has_value() ? LocationJson(uri, document.positions(), *range) : Json();
  }
  if (method == "textDocument/references") {
    const JsonInput& with_definition = Member(Member(params, "context"), "includeDeclaration");
    return ReferencesJson(document, uri, offset, with_definition.is_boolean() && with_definition.get<bool>());
  }
  if (method == "textDocument/documentSymbol") {
    Json list = Json::array();
    for (const OutlineItem& item : document.Outline()) {
      list.push_back(SymbolJson(document.positions(), item, kSymbolFunction));
    }
    return list;
  }
  if (method == "textDocument/prepareRename") {
    if (!document.DefinitionAt(offset).has_value()) return Json();
    return RangeJson(document.positions(), *document.index().RangeAt(offset));
  }
  if (method == "textDocument/rename") {
    return RenameJson(document, uri, offset, StringOf(Member(params, "newName")), error);
  }
  *error = ErrorOf(kMethodNotFound, absl::StrCat("no method `", method, "`"));
  return Json();
}

void LspServer::Notice(const std::string& method, const JsonInput& params, std::vector<Json>* out) {
  if (method == "exit") {
    is_over_ = true;
  } else if (method == "textDocument/didOpen") {
    const JsonInput& document = Member(params, "textDocument");
    Open& open = open_[StringOf(Member(document, "uri"))];
    open = Open();
    open.text = StringOf(Member(document, "text"));
    open.version = static_cast<int64_t>(NumberOf(Member(document, "version")));
  } else if (method == "textDocument/didChange") {
    Change(params);
  } else if (method == "textDocument/didClose") {
    const std::string uri = UriOf(params);
    if (open_.erase(uri) == 0) return;
    // An editor keeps the errors of a closed text until it hears that there are none.
    out->push_back({{"jsonrpc", "2.0"},
                    {"method", "textDocument/publishDiagnostics"},
                    {"params", Json{{"uri", uri}, {"diagnostics", Json::array()}}}});
  }
}

void LspServer::Change(const JsonInput& params) {
  const auto found = open_.find(UriOf(params));
  const JsonInput& changes = Member(params, "contentChanges");
  if (found == open_.end() || !changes.is_array()) return;
  Open& open = found->second;
  for (const JsonInput& change : changes) {
    const JsonInput& range = Member(change, "range");
    std::string text = StringOf(Member(change, "text"));
    if (range.is_null()) {
      open.text = std::move(text);
      continue;
    }
    const TextPositions positions(open.text);
    const size_t begin = positions.OffsetOf(PositionIn(Member(range, "start")));
    const size_t end = std::max(begin, positions.OffsetOf(PositionIn(Member(range, "end"))));
    open.text.replace(begin, end - begin, text);
  }
  open.version = static_cast<int64_t>(NumberOf(Member(Member(params, "textDocument"), "version")));
  open.document.reset();
  open.is_published = false;
}

// ---- Documents ------------------------------------------------------------------------------------------------------

const Document* LspServer::Find(const std::string& uri) {
  const auto found = open_.find(uri);
  if (found == open_.end()) return nullptr;
  Open& open = found->second;
  if (open.document == nullptr) open.document = std::make_unique<Document>(uri, open.text, Verify);
  return open.document.get();
}

std::vector<Json> LspServer::Publish() {
  std::vector<Json> out;
  for (auto& [uri, open] : open_) {
    if (open.is_published) continue;
    Find(uri);
    out.push_back(Diagnostics(uri, open));
    open.is_published = true;
  }
  return out;
}

Json LspServer::Diagnostics(const std::string& uri, const Open& open) const {
  Json list = Json::array();
  for (const Diagnostic& diagnostic : open.document->diagnostics()) {
    const bool is_error = diagnostic.severity == Diagnostic::Severity::kError;
    list.push_back({{"range", RangeJson(open.document->positions(), {diagnostic.begin, diagnostic.end})},
                    {"severity", is_error ? kSeverityError : kSeverityWarning},
                    {"source", "kashi"},
                    {"message", base::Printable(diagnostic.message)}});
  }
  return {{"jsonrpc", "2.0"},
          {"method", "textDocument/publishDiagnostics"},
          {"params", Json{{"uri", uri}, {"version", open.version}, {"diagnostics", std::move(list)}}}};
}

}  // namespace kashi::cli
