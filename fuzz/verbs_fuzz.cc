// The whole command on any bytes, in one process: its main function with output into memory.
//
//   byte 0    which of kLines
//   byte 1    how the second file is made of the first one, if the input has but one: by which changes; 0: by none
//   byte 1    how the second file is made of the first one, if the input has only one: by which changes; 0: by none
//
// For any file: the exit status is one of the contract's, a failure has a message, each line of --json is JSON, a
// graph has as many ends as beginnings, and text of the file is only text in a page.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "cli/command_line.h"
#include "fuzz/hlo_text_mutator.h"
#include "kashi/base/check.h"
#include "nlohmann/json.hpp"

namespace kashi::fuzz {
namespace {

// {a} and {b} are the files, {devices} is a folder in which each input of each device is {b}, {dump} a dump of one
// module, {a} and {b} in turns; {limits} limits the cost of a run. Standard input is {a} too.
constexpr const char* kLines[] = {
    "verify {a}",
    "verify --json --strict {a} {b}",
    "verify --layout-sensitive {a}",
    "convert {a}",
    "convert --argument 0=[2,3] --argument 1=4 {a}",
    "convert --to json {a}",
    "convert --to pbtxt {a}",
    "convert --to pb {a}",
    "convert --to dot {a}",
    "convert --to dot --max-nodes 5 {a}",
    "convert --to dot --around r --depth 1 {a}",
    "convert --large-constants --operand-shapes {a}",
    "convert --canonical {a}",
    "convert --fingerprint {a}",
    "convert --short --json {a} {b}",
    "run {limits} {a}",
    "run {limits} --json --random normal {a}",
    "run {limits} --input {b} {a}",
    "run {limits} --input {b} --expect {b} --allow-elided --json {a}",
    "run {limits} --devices-dir {devices} --json {a}",
    "run {limits} --devices-dir {devices} --expect-devices {devices} {a}",
    "run {limits} --as global --json {a}",
    "run {limits} --as per-device --check-nan {a}",
    "run {limits} --until r --json {a}",
    "run {limits} --repeat 2 --profile-trace - {a}",
    "run {limits} --check {a}",
    "run {limits} --check --json {a}",
    "run {limits} --split-input-file --all-functions {a}",
    "run {limits} --function f --split-input-file --json {a}",
    "diff {limits} {a} {b}",
    "diff {limits} --json --all {a} {b}",
    "diff {limits} --engine-b cpu {a} {a}",
    "diff {limits} --no-run --ignore-layouts --all {a} {b}",
    "diff {limits} --from before --to 0 {dump}",
    "dump --json {dump}",
    "dump --passes --target v5e {dump}",
    "dump --passes --json {dump}",
    "dump --diff * {dump}",
    "bisect {limits} {dump}",
    "bisect {limits} --json --all-stages {dump}",
    "memory {a}",
    "memory --json {a}",
    "memory --html - {a}",
    "report --target v5e {a}",
    "report --target h100 {a} {b}",
    "report --page-limit 100K {dump}",
    "convert --to svg {a}",
    "memory --target host --details {a}",
    "memory --engine cpu {a}",
    "memory --engine cpu --json {a}",
    "memory --target v5e --json {a}",
    "memory --sort name --module x {a}",
    "memory {a} {b}",
    "memory --json {a} {b}",
    "run {limits} --deterministic --profile {a}",
    "cost {a}",
    "cost --json {a} {b}",
    "cost --mesh 2x2 --target v5e {a}",
    "cost --mesh 4 --rates 1TF/s,1GB/s --network {b} --json {a}",
    "cost --mesh 4 --topology switch --rates 1TF/s,1GB/s --link 1us,1GB/s --slow-device 1=2 --json {a}",
    "lsp",
    "query --by opcode {a}",
    "query --json users>1 {a}",
    "grep --json add {a}",
    "sharding {a}",
    "sharding --json --devices 4 {a}",
    "sharding --partition --draw x {a}",
    "mpi-bench --json",
    "shape -",
    "shape --json -",
    "index --json - -",
    "draw -",
    "relayout --problems - --plan --memory-limit 4M",
    "relayout --problems - --check --json --memory-limit 4M",
    "relayout {a} - --to f32[2,3]{0,1:T(2,128)} --memory-limit 4M",
    "relayout {a} - --from f32[2,3] --to {0,1} --npy --memory-limit 4M",
    "relayout {a} - --from bf16[4,8]{1,0:T(8,128)(2,1)} --to f32[4,8] --convert --memory-limit 4M",
    "convert --as partitioned {a}",
    "run {limits} --partition --json {a}",
    "run {limits} --partition --split-outputs --input {b} {a}",
    "memory --partition {a}",
    "cost --partition --json {a}",
    "convert --to mlir {a}",
    "convert --to mlir --json --no-metadata {a} {b}",
    "run {limits} --target x86-64-v2 {a}",
    "opt {limits} {a}",
    "opt {limits} --json --verify --stats {a}",
    "opt {limits} --passes fuse,inline-fusions,simplify,fold-constants,dce --excess-precision off --to mlir {a}",
    "opt {limits} --passes partition --allow-elided {a}",
    "reduce {limits} --check fails --once {a}",
    "reduce {limits} --check fails:shape --once --json {a}",
    "reduce {limits} --check differs:evaluator,evaluator --once --random normal {a}",
    "reduce {limits} --check false {a}",
    "reduce {limits} --check false --json --to pbtxt {a}",
    "cost --as-xla {a}",
    "cost --target h100 {a}",
    "cost --target v4 --json {a}",
    "cost --target v5e --by scope --tree --flame - {a}",
    "cost --by layer --keep-transforms --depth 2 --json {a}",
    "cost --by computation --tree --json {a}",
    "cost --by source --sort bytes {a}",
    "cost --by opcode {a}",
    "cost --mesh 2x2 --host-devices 2 --target mi300x --link 1us,1GB/s {a}",
    "memory --by scope --tree --flame - {a}",
    "memory --by layer --target v5e --json {a}",
    "run {limits} --profile --by scope {a}",
    "run {limits} --profile --by layer --tree --json {a}",
    "query {a}",
    "query --json {a} {b}",
    "query --columns name,shape,depth,scope,layer,seconds,bound --target v5e --tsv --sort bytes {a}",
    "query --by layer {a} {b}",
    "query --by scope --target h100 --json {a}",
    "query not(fused)and(called(flops>1)or(users(operands>1))) -c {a}",
    "query --around r --depth 3 --extract - {a}",
    "query --larger 1 --with-operands 2 --extract - --json {a}",
    "grep [a-z] {a}",
    "grep --json -i -F A {a} {b}",
};
constexpr absl::string_view kLimits = "--memory-limit 16M --max-work 1000000 --max-iterations 100 --timeout 2";
constexpr absl::string_view kSeparator = "\n====\n";
constexpr size_t kChoices = 2;  // bytes before the files

// A file without a name, in memory.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("verbs_fuzz", 0)) { KASHI_CHECK_GE(descriptor_, 0) << std::strerror(errno); }
  void Set(absl::string_view content) const {
    KASHI_CHECK_EQ(ftruncate(descriptor_, 0), 0);
    KASHI_CHECK_EQ(pwrite(descriptor_, content.data(), content.size(), 0), static_cast<ssize_t>(content.size()));
  }
  std::string path() const { return absl::StrCat("/proc/self/fd/", descriptor_); }

