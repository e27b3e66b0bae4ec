// `kashi serve`: the page of `kashi report` for a whole directory, whose modules are read when they are looked at.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/http_server.h"
#include "cli/interrupt.h"
#include "cli/module_file.h"
#include "cli/page_json.h"
#include "cli/report_site.h"
#include "cli/target_option.h"
#include "cli/verb.h"

namespace kashi::cli {
namespace {

struct ServeOptions {
  std::vector<std::string> inputs;
  std::string target;
  int64_t port = 0;
};

HttpAnswer JsonAnswer(int status, std::string body) { return {status, "application/json", std::move(body)}; }

HttpAnswer AnswerOf(const ReportSite& site, absl::string_view path) {
  if (path.empty()) return {200, "text/html; charset=utf-8", site.PageHtml({}, /*is_live=*/true)};
  const absl::StatusOr<SiteData> data = site.DataOf(path);
  std::string json = "{";
  if (!data.ok()) {
    absl::StrAppend(&json, "\"error\":");
    AppendPageString(data.status().message(), &json);
    const bool is_missing = data.status().code() == absl::StatusCode::kNotFound;
    return JsonAnswer(is_missing ? 404 : 500, absl::StrCat(json, "}"));
  }
  for (const auto& [key, value] : *data) absl::StrAppend(&json, json.size() == 1 ? "\"" : ",\"", key, "\":", value);
  return JsonAnswer(200, absl::StrCat(json, "}"));
}

int RunServe(const ServeOptions& options) {
  if (options.inputs.size() > 2) return FailUsage("give one module or directory, or two modules to compare");
  for (const std::string& input : options.inputs) {
    if (input == "-") return FailUsage("files are read again when they are looked at: standard input cannot be");
  }
  ReportTarget target;
  if (!options.target.empty()) target.accelerator = &AcceleratorOf(options.target);
  const absl::StatusOr<ReportSite> site = ReportSite::Open(options.inputs, target);
  if (!site.ok()) return Fail(site.status());
  const absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Listen(options.port);
  if (!server.ok()) return Fail(server.status());
  const Interrupt interrupt;
  const absl::Status written = WriteOutput("", absl::StrCat((*server)->url(), "\n"));
  if (!written.ok()) return Fail(written);
  PrintNote("kashi: open this address in a browser of this machine; Ctrl-C ends the server\n");
  const absl::Status status =
      (*server)->Run(interrupt.flag(), [&](absl::string_view path) { return AnswerOf(*site, path); });
  return status.ok() ? PrintInterrupted() : Fail(status);
}

VerbHelp ServeHelp() {
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Serve the page of `kashi report` for a directory, on this machine only";
  help.examples =
      "  kashi serve dump                     prints an address for a browser; any two stages can be compared\n"
      "  kashi serve module.hlo               one module\n"
      "  kashi serve before.hlo after.hlo     two modules side by side\n"
      "  kashi serve --port 8123 dump         on this port, for `ssh -L 8123:127.0.0.1:8123 host`\n"
      "  kashi serve --target v5p dump        with times on this device";
  help.sections = {
      {"",
       "The server answers on 127.0.0.1 only, to requests that have the token of the address and the right Host "
       "header. It reads a module when it is looked at, and writes no files.",
       {}}};
  help.failure = "There is no module, or the port is taken";
  help.stops_at_interrupt = true;
  return help;
}

}  // namespace

void AddServeVerb(Command* command) {
  auto options = std::make_shared<ServeOptions>();
  Verb* verb = command->AddVerb("serve", ServeHelp(), [options] { return RunServe(*options); });
  verb->AddOption("FILE", &options->inputs, "A dump directory or a module; or two modules to compare")
      ->File()
      ->Required();
  verb->AddOption("--port", &options->port, "Listen on this port (default: a free one)")->Within(0, 65535);
  AddAcceleratorOption(verb, "The device for which times are computed", &options->target);
  AddModuleFilterOption(verb);
  AddInputLimitOption(verb);
  AddFunctionOption(verb);
}

}  // namespace kashi::cli
