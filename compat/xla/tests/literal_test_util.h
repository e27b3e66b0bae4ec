// LiteralTestUtil: comparisons of literals for tests. gtest is the user's to link.
#ifndef KASHI_COMPAT_XLA_TESTS_LITERAL_TEST_UTIL_H_
#define KASHI_COMPAT_XLA_TESTS_LITERAL_TEST_UTIL_H_

#include <initializer_list>
#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/array2d.h"
#include "xla/array3d.h"
#include "xla/array4d.h"
#include "xla/error_spec.h"
#include "xla/literal.h"
#include "xla/literal_comparison.h"
#include "xla/literal_util.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

namespace xla {

class LiteralTestUtil {
 public:
  // Element types and dimensions; layouts do not count.
  [[nodiscard]] static ::testing::AssertionResult EqualShapes(const Shape& expected, const Shape& actual) {
    return ResultOf(literal_comparison::EqualShapes(expected, actual));
  }
  // Layouts count too.
  [[nodiscard]] static ::testing::AssertionResult EqualShapesAndLayouts(const Shape& expected, const Shape& actual) {
    if (Shape::Equal()(expected, actual)) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "expected " << expected << ", got " << actual;
  }
  // Shapes but for layouts, and all elements. Near: elements within an error.
  [[nodiscard]] static ::testing::AssertionResult Equal(const LiteralSlice& expected, const LiteralSlice& actual) {
    return ResultOf(literal_comparison::Equal(expected, actual));
  }
  [[nodiscard]] static ::testing::AssertionResult Near(const LiteralSlice& expected, const LiteralSlice& actual,
                                                       const ErrorSpec& error_spec,
                                                       std::optional<bool> detailed_message = std::nullopt) {
    return ResultOf(literal_comparison::Near(expected, actual, error_spec, detailed_message, nullptr));
  }
  // Near if there is an error, else Equal.
  [[nodiscard]] static ::testing::AssertionResult NearOrEqual(const LiteralSlice& expected, const LiteralSlice& actual,
                                                              const std::optional<ErrorSpec>& error) {
    return error.has_value() ? Near(expected, actual, *error) : Equal(expected, actual);
  }

  // Against values written down. These EXPECT.

  template <typename NativeT>
  static void ExpectR0Equal(NativeT expected, const LiteralSlice& actual) {
    EXPECT_TRUE(Equal(LiteralUtil::CreateR0<NativeT>(expected), actual));
  }
  template <typename NativeT>
  static void ExpectR1Equal(absl::Span<const NativeT> expected, const LiteralSlice& actual) {
    EXPECT_TRUE(Equal(LiteralUtil::CreateR1<NativeT>(expected), actual));
  }
  template <typename NativeT>
  static void ExpectR2Equal(std::initializer_list<std::initializer_list<NativeT>> expected,
                            const LiteralSlice& actual) {
    EXPECT_TRUE(Equal(LiteralUtil::CreateR2<NativeT>(expected), actual));
  }
  template <typename NativeT>
  static void ExpectR3Equal(std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>> expected,
                            const LiteralSlice& actual) {
    EXPECT_TRUE(Equal(LiteralUtil::CreateR3<NativeT>(expected), actual));
  }
  template <typename NativeT>
  static void ExpectR4Equal(
      std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>>> expected,
      const LiteralSlice& actual) {
    EXPECT_TRUE(Equal(LiteralUtil::CreateR4<NativeT>(expected), actual));
  }
  template <typename NativeT>
  static void ExpectR2EqualArray2D(const Array2D<NativeT>& expected, const LiteralSlice& actual) {
    EXPECT_TRUE(Equal(LiteralUtil::CreateFromArray<NativeT>(expected), actual));
  }
  template <typename NativeT>
  static void ExpectR3EqualArray3D(const Array3D<NativeT>& expected, const LiteralSlice& actual) {
    EXPECT_TRUE(Equal(LiteralUtil::CreateFromArray<NativeT>(expected), actual));
  }
  template <typename NativeT>
  static void ExpectR4EqualArray4D(const Array4D<NativeT>& expected, const LiteralSlice& actual) {
    EXPECT_TRUE(Equal(LiteralUtil::CreateFromArray<NativeT>(expected), actual));
  }
  template <typename NativeT>
  static void ExpectR0Near(NativeT expected, const LiteralSlice& actual, const ErrorSpec& error) {
    EXPECT_TRUE(Near(LiteralUtil::CreateR0<NativeT>(expected), actual, error));
  }
  template <typename NativeT>
  static void ExpectR1Near(absl::Span<const NativeT> expected, const LiteralSlice& actual, const ErrorSpec& error) {
    EXPECT_TRUE(Near(LiteralUtil::CreateR1<NativeT>(expected), actual, error));
  }
  template <typename NativeT>
  static void ExpectR2Near(std::initializer_list<std::initializer_list<NativeT>> expected, const LiteralSlice& actual,
                           const ErrorSpec& error) {
    EXPECT_TRUE(Near(LiteralUtil::CreateR2<NativeT>(expected), actual, error));
  }
  template <typename NativeT>
  static void ExpectR3Near(std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>> expected,
                           const LiteralSlice& actual, const ErrorSpec& error) {
    EXPECT_TRUE(Near(LiteralUtil::CreateR3<NativeT>(expected), actual, error));
  }
  template <typename NativeT>
  static void ExpectR4Near(
      std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>>> expected,
      const LiteralSlice& actual, const ErrorSpec& error) {
    EXPECT_TRUE(Near(LiteralUtil::CreateR4<NativeT>(expected), actual, error));
  }
  template <typename NativeT>
  static void ExpectR2NearArray2D(const Array2D<NativeT>& expected, const LiteralSlice& actual,
                                  const ErrorSpec& error) {
    EXPECT_TRUE(Near(LiteralUtil::CreateFromArray<NativeT>(expected), actual, error));
  }
  template <typename NativeT>
  static void ExpectR3NearArray3D(const Array3D<NativeT>& expected, const LiteralSlice& actual,
                                  const ErrorSpec& error) {
    EXPECT_TRUE(Near(LiteralUtil::CreateFromArray<NativeT>(expected), actual, error));
  }
  template <typename NativeT>
  static void ExpectR4NearArray4D(const Array4D<NativeT>& expected, const LiteralSlice& actual,
                                  const ErrorSpec& error) {
    EXPECT_TRUE(Near(LiteralUtil::CreateFromArray<NativeT>(expected), actual, error));
  }

 private:
  static ::testing::AssertionResult ResultOf(const absl::Status& status) {
    if (status.ok()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << status.message();
  }
};

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_TESTS_LITERAL_TEST_UTIL_H_
