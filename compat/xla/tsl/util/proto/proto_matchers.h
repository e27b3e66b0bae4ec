// tsl::proto_testing::EqualsProto(text or message), and Partially(…), which looks only at the fields that are set
// there. The small records (Window, OpSharding, …), which are plain values here, are compared as the messages that they
// stand for.
#ifndef KASHI_COMPAT_XLA_TSL_UTIL_PROTO_PROTO_MATCHERS_H_
#define KASHI_COMPAT_XLA_TSL_UTIL_PROTO_PROTO_MATCHERS_H_

#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "kashi/proto/records_proto.h"

namespace tsl::proto_testing {

class EqualsProtoMatcher {
 public:
  explicit EqualsProtoMatcher(std::string text) : text_(std::move(text)) {}
  explicit EqualsProtoMatcher(const google::protobuf::Message& message) : message_(message.New()) {
    message_->CopyFrom(message);
  }

  void DescribeTo(std::ostream* out) const { *out << "equals the proto { " << ExpectedText() << " }"; }
  void DescribeNegationTo(std::ostream* out) const { *out << "does not equal the proto { " << ExpectedText() << " }"; }

  bool MatchAndExplain(const google::protobuf::Message& actual, ::testing::MatchResultListener* listener) const {
    std::unique_ptr<google::protobuf::Message> expected(actual.New());
    if (message_ == nullptr) {
      if (!google::protobuf::TextFormat::ParseFromString(text_, expected.get())) {
        *listener << "and the expected text is no " << actual.GetTypeName();
        return false;
      }
    } else if (message_->GetDescriptor() != actual.GetDescriptor()) {
      *listener << "whose type is " << actual.GetTypeName();
      return false;
    } else {
      expected->CopyFrom(*message_);
    }
    std::string differences;
    google::protobuf::util::MessageDifferencer differencer;
    if (is_partial_) differencer.set_scope(google::protobuf::util::MessageDifferencer::PARTIAL);
    differencer.ReportDifferencesToString(&differences);
    const bool is_equal = differencer.Compare(*expected, actual);
    if (!is_equal) *listener << "with the differences:\n" << differences;
    return is_equal;
  }
  bool MatchAndExplain(const google::protobuf::Message* actual, ::testing::MatchResultListener* listener) const {
    return actual != nullptr && MatchAndExplain(*actual, listener);
  }
  template <typename Record, typename = decltype(::kashi::ToMessage(std::declval<const Record&>()))>
  bool MatchAndExplain(const Record& actual, ::testing::MatchResultListener* listener) const {
    return MatchAndExplain(static_cast<const google::protobuf::Message&>(::kashi::ToMessage(actual)), listener);
  }

  void set_partial() { is_partial_ = true; }

 private:
  std::string ExpectedText() const { return message_ == nullptr ? text_ : message_->ShortDebugString(); }

  std::string text_;
  std::shared_ptr<google::protobuf::Message> message_;  // null: the text counts
  bool is_partial_ = false;
};

using EqualsProtoPolymorphicMatcher = ::testing::PolymorphicMatcher<EqualsProtoMatcher>;

inline EqualsProtoPolymorphicMatcher EqualsProto(std::string text) {
  return ::testing::MakePolymorphicMatcher(EqualsProtoMatcher(std::move(text)));
}
inline EqualsProtoPolymorphicMatcher EqualsProto(const google::protobuf::Message& message) {
  return ::testing::MakePolymorphicMatcher(EqualsProtoMatcher(message));
}
template <typename Record, typename = decltype(::kashi::ToMessage(std::declval<const Record&>()))>
EqualsProtoPolymorphicMatcher EqualsProto(const Record& record) {
  return EqualsProto(static_cast<const google::protobuf::Message&>(::kashi::ToMessage(record)));
}
inline EqualsProtoPolymorphicMatcher Partially(EqualsProtoPolymorphicMatcher matcher) {
  matcher.mutable_impl().set_partial();
  return matcher;
}

}  // namespace tsl::proto_testing

#endif  // KASHI_COMPAT_XLA_TSL_UTIL_PROTO_PROTO_MATCHERS_H_
