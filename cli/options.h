// The command line: `kashi VERB …` with options and positional arguments. Only options.cc knows the library that reads it.
//
//   Verb* verb = command->AddVerb("cost", "Count flops …", examples, [options] { return RunCost(*options); });
//   verb->AddOption("FILE", &options->inputs, "A module, …")->Required();
//   verb->AddOption("--top", &options->top, "How many …")->Within(0, 100);
//
// A name without dashes is that of a positional argument. What a value points to must live as long as the command; it
// holds the default before, and is set only where the option was given.
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

namespace kashi::internal::cli {

// Returns what is wrong with an option's text, empty if nothing is.
using OptionCheck = std::function<std::string(const std::string& text)>;

// What the help, the completions and the man page tell about an option or a positional argument.
struct OptionInfo {
  std::vector<std::string> names;  // {"-o", "--output"}, or {"FILE"}
  std::string value;               // stands for the value: "N"; empty for a flag
  std::string description;
  std::vector<std::string> words;  // the values, where they are few
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
  // From min to max, an upper bound of int64_t's largest being none.
  Option* Within(int64_t min, int64_t max);
  Option* Check(OptionCheck check);
  // Names a file or a directory: an empty name is refused. `value` stands for it in the help.
  Option* File(const std::string& value = "FILE");
  // What stands for the value in the help: "RULE".
  Option* Value(const std::string& value);
  // Of a list: each value has the option's name in front, `--input a --input b`.
  Option* OneEach();
  // Not together with the other one.
  Option* Excludes(const Option* other);

 private:
  CLI::Option* option_;
  OptionInfo info_;
};

class Verb {
 public:
  // `run` returns the exit status.
  Verb(CLI::App* app, std::string examples, std::function<int()> run);
  ~Verb();
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  std::string name() const;
  std::string description() const;
  const std::string& examples() const { return examples_; }
  // Positional arguments in their order, and options.
  const std::vector<std::unique_ptr<Option>>& options() const { return options_; }
  // "kashi index [OPTIONS] SHAPE [INDEX...]"
  std::string Usage() const;
  std::string Help() const;
  int Run() const { return run_(); }

  // `names`: "FILE", "--top" or "-o,--output". A list takes all values that follow, unless OneEach.
  Option* AddOption(const std::string& names, std::string* value, const std::string& description);
  Option* AddOption(const std::string& names, std::vector<std::string>* values, const std::string& description);
  Option* AddOption(const std::string& names, int* value, const std::string& description);
  Option* AddOption(const std::string& names, int64_t* value, const std::string& description);
  Option* AddOption(const std::string& names, uint64_t* value, const std::string& description);
  Option* AddOption(const std::string& names, double* value, const std::string& description);
  Option* AddOption(const std::string& names, std::optional<double>* value, const std::string& description);
  // `set` takes the text, or returns what is wrong with it.
  Option* AddOption(const std::string& names, OptionCheck set, const std::string& description);
  // A number of bytes: 500M, 4G; of 1024 each.
  Option* AddSizeOption(const std::string& names, uint64_t* bytes, const std::string& description);
  // Takes no value: `--json=false` is refused.
  Option* AddFlag(const std::string& names, bool* value, const std::string& description);

 private:
  friend class Command;
  Option* Own(CLI::Option* option, OptionInfo info);
  std::string UnexpectedArguments() const;

  CLI::App* app_;
  std::string examples_;
  std::function<int()> run_;
  std::vector<std::unique_ptr<Option>> options_;
};

class Command {
 public:
  Command(const std::string& description, const std::string& footer, const std::string& version);
  ~Command();

  // `description`: one sentence without its full stop. `examples` are lines that the verb's help shows as they are.
  Verb* AddVerb(const std::string& name, const std::string& description, const std::string& examples,
                std::function<int()> run);
  const std::vector<std::unique_ptr<Verb>>& verbs() const { return verbs_; }
  // Null if there is none of that name.
  const Verb* FindVerb(const std::string& name) const;
  std::vector<std::string> verb_names() const;
  const std::string& description() const { return description_; }
  const std::string& version() const { return version_; }
  // The help of the whole command.
  std::string Help() const;

  // What a command line asks for.
  struct Request {
    enum class Kind {
      kRun,      // `verb`
      kPrint,    // `text`: help or version
      kLacking,  // no verb, or none that exists (`verb` is null), or `verb` lacks an argument
      kWrong,    // `text` says what is wrong
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

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_OPTIONS_H_
