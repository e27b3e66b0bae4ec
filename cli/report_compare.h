// Two modules side by side, for the page of `kashi report`.
#ifndef KASHI_CLI_REPORT_COMPARE_H_
#define KASHI_CLI_REPORT_COMPARE_H_

#include <string>

namespace kashi {
class HloModule;
}  // namespace kashi

namespace kashi::cli {

// One JSON object that may stand in a <script> element; report_compare.js explains it. Its numbers are those of
// ReportInstructions. The modules must be valid. Expected time O(n log n) for n instructions and operands.
std::string ReportComparisonJson(const HloModule& a, const HloModule& b);

}  // namespace kashi::cli

#endif  // KASHI_CLI_REPORT_COMPARE_H_
