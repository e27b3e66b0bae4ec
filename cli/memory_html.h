// The page of `kashi memory --html`: where the memory of a module goes, to look at and to search in a browser.
//
// One file that needs nothing else and asks nobody. Its parts are memory_page.html, .css and .js in this folder, which
// the build puts into the program as text; what is particular to a module is tables that are there without JavaScript
// too, and data that the script reads: arrays of numbers by step and by buffer, each text once.
#ifndef KASHI_CLI_MEMORY_HTML_H_
#define KASHI_CLI_MEMORY_HTML_H_

#include <string>

namespace kashi {
class HloModule;
struct MemoryAnalysis;
}  // namespace kashi

namespace kashi::cli {

// Linear in steps and values, and layouts' figures for some shapes. Texts of the module appear escaped, whatever they
// hold; bytes that are no UTF-8 are left to the browser, which shows U+FFFD.
std::string MemoryHtml(const HloModule& module, const MemoryAnalysis& memory);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MEMORY_HTML_H_
