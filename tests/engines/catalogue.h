// All programs of this test, each with a number: every form alone in every frame, every pair of a producer and a
// consumer in every frame, and random programs (kashi/cpu/random_program_testing.h).
//
//   alone:0 … alone_count()-1      a form, a frame, a kind of arguments
//   pair:0 … pair_count()-1        a producer, a consumer and its operand, a frame, a kind of arguments
//   random:0 …                     a seed
#ifndef KASHI_TESTS_ENGINES_CATALOGUE_H_
#define KASHI_TESTS_ENGINES_CATALOGUE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/engines/form.h"
#include "tests/engines/frame.h"
#include "tests/engines/trial.h"

namespace kashi::tests {

struct ProgramId {
  enum Kind { kAlone, kPair, kRandom } kind;
  int64_t number;
};
std::string ToText(ProgramId id);  // `alone:12`, `pair:345`, `random:6`
std::optional<ProgramId> ParseProgramId(absl::string_view text);

struct WrittenProgram {
  std::string text;  // empty: the frame has no place for it
  ArgumentKind arguments;
  uint32_t seed;
  std::string name;  // `reduce -> add(1), in fused`
};

class Catalogue {
 public:
  Catalogue();

  int64_t alone_count() const { return static_cast<int64_t>(alone_.size() * Frames().size()) * kKinds; }
  int64_t pair_count() const { return pair_count_; }
  WrittenProgram Write(ProgramId id) const;
  // Programs with a part of this one, the simplest first: the consumer or the producer alone, a simpler frame.
  std::vector<WrittenProgram> Simpler(ProgramId id) const;

  // A program by lot: first the shape between the two, then producer and consumer by operation, then their forms, so
  // that operations with few forms come as often as those with many.
  ProgramId Draw(ProgramId::Kind kind, std::mt19937_64* random) const;

  // Every form once, and every producer once with every consumer (an operation and the number of its operand) in every
  // frame: programs by lot of those that do this, in an order by lot.
  std::vector<ProgramId> Cover(std::mt19937_64* random) const;

  // Operations that have no form, and should have.
  std::vector<HloOpcode> Missing() const;

 private:
  static constexpr int64_t kKinds = 2;  // of arguments
  struct Use {
    const Form* form;
    size_t slot;
  };
  // What makes an array of one shape, and what takes it. Numbers by operation are indices of the lists.
  struct Meeting {
    std::vector<const Form*> producers;
    std::vector<Use> consumers;
    std::vector<std::vector<int64_t>> producers_by_operation, consumers_by_operation;
    int64_t first;  // number of its first pair
  };

  void MakeMeetings();
  ProgramId DrawAlone(std::mt19937_64* random) const;
  ProgramId DrawPair(std::mt19937_64* random) const;
  // The pair of two forms of a meeting, in a frame, with arguments of this kind.
  ProgramId PairOf(const Meeting& meeting, int64_t producer, int64_t consumer, int64_t frame, int64_t kind) const;
  // What a number below alone_count() or pair_count() stands for; alone, there is only a consumer.
  struct Parts {
    ArgumentKind arguments;
    const Frame* frame;
    const Form* producer;
    Use use;
  };
  Parts PartsOf(ProgramId id) const;
  int64_t PairsOf(const Meeting& meeting) const;

  std::vector<Form> alone_, small_;
  std::vector<std::vector<int64_t>> alone_by_operation_;
  std::vector<Meeting> meetings_;
  int64_t pair_count_ = 0;
};

}  // namespace kashi::tests

#endif  // KASHI_TESTS_ENGINES_CATALOGUE_H_
