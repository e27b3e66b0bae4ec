// Numbers of costs as text.
#ifndef KASHI_CLI_COST_TEXT_H_
#define KASHI_CLI_COST_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kashi::cli {

std::string NumberText(double number);                        // "1,179,648"; "1.5e+20" beyond 10^15
std::string WithUnit(double number, absl::string_view unit);  // "1.18 Mflop", by powers of 1000
std::string FlopsText(double flops);                          // "1.18 Mflop"
std::string BytesText(double bytes);                          // "1.5 MiB"
std::string SecondsText(double seconds);                      // "12.3 us"; "0" for none
std::string PercentText(double part, double whole);           // "12.3 %"; "-" of nothing

}  // namespace kashi::cli

#endif  // KASHI_CLI_COST_TEXT_H_
