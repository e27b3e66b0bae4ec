// Pairs the modules of two directories.
#ifndef KASHI_CLI_MODULE_PAIRS_H_
#define KASHI_CLI_MODULE_PAIRS_H_

#include <string>
#include <vector>

namespace kashi::cli {

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

// Pairs files of the same name, then files whose names differ only in the number of the module, which changes from run
// to run: module_0003.jit_f.cpu_after_optimizations.txt. Several files of such a name are paired in order.
ModulePairs PairModules(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MODULE_PAIRS_H_
