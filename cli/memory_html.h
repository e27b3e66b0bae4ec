// The page of `kashi memory --html`: where the memory of a module goes, to look at and to search in a browser.
//
// One file that needs nothing else and asks nobody. Its parts are memory_page.html, .css and .js in this folder, which
// the build puts into the program as text; what is particular to a module is tables that are there without JavaScript
// too, and data that the script reads: arrays of numbers by step and by buffer, each text once.
#ifndef KASHI_CLI_MEMORY_HTML_H_
#define KASHI_CLI_MEMORY_HTML_H_

#include <string>
#include <vector>

#include "cli/memory_directory.h"

namespace kashi {
class HloModule;
struct MemoryAnalysis;
}  // namespace kashi

namespace kashi::internal {
}  // namespace kashi::internal

namespace kashi::internal::cli {

// What the head of a page tells of its module.
struct MemoryPageHead {
  std::string file;
  std::string date;      // of the file; "" if it has none
  std::string xla_file;  // where figures come from that XLA has written; "" if there are none
};

// Linear in steps and values, and layouts' figures for some shapes. Texts of the module appear escaped, whatever they
// hold; bytes that are no UTF-8 are left to the browser, which shows U+FFFD.
std::string MemoryHtml(const HloModule& module, const MemoryAnalysis& memory, const MemoryPageHead& head);

// A page for a directory: a line for each module, whose name leads to its own page.
struct MemoryIndexRow {
  ModuleMemoryRow memory;
  std::string page;  // beside this one
};
std::string MemoryIndexHtml(const std::string& directory, const std::vector<MemoryIndexRow>& rows);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_MEMORY_HTML_H_
