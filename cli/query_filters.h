// The options of `kashi query` for the usual questions, which need no expression.
#ifndef KASHI_CLI_QUERY_FILTERS_H_
#define KASHI_CLI_QUERY_FILTERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"

namespace kashi::cli {

struct QueryFilters {
  std::vector<std::string> opcodes;  // each may be a list with commas
  std::string shape;
  std::string op_name;
  std::string source;
  std::string call_target;
  std::string sharding;
  std::string layout;
  std::string computation;
  std::string users_of;
  std::string operands_of;
  std::string around;
  std::string path;  // "FROM,TO"
  int64_t depth = 1;
  uint64_t larger = 0;
};

void AddFilterOptions(Verb* verb, QueryFilters* filters);

// The options as one expression, all of which must hold; "" if none is given.
std::string FilterExpression(const QueryFilters& filters);

}  // namespace kashi::cli

#endif  // KASHI_CLI_QUERY_FILTERS_H_
