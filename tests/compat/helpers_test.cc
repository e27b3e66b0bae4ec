// The parts of XLA's test and platform headers that are no shapes: what they promise, and that the older include paths
// lead to them.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "Eigen/Core"
#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/base/no_destructor.h"
#include "absl/base/nullability.h"
#include "absl/functional/overload.h"
#include "absl/log/check.h"
#include "absl/log/die_if_null.h"
#include "absl/log/log.h"
#include "absl/log/scoped_mock_log.h"
#include "absl/numeric/bits.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/has_absl_stringify.h"
#include "tsl/lib/core/status_test_util.h"
#include "tsl/platform/casts.h"
#include "tsl/platform/env.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/logging.h"
#include "tsl/platform/macros.h"
#include "tsl/platform/ml_dtypes.h"
#include "tsl/platform/platform.h"
#include "tsl/platform/protobuf.h"
#include "tsl/platform/status.h"
#include "tsl/platform/status_matchers.h"
#include "tsl/platform/statusor.h"
#include "tsl/platform/test.h"
#include "tsl/platform/test_benchmark.h"
#include "tsl/platform/threadpool.h"
#include "tsl/platform/types.h"
#include "tsl/protobuf/error_codes.pb.h"
#include "tsl/util/proto/proto_matchers.h"
#include "xla/service/hlo_parser.h"
#include "xla/shape_util.h"
#include "xla/status_macros.h"
#include "xla/test.h"
#include "xla/test_helpers.h"
#include "xla/tsl/lib/gtl/iterator_range.h"
#include "xla/tsl/util/safe_reinterpret_cast.h"
#include "xla/util.h"

// Other code may open xla, and the namespaces below it, again.
namespace xla {
class OfTheUsersOwn {
 public:
  Shape shape = ShapeUtil::MakeNil();
};
namespace primitive_util {
inline bool IsHalf(PrimitiveType type) { return IsFloatingPointType(type) && BitWidth(type) == 16; }
}  // namespace primitive_util
}  // namespace xla

namespace {

using ::testing::_;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::tsl::proto_testing::EqualsProto;

TEST(NamespaceTest, FromOutside) {
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {2});
  EXPECT_EQ(xla::primitive_util::BitWidth(shape.element_type()), 32);
  EXPECT_TRUE(xla::primitive_util::IsHalf(xla::BF16));
  EXPECT_TRUE(xla::ShapeUtil::IsEmptyTuple(xla::OfTheUsersOwn().shape));
}

absl::StatusOr<int> Half(int x) {
  TF_RET_CHECK(x % 2 == 0) << "odd: " << x;
  return x / 2;
}
absl::StatusOr<int> Quarter(int x) {
  TF_ASSIGN_OR_RETURN(const int half, Half(x));
  TF_RETURN_IF_ERROR(Half(half).status());
  return Half(half);
}
absl::Status Fails() { XLA_RET_CHECK_FAIL() << "always"; }
absl::Status FailsWithContext() {
  TF_RETURN_WITH_CONTEXT_IF_ERROR(Fails(), "in context ", 7);
  return absl::OkStatus();
}

TEST(StatusMacrosTest, ReturnErrors) {
  TF_ASSERT_OK_AND_ASSIGN(int quarter, Quarter(8));
  EXPECT_EQ(quarter, 2);
  EXPECT_THAT(Quarter(6), ::absl_testing::StatusIs(absl::StatusCode::kInternal, HasSubstr("x % 2 == 0 odd: 3")));
  EXPECT_THAT(Fails(), ::absl_testing::StatusIs(tsl::error::INTERNAL, HasSubstr("RET_CHECK failure")));
  EXPECT_THAT(FailsWithContext(), ::absl_testing::StatusIs(_, HasSubstr("in context 7")));
  TF_EXPECT_OK(Quarter(4));
  TF_ASSERT_OK(absl::OkStatus());
  EXPECT_IS_OK(Quarter(4));
  ASSERT_IS_OK(absl::OkStatus());
  EXPECT_IS_NOT_OK(Quarter(3));
  ASSERT_IS_NOT_OK(Quarter(3).status());
  TF_CHECK_OK(absl::OkStatus());
}

TEST(StatusMatchersTest, Match) {
  using ::absl_testing::IsOk;
  using ::absl_testing::IsOkAndHolds;
  using ::tsl::testing::StatusIs;
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(Half(3), Not(IsOk()));
  EXPECT_THAT(Half(4), IsOkAndHolds(2));
  EXPECT_THAT(Half(4), IsOkAndHolds(::testing::Gt(1)));
  EXPECT_THAT(Half(3), Not(IsOkAndHolds(_)));
  EXPECT_THAT(absl::StatusOr<std::vector<int>>({1, 2}), IsOkAndHolds(ElementsAre(1, 2)));
  EXPECT_THAT(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(3)), IsOkAndHolds(::testing::Pointee(3)));
  EXPECT_THAT(Half(3), StatusIs(tsl::error::INTERNAL));
  EXPECT_THAT(Half(3).status(), StatusIs(absl::StatusCode::kInternal, HasSubstr("odd")));
  EXPECT_THAT(Half(3), StatusIs(AnyOf(absl::StatusCode::kInternal, absl::StatusCode::kUnknown), _));
  EXPECT_THAT(absl::OkStatus(), Not(StatusIs(absl::StatusCode::kInternal)));
  EXPECT_THAT(tsl::errors::NotFound("no ", 7), StatusIs(tsl::error::NOT_FOUND, "no 7"));
  EXPECT_TRUE(tsl::errors::IsNotFound(tsl::errors::NotFound("")));
}

