// Times and other measured numbers in few digits.
#ifndef KASHI_CLI_TIME_TEXT_H_
#define KASHI_CLI_TIME_TEXT_H_

#include <string>

namespace kashi::cli {

// Three digits, and always all digits before the point: "0.0123", "12.3", "12345".
std::string ThreeDigits(double value);

// "12.3 ms"; " s " has a space at its end, so that a column of times is aligned to the right.
std::string TimeText(double ms);

}  // namespace kashi::cli

#endif  // KASHI_CLI_TIME_TEXT_H_
