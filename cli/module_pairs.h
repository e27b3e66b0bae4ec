// Which modules of two directories belong together.
#ifndef KASHI_CLI_MODULE_PAIRS_H_
#define KASHI_CLI_MODULE_PAIRS_H_

#include <string>
#include <vector>

namespace kashi::internal::cli {

struct ModulePair {
  std::string name;  // of the file in A, without directories
  std::string a;     // paths
  std::string b;
};

struct ModulePairs {
  std::vector<ModulePair> pairs;  // in the order of A
  std::vector<std::string> only_a;
  std::vector<std::string> only_b;
};

// Files of the same name; of the rest those of dumps whose names are alike but for the number of the module, which each run
// of a program gives anew: module_0003.jit_f.cpu_after_optimizations.txt. Several alike are paired in their order.
ModulePairs PairModules(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_MODULE_PAIRS_H_
