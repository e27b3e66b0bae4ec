// Numbers formatted for people.
#ifndef KASHI_BASE_TEXT_H_
#define KASHI_BASE_TEXT_H_

#include <cstdint>
#include <string>

namespace kashi::internal {

std::string WithThousands(int64_t value);  // "335,544,320"
std::string HumanBytes(int64_t bytes);     // "320 MiB", "1.5 KiB", "17 bytes": three significant digits, powers of 1024

}  // namespace kashi::internal

#endif  // KASHI_BASE_TEXT_H_
