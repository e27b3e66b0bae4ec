// Tables as text.
#ifndef KASHI_CLI_TABLE_TEXT_H_
#define KASHI_CLI_TABLE_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

namespace kashi::cli {

// Aligned columns: those of `is_left` to the left, the others to the right; if it is empty, the first and the last to
// the left. The first row is the head.
//
//   module                          peak  arguments  basis
//   module_0001.jit_…optimizations  12 KiB    4 KiB  estimate
//
// A table that is wider than `width` loses the columns that have only `-`; then the first column is cut in the middle,
// to no less than 16 characters. A width of 0 is no limit. Pre: at least one row of at least one column; all rows have
// the same length, and so has `is_left`, unless it is empty.
std::string TableText(std::vector<std::vector<std::string>> rows, size_t width = 0,
                      const std::vector<bool>& is_left = {});

}  // namespace kashi::cli

#endif  // KASHI_CLI_TABLE_TEXT_H_
