// Defines the text of records (message.h), for googletest, in a build without kashi/proto. Otherwise kashi/proto
// defines it. In such a build CMake includes this header before the tests.
#ifndef KASHI_HLO_ATTRIBUTES_RECORD_TEXT_TESTING_H_
#define KASHI_HLO_ATTRIBUTES_RECORD_TEXT_TESTING_H_

#include <string>

namespace kashi::message_internal {

template <typename Record>
std::string TextOfRecord(const Record&, bool /*one_line*/) {
  return "(a record; its text needs kashi/proto)";
}

}  // namespace kashi::message_internal

#endif  // KASHI_HLO_ATTRIBUTES_RECORD_TEXT_TESTING_H_
