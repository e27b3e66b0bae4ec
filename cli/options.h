// The command line: `kashi VERB …` with options and positional arguments. Only options.cc knows the library that reads
// it.
//
//   VerbHelp help;
//   help.group = kProgramVerbs;
//   help.summary = "Count flops …";
//   help.examples = "  kashi cost module.hlo";
//   Verb* verb = command->AddVerb("cost", help, [options] { return RunCost(*options); });
//   verb->AddOption("FILE", &options->inputs, "A module, …")->Required();
//   verb->BeginGroup("Report");
//   verb->AddOption("--top", &options->top, "How many …")->Within(0, 100);
//
// A name without dashes is that of a positional argument. A pointer to a value must be valid as long as the command.
// The value holds the default before parsing, and changes only if the option is given.
#ifndef KASHI_CLI_OPTIONS_H_
#define KASHI_CLI_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kashi::cli {

// Returns an error message about an option's text; empty if the text is valid.
using OptionCheck = std::function<std::string(const std::string& text)>;

// The facts about an option or a positional argument that the help, the completions and the man page print.
struct OptionInfo {
  std::vector<std::string> names;  // {"-o", "--output"}, or {"FILE"}
  std::string value;               // placeholder of the value: "N"; empty for a flag
  std::string description;
  std::string group;               // heading in the help; empty: "Options"
  std::vector<std::string> words;  // all values that are allowed, if the option has a list of them
  bool is_required = false;
  bool is_list = false;
  bool is_file = false;  // of the file system: files are offered as values

  bool is_positional() const { return names[0][0] != '-'; }
};

class Option {
 public:
  Option(CLI::Option* option, OptionInfo info) : option_(option), info_(std::move(info)) {}

  const OptionInfo& info() const { return info_; }

  // All return the option itself.
  Option* Required();
  // One of these words.
  Option* OneOf(const std::vector<std::string>& words);
  // From min to max; the largest int64_t means no upper bound.
  Option* Within(int64_t min, int64_t max);
  Option* Check(OptionCheck check);
  // Names a file or a directory: an empty name is refused. `value` is the placeholder in the help.
  Option* File(const std::string& value = "FILE");
  // The placeholder of the value in the help: "RULE".
  Option* Value(const std::string& value);
  // For a list: each value follows the option's name, `--input a --input b`.
  Option* OneEach();
  // The two cannot be given together.
  Option* Excludes(const Option* other);

 private:
  CLI::Option* option_;
  OptionInfo info_;
};

// A part of a verb's help below the examples: a paragraph, a table of names and their meanings, or both.
struct HelpSection {
  std::string title;  // "Keys of --json"; empty for a plain paragraph
  std::string text;
  std::vector<std::pair<std::string, std::string>> rows;
};

// The help of a verb without its options.
struct VerbHelp {
  std::string group;     // heading in the help of the whole command
  std::string summary;   // one sentence without its full stop
  std::string examples;  // lines, printed as they are
  std::vector<HelpSection> sections;
  std::string failure = "The input is bad, or the output cannot be written";  // meaning of exit status 1
  bool stops_at_interrupt = false;  // Ctrl-C ends the verb with exit status 130
};

class Verb {
 public:
  // `run` returns the exit status.
  Verb(CLI::App* app, VerbHelp help, std::function<int()> run);
  ~Verb();
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  std::string name() const;
  // Another name for the verb on the command line.
  Verb* AlsoCalled(const std::string& alias);
  std::vector<std::string> names() const;  // the name, and then the others
  const VerbHelp& help() const { return help_; }
  const std::string& summary() const { return help_.summary; }
  // {"0", "Success"}, …
  std::vector<std::pair<std::string, std::string>> ExitStatuses() const;
  // Positional arguments in their order, and options.
  const std::vector<std::unique_ptr<Option>>& options() const { return options_; }
  // "kashi index [OPTIONS] SHAPE [INDEX...]"
  std::string Usage() const;
  std::string Help() const;
  int Run() const { return run_(); }

  // Options that are added from here on are under this heading in the help.
  void BeginGroup(const std::string& heading) { group_ = heading; }

  // `names`: "FILE", "--top" or "-o,--output". A list takes all values that follow, unless OneEach.
  Option* AddOption(const std::string& names, std::string* value, const std::string& description);
  Option* AddOption(const std::string& names, std::vector<std::string>* values, const std::string& description);
  Option* AddOption(const std::string& names, int* value, const std::string& description);
  Option* AddOption(const std::string& names, int64_t* value, const std::string& description);
  Option* AddOption(const std::string& names, uint64_t* value, const std::string& description);
  Option* AddOption(const std::string& names, double* value, const std::string& description);
  Option* AddOption(const std::string& names, std::optional<double>* value, const std::string& description);
  // `set` parses the text and stores the value, or returns an error message.
  Option* AddOption(const std::string& names, OptionCheck set, const std::string& description);
  // A number of bytes: 500M, 4G. The units are powers of 1024.
  Option* AddSizeOption(const std::string& names, uint64_t* bytes, const std::string& description);
  // Takes no value: `--json=false` is refused.
  Option* AddFlag(const std::string& names, bool* value, const std::string& description);

 private:
  friend class Command;
  Option* Own(CLI::Option* option, OptionInfo info);
  std::string UnexpectedArguments() const;

  CLI::App* app_;
  VerbHelp help_;
  std::vector<std::string> aliases_;
  std::string group_;  // of the next option
  std::function<int()> run_;
  std::vector<std::unique_ptr<Option>> options_;
};

class Command {
 public:
  Command(const std::string& description, const std::string& footer, const std::string& version);
  ~Command();

  Verb* AddVerb(const std::string& name, VerbHelp help, std::function<int()> run);
  // In the order in which they were added. Verbs of one group stand together.
  const std::vector<std::unique_ptr<Verb>>& verbs() const { return verbs_; }
  // Null if no verb has this name.
  const Verb* FindVerb(const std::string& name) const;
  std::vector<std::string> verb_names() const;  // all that a command line may have
  const std::string& description() const { return description_; }
  const std::string& version() const { return version_; }
  // The help of the whole command.
  std::string Help() const;

  // The meaning of a command line.
  struct Request {
    enum class Kind {
      kRun,      // run `verb`
      kPrint,    // print `text`: help or version
      kMissing,  // `verb` is null: no verb is given, or an unknown one. Otherwise `verb` needs another argument
      kWrong,    // print the error message `text`
    };
    Kind kind;
    const Verb* verb = nullptr;
    std::string text;
  };
  // Sets the values of options. Runs nothing.
  Request Parse(int argc, const char* const* argv);

 private:
  const Verb* ChosenVerb() const;

  std::unique_ptr<CLI::App> app_;
  std::string description_;
  std::string footer_;
  std::string version_;
  std::vector<std::unique_ptr<Verb>> verbs_;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_OPTIONS_H_
