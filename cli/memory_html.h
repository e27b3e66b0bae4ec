// The page of `kashi memory --html`: the memory of a module, for a browser, with search.
//
// A page is one file that loads nothing else. It is made of memory_page.html, .css and .js of this folder, which the
// build embeds into the program as text, and of the facts about the module: tables, which do not need JavaScript, and
// data for the script, which are arrays of numbers by step and by buffer, and each text once.
#ifndef KASHI_CLI_MEMORY_HTML_H_
#define KASHI_CLI_MEMORY_HTML_H_

#include <string>
#include <vector>

#include "cli/memory_directory.h"

namespace kashi {
class HloModule;
struct MemoryAnalysis;
}  // namespace kashi

namespace kashi::cli {

class PageTexts;

// The facts in the heading of a page.
struct MemoryPageHead {
  std::string file;
  std::string date;      // of the file; "" if it has none
  std::string xla_file;  // where figures come from that XLA has written; "" if there are none
};

// The members of the JSON object that memory_page.js shows, without its texts: `"module":…,`. Linear in steps and
// values.
std::string MemoryPageData(const HloModule& module, const MemoryAnalysis& memory, PageTexts* texts);

// The size is linear in steps and values; some shapes also get the figure of their layout. All texts of the module are
// escaped. Bytes that are not UTF-8 stay; a browser shows U+FFFD.
std::string MemoryHtml(const HloModule& module, const MemoryAnalysis& memory, const MemoryPageHead& head);

// The page of a directory: one line per module, with a link to its page.
struct MemoryIndexRow {
  ModuleMemoryRow memory;
  std::string page;  // beside this one
};
std::string MemoryIndexHtml(const std::string& directory, const std::vector<MemoryIndexRow>& rows);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MEMORY_HTML_H_