 private:
  int descriptor_;
};

// Captures the output of the command to one of the standard streams.
class Capture {
 public:
  explicit Capture(std::FILE** stream) : stream_(stream), before_(*stream) { *stream = open_memstream(&text_, &size_); }
  ~Capture() {
    Stop();
    std::free(text_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // All of it, as long as this lives.
  absl::string_view Stop() {
    if (before_ != nullptr) {
      std::fclose(*stream_);
      *stream_ = std::exchange(before_, nullptr);
    }
    return {text_, size_};
  }

 private:
  std::FILE** stream_;
  std::FILE* before_;
  char* text_ = nullptr;
  size_t size_ = 0;
};

// A folder dev0/in0.npy, dev0/in1.npy …, dev0/out0.npy …, all of them the same file; gone when the process ends.
class DevicesFolder {
 public:
  explicit DevicesFolder(const std::string& file) {
    std::string name = (std::filesystem::temp_directory_path() / "verbs_fuzz.XXXXXX").string();
    KASHI_CHECK(mkdtemp(name.data()) != nullptr) << std::strerror(errno);
    path_ = name;
    for (const char* device : {"dev0", "dev1"}) {
      std::filesystem::create_directory(path_ / device);
      for (const char* array : {"in0.npy", "in1.npy", "in2.npy", "out0.npy"}) {
        std::filesystem::create_symlink(file, path_ / device / array);
      }
    }
  }
  ~DevicesFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// A dump of one module: {a}, after a pass {b}, and then {a} again.
class DumpFolder {
 public:
  DumpFolder(const std::string& a, const std::string& b) {
    std::string name = (std::filesystem::temp_directory_path() / "verbs_fuzz.XXXXXX").string();
    KASHI_CHECK(mkdtemp(name.data()) != nullptr) << std::strerror(errno);
    path_ = name;
    std::filesystem::create_symlink(a, path_ / "module_0001.m.before_optimizations.txt");
    std::filesystem::create_symlink(b, path_ / "module_0001.m.0000.pipeline.after_pass.before_other.txt");
    std::filesystem::create_symlink(a, path_ / "module_0001.m.cpu_after_optimizations.hlo.pb");
  }
  ~DumpFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  DumpFolder(const DumpFolder&) = delete;
  DumpFolder& operator=(const DumpFolder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

struct Places {
  MemoryFile a;
  MemoryFile b;
  DevicesFolder devices{b.path()};
  DumpFolder dump{a.path(), b.path()};
};
const Places& ThePlaces() {
  static const Places places;
  return places;
}

struct Answer {
  int status = 0;
  std::string output;
  std::string errors;
};

std::vector<std::string> WordsOf(absl::string_view line) {
  const Places& places = ThePlaces();
  return absl::StrSplit(absl::StrReplaceAll(line, {{"{a}", places.a.path()},
                                                   {"{b}", places.b.path()},
                                                   {"{devices}", places.devices.path()},
                                                   {"{dump}", places.dump.path()},
                                                   {"{limits}", kLimits}}),
                        ' ');
}

Answer Run(absl::string_view line) {
  std::vector<std::string> words = WordsOf(line);
  std::vector<const char*> arguments = {"kashi"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  Answer answer;
  std::FILE* const input = std::exchange(stdin, std::fopen(ThePlaces().a.path().c_str(), "rb"));
  {
    Capture output(&stdout);
    Capture errors(&stderr);
    answer.status = cli::RunCommandLine(static_cast<int>(arguments.size()), arguments.data());
    answer.errors = std::string(errors.Stop());
    answer.output = std::string(output.Stop());
  }
  std::fclose(std::exchange(stdin, input));
  return answer;
}

// A graph for Graphviz: braces outside of strings, which end.
bool IsGraph(absl::string_view text) {
  int64_t depth = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      is_in_string = !is_in_string;
    } else if (!is_in_string) {
      depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
      if (depth < 0) return false;
    }
  }
  return absl::StartsWith(text, "digraph") && depth == 0 && !is_in_string;
}

// The number of changes between script and text in a page.
int64_t CountScripts(absl::string_view page) {
  int64_t count = 0;
  for (const absl::string_view mark : {"<script", "</script", "<!--"}) {
    for (size_t at = page.find(mark); at != absl::string_view::npos; at = page.find(mark, at + 1)) ++count;
  }
  return count;
}
constexpr absl::string_view kMemoryPage = "memory --html - {a}", kReportPage = "report --target v5e {a}";
int64_t ScriptsOfPlainPage(absl::string_view line) {
  const auto count_in = [](absl::string_view command) {
    ThePlaces().a.Set("HloModule m\n\nENTRY e {\n  ROOT a = f32[2]{0} parameter(0)\n}\n");
    return CountScripts(Run(command).output);
  };
  static const int64_t of_memory = count_in(kMemoryPage), of_report = count_in(kReportPage);
  return line == kMemoryPage ? of_memory : of_report;
}

bool AreJsonLines(absl::string_view text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (!nlohmann::json::accept(line.begin(), line.end())) return false;
  }
  return true;
}

void Check(absl::string_view line, const Answer& answer) {
  const std::string all = absl::StrCat("kashi ", line, ": ", answer.status, "\n", answer.output, answer.errors);
  // Without ranks it is a wrong command line, for any file.
  const bool needs_ranks = absl::StartsWith(line, "mpi-bench");
  KASHI_CHECK(needs_ranks ? answer.status == 2 : answer.status == 0 || answer.status == 1) << all;
  KASHI_CHECK(answer.status == 0 || !answer.output.empty() || !answer.errors.empty()) << all;
  if (absl::StrContains(line, "--json")) KASHI_CHECK(AreJsonLines(answer.output)) << all;
  if (answer.status != 0) return;
  if (absl::StrContains(line, "--to json")) KASHI_CHECK(nlohmann::json::accept(answer.output)) << all;
  if (absl::StrContains(line, "--to dot")) KASHI_CHECK(IsGraph(answer.output)) << all;
  if (line == kMemoryPage || line == kReportPage) {
    KASHI_CHECK_EQ(CountScripts(answer.output), ScriptsOfPlainPage(line)) << all;
  }
}

// The file with up to 7 changes.
std::string Changed(absl::string_view file, uint8_t choice) {
  std::string changed(file);
  HloTextMutator mutator(choice);
  for (int i = 0; i < choice % 8; ++i) changed = mutator.Mutate(changed);
  return changed;
}

void RunLine(absl::string_view line, uint8_t changes, absl::string_view files) {
  if (line == kMemoryPage || line == kReportPage) ScriptsOfPlainPage(line);
  const size_t at = files.find(kSeparator);
  const absl::string_view first = files.substr(0, at);
  ThePlaces().a.Set(first);
  if (at == absl::string_view::npos) {
    ThePlaces().b.Set(Changed(first, changes));
  } else {
    ThePlaces().b.Set(files.substr(at + kSeparator.size()));
  }
  Check(line, Run(line));
}

}  // namespace
}  // namespace kashi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kashi::fuzz::kChoices) return 0;
  const absl::string_view files(reinterpret_cast<const char*>(data) + kashi::fuzz::kChoices,
                                size - kashi::fuzz::kChoices);
  kashi::fuzz::RunLine(kashi::fuzz::kLines[data[0] % std::size(kashi::fuzz::kLines)], data[1], files);
  return 0;
}

// Mostly another verb, or other files for the same one.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  if (size <= kashi::fuzz::kChoices || seed % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
  if (seed % 16 <= 3) {
    data[seed % kashi::fuzz::kChoices] = static_cast<uint8_t>(seed >> 8);
    return size;
  }
  return kashi::fuzz::kChoices + kashi::fuzz::MutateHloText(data + kashi::fuzz::kChoices, size - kashi::fuzz::kChoices,
                                                            max_size - kashi::fuzz::kChoices, seed);
}
