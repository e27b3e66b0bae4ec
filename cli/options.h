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
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kashi::cli {

// Returns what is wrong with an option's text, empty if nothing is.
using OptionCheck = std::function<std::string(const std::string& text)>;

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  // All return the option itself. Its help tells about them.
  Option* Required();
  // One of these words.
  Option* OneOf(const std::vector<std::string>& words);
  // From min to max. `unit` stands for the range in the help, where one is given.
  Option* Within(int64_t min, int64_t max);
  Option* Within(int64_t min, int64_t max, const std::string& unit);
  // The help tells nothing about it: the description has to.
  Option* Check(OptionCheck check);
  // Of a list: each value has the option's name in front, `--input a --input b`.
  Option* OneEach();
  // Not together with the other one.
  Option* Excludes(const Option* other);

 private:
  CLI::Option* option_;
};

class Verb {
 public:
  // `run` returns the exit status.
  Verb(CLI::App* app, std::function<int()> run);
  ~Verb();
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  std::string name() const;
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
  template <typename Value>
  Option* Add(const std::string& names, Value* value, const std::string& description);
  Option* Own(CLI::Option* option);

  CLI::App* app_;
  std::function<int()> run_;
  std::vector<std::unique_ptr<Option>> options_;
};

class Command {
 public:
  Command(const std::string& name, const std::string& description, const std::string& footer,
          const std::string& version);
  ~Command();

  // `examples` are lines that the verb's help shows as they are.
  Verb* AddVerb(const std::string& name, const std::string& description, const std::string& examples,
                std::function<int()> run);
  const std::vector<std::unique_ptr<Verb>>& verbs() const { return verbs_; }
  // Null if there is none of that name.
  const Verb* FindVerb(const std::string& name) const;
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
  std::vector<std::unique_ptr<Verb>> verbs_;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_OPTIONS_H_