TEST(ProtoMatchersTest, EqualsProto) {
  const xla::ShapeProto proto = xla::ShapeUtil::MakeScalarShape(xla::S8).ToProto();
  EXPECT_THAT(proto, EqualsProto(proto));
  EXPECT_THAT(proto, EqualsProto(R"pb(element_type: S8
                                      layout { tail_padding_alignment_in_elements: 1 })pb"));
  EXPECT_THAT(proto, Not(EqualsProto("element_type: S8")));
  EXPECT_THAT(proto, tsl::proto_testing::Partially(EqualsProto("element_type: S8")));
  xla::ShapeProto parsed;
  EXPECT_TRUE(tsl::protobuf::TextFormat::ParseFromString("element_type: S8", &parsed));
}

TEST(LogTest, ScopedMockLog) {
  absl::ScopedMockLog log(absl::MockLogDefault::kIgnoreUnexpected);
  EXPECT_CALL(log, Log(absl::LogSeverity::kWarning, HasSubstr("helpers_test"), "careful 7"));
  EXPECT_CALL(log, Log(absl::LogSeverity::kError, _, "once"));
  EXPECT_CALL(log, Log(absl::LogSeverity::kInfo, _, "a"));
  EXPECT_CALL(log, Log(absl::LogSeverity::kInfo, _, "b"));
  log.StartCapturingLogs();
  if (true) LOG(WARNING) << "careful " << 7;
  for (int i = 0; i < 3; ++i) LOG_FIRST_N(ERROR, 1) << "once";
  LOG_IF(INFO, false) << "never";
  VLOG(99) << "never";
  DLOG_IF(INFO, false) << "never";
  XLA_LOG_LINES(INFO, "a\nb");
  XLA_VLOG_LINES(99, "never");
}

TEST(LogTest, Checks) {
  CHECK(true) << "never";
  CHECK_EQ(1 + 1, 2) << "never";
  CHECK_LT(1, 2);
  CHECK_OK(absl::OkStatus());
  DCHECK_GE(2, 2);
  QCHECK_NE(1, 2);
  int x = 5;
  EXPECT_EQ(*ABSL_DIE_IF_NULL(&x), 5);
}

ABSL_DEPRECATE_AND_INLINE()
inline int* absl_nonnull Address(int& x) { return &x; }

TEST(AbseilTest, NewerParts) {
  static const absl::NoDestructor<std::vector<int>> kList(std::vector<int>{1, 2});
  EXPECT_THAT(*kList, ElementsAre(1, 2));
  EXPECT_EQ(kList->size(), 2);
  const std::variant<int, std::string> variant = "text";
  EXPECT_EQ(std::visit(absl::Overload{[](int) { return 1; }, [](const std::string&) { return 2; }}, variant), 2);
  int x = 3;
  absl::Nonnull<int*> pointer = Address(x);
  EXPECT_EQ(*pointer, 3);
  EXPECT_EQ(absl::byteswap(uint32_t{0x01020304}), 0x04030201u);
  EXPECT_EQ(absl::byteswap(int16_t{0x0102}), 0x0201);
  EXPECT_EQ(absl::endian::native, absl::endian::little);
  EXPECT_EQ(absl::bit_cast<uint32_t>(1.0f), 0x3f800000u);
  EXPECT_TRUE(absl::c_contains(std::vector<int>{1, 2}, 2));
  EXPECT_FALSE(absl::HasAbslStringify<int*>::value);
}

TEST(TslTest, Platform) {
  EXPECT_TRUE(tsl::kIsOpenSource);
  const std::string path = tsl::testing::TmpDir() + "/kashi_compat_helpers_test.txt";
  TF_ASSERT_OK(tsl::WriteStringToFile(tsl::Env::Default(), path, "text"));
  std::string text;
  TF_ASSERT_OK(tsl::ReadFileToString(tsl::Env::Default(), path, &text));
  EXPECT_EQ(text, "text");
  TF_EXPECT_OK(tsl::Env::Default()->DeleteFile(path));
  EXPECT_FALSE(tsl::Env::Default()->FileExists(path).ok());
  const char* bytes = "ab";
  EXPECT_EQ(*tsl::safe_reinterpret_cast<const uint8_t*>(bytes), 'a');
  EXPECT_NE(tsl::safe_reinterpret_cast<uintptr_t>(bytes), 0);
  const int array[] = {1, 2, 3};
  EXPECT_EQ(TF_ARRAYSIZE(array), 3);
  EXPECT_TRUE(TF_PREDICT_TRUE(true));
  tsl::testing::DoNotOptimize(array);
  EXPECT_EQ(static_cast<float>(Eigen::half(1.5f)), 1.5f);
}

TEST(UtilTest, Helpers) {
  EXPECT_EQ(xla::CeilOfRatio(7, 2), 4);
  EXPECT_EQ(xla::RoundUpTo<int64_t>(7, 4), 8);
  EXPECT_EQ(xla::RoundDownTo(7, 4), 4);
  EXPECT_EQ(xla::FloorOfRatio(7, 4), 1);
  EXPECT_TRUE(xla::IsPowerOf2(uint64_t{8}));
  EXPECT_EQ(xla::Log2Ceiling(uint64_t{9}), 4);
  EXPECT_TRUE(xla::ContainersEqual(std::vector<int64_t>{1, 2}, {1, 2}));
  EXPECT_EQ(xla::Product({2, 3, 7}), 42);
  EXPECT_EQ(xla::CommaSeparatedString(std::vector<int>{1, 2}), "1, 2");
  EXPECT_EQ(xla::VectorString({1, 2}), "(1, 2)");
  EXPECT_EQ(xla::InvalidArgument("bad %d %s", 7, "x").message(), "bad 7 x");
  EXPECT_EQ(xla::InvalidArgumentStrCat("bad ", 7).message(), "bad 7");
  EXPECT_EQ(xla::Internal("%s", "x").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(xla::AddStatus(xla::NotFound("b"), "a").message(), "a: b");
  EXPECT_EQ(xla::AppendStatus(xla::NotFound("b"), "a").message(), "b: a");
  EXPECT_EQ(xla::CommonFactors({2, 3}, {6}).size(), 2);
  const xla::DimLevelTypeVector levels = {xla::DIM_DENSE, xla::DIM_COMPRESSED};
  EXPECT_EQ(levels.size(), 2);
  xla::StringPrinter printer;
  xla::AppendCat(&printer, "a", 1);
  xla::AppendJoin(&printer, std::vector<int>{1, 2}, ",");
  EXPECT_EQ(std::move(printer).ToString(), "a11,2");
  xla::CordPrinter cord_printer;
  xla::ShapeUtil::MakeNil().Print(&cord_printer);
  EXPECT_EQ(std::string(std::move(cord_printer).ToCord()), "()");
  EXPECT_EQ(xla::Reindent("  a\n b ", "> "), "> a\n> b");
  const xla::HloPredicate any = xla::HloPredicateTrue;
  const xla::HloPredicate none = xla::HloPredicateFalse;
  EXPECT_TRUE(any(nullptr));
  EXPECT_FALSE(none(nullptr));
}

TEST(UtilTest, BitsOfFloats) {
  EXPECT_EQ(xla::NanPayloadBits<float>(), 23);
  EXPECT_EQ(xla::NanPayloadBits<tsl::float8_e5m2>(), 2);
  EXPECT_EQ(xla::NanPayloadBits<tsl::float8_e4m3fn>(), 0);
  EXPECT_EQ(xla::NanPayloadBitMask<xla::half>(), 0x3ff);
  EXPECT_EQ(xla::QuietNanWithoutPayload<xla::bfloat16>(), 0x40);
  EXPECT_EQ(absl::bit_cast<uint32_t>(xla::NanWithSignAndPayload<float>(true, 5)), 0xff800005);
  EXPECT_EQ(absl::bit_cast<uint16_t>(xla::NanWithSignAndPayload<xla::half>(false, 1)), 0x7c01);
  EXPECT_EQ(xla::SignAndMagnitude(-2.0f), std::make_pair(0x80000000u, 0x40000000u));
  EXPECT_EQ(xla::ToSignMagnitude(0.0f), 0);
  EXPECT_EQ(xla::ToSignMagnitude(-0.0f), -1);
  EXPECT_LT(xla::ToSignMagnitude(tsl::float8_e5m2(-2)), xla::ToSignMagnitude(tsl::float8_e5m2(-1)));
  EXPECT_EQ(static_cast<float>(Eigen::numext::abs(Eigen::half(-1.5f))), 1.5f);
}

struct Base {
  virtual ~Base() = default;
};
struct Derived : Base {
  int value = 7;
};

TEST(TslTest, CastsAndRanges) {
  Derived derived;
  Base* base = &derived;
  EXPECT_EQ(tsl::down_cast<Derived*>(base)->value, 7);
  EXPECT_EQ(tsl::down_cast<Derived&>(*base).value, 7);
  const std::vector<int> values = {1, 2, 3};
  int sum = 0;
  for (int value : tsl::gtl::make_range(values.begin() + 1, values.end())) sum += value;
  EXPECT_EQ(sum, 5);
}

}  // namespace
