#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "kashi/hlo/inference/shape_inference_cases_testing.h"

namespace kashi::hlo {
namespace {

// ---- Fourier transforms --------------------------------------------------------------------------------------------

std::string InferFft(const std::string& operand, const std::string& type, const std::string& length) {
  return InferShapeText("fft", operand, absl::StrCat("fft_type=", type, ";fft_length={", length, "}"));
}

TEST(InferFftShapeTest, ComplexTransformsKeepTheShape) {
  EXPECT_EQ(InferFft("c64[3,8]{0,1}", "FFT", "8"), "c64[3,8]{0,1}");
  EXPECT_EQ(InferFft("c128[<=3,?]", "IFFT", "2,8"), "c128[<=3,?]{1,0}");
  // Lengths are not compared.
  EXPECT_EQ(InferFft("c64[8]", "FFT", "-5"), "c64[8]{0}");
}

TEST(InferFftShapeTest, RealTransforms) {
  EXPECT_EQ(InferFft("f32[3,8]{0,1}", "RFFT", "8"), "c64[3,5]{0,1}");
  EXPECT_EQ(InferFft("f64[3,7]", "RFFT", "3,7"), "c128[3,4]{1,0}");
  EXPECT_EQ(InferFft("f32[0]", "RFFT", "0"), "c64[0]{0}");
  EXPECT_EQ(InferFft("c64[3,5]{0,1}", "IRFFT", "8"), "f32[3,8]{0,1}");
  EXPECT_EQ(InferFft("c128[3,5]", "IRFFT", "3,9"), "f64[3,9]{1,0}");
  EXPECT_EQ(InferFft("c64[0]", "IRFFT", "0"), "f32[0]{0}");
}

TEST(InferFftShapeTest, DynamicDimensions) {
  EXPECT_EQ(InferFft("f32[<=3,<=8]", "RFFT", "8"), "c64[<=3,<=5]{1,0}");
  EXPECT_EQ(InferFft("f32[?,?]", "RFFT", "4,8"), "c64[?,5]{1,0}");
  EXPECT_EQ(InferFft("c64[?,?]", "IRFFT", "8"), "f32[?,8]{1,0}");
}

TEST(InferFftShapeTest, Errors) {
  EXPECT_EQ(InferFft("s32[]", "FFT", ""), "error: FFT only supports ranks 1-3; got 0.");
  EXPECT_EQ(InferFft("s32[]", "FFT", "1,1,1,1"), "error: FFT only supports ranks 1-3; got 4.");
  EXPECT_EQ(InferFft("()", "FFT", "8"), "error: FFT requires complex input type, found TUPLE.");
  EXPECT_EQ(InferFft("f32[]", "IFFT", "8"), "error: IFFT requires complex input type, found F32.");
  EXPECT_EQ(InferFft("c64[]", "IFFT", "8"),
            "error: FFT of rank 1 requires input of at least same rank; got input of rank 0");
  EXPECT_EQ(InferFft("f16[]", "RFFT", "8"), "error: RFFT requires F32 or F64 input type, found F16.");
  EXPECT_EQ(InferFft("f32[8]", "RFFT", "3,8"),
            "error: FFT of rank 2 requires input of at least same rank; got input of rank 1");
  EXPECT_EQ(InferFft("f32[2,8]", "RFFT", "2,7"),
            "error: RFFT requires innermost dimensions match fft_length but dimension 1 is 8 and should be 7.");
  EXPECT_EQ(InferFft("f32[8]", "IRFFT", "8"), "error: IRFFT requires complex input type, found F32.");
  EXPECT_EQ(InferFft("c64[8]", "IRFFT", "3,8"),
            "error: FFT of rank 2 requires input of at least same rank; got input of rank 1");
  EXPECT_EQ(InferFft("c64[?,9]", "IRFFT", "2,8"),
            "error: IRFFT requires all but one innermost dimensions match fft_length, but dimension 0 is "
            "-9223372036854775808 and should be 2.");
  EXPECT_EQ(InferFft("c64[9]", "IRFFT", "8"),
            "error: IRFFT requires innermost dimension matches fft_length/2+1, but dimension 0 is 9 and should be 5.");
  // XLA dies of these two.
  EXPECT_TRUE(absl::StartsWith(InferFft("c64[?]", "IRFFT", "-4"), "error: "));
  EXPECT_TRUE(absl::StartsWith(InferFft("c64[3,?]", "IRFFT", "9223372036854775807"), "error: "));
}

TEST(InferFftShapeTest, UnknownType) {
  EXPECT_FALSE(ShapeInference::InferFftShape(ShapeUtil::MakeShape(C64, {8}), static_cast<FftType>(4), {8}).ok());
}

// ---- Cholesky ------------------------------------------------------------------------------------------------------

std::string InferCholesky(const std::string& operand) { return InferShapeText("cholesky", operand, ""); }

TEST(InferCholeskyShapeTest, TheOperandsShape) {
  EXPECT_EQ(InferCholesky("f32[5,3,3]{0,2,1}"), "f32[5,3,3]{0,2,1}");
  EXPECT_EQ(InferCholesky("c64[<=5,?,3]"), "c64[<=5,?,3]{2,1,0}");
}

TEST(InferCholeskyShapeTest, Errors) {
  EXPECT_EQ(InferCholesky("s32[]"),
            "error: Expected element type in shape to be floating or complex for Cholesky; got S32.");
  EXPECT_EQ(InferCholesky("token[]"),
            "error: Expected element type in shape to be floating or complex for Cholesky; got TOKEN.");
  EXPECT_EQ(InferCholesky("f32[3]"), "error: The 'a' argument to Cholesky must have rank >= 2, got shape f32[3]");
  EXPECT_EQ(InferCholesky("f32[3,4]"),
            "error: The two minor dimensions of 'a' must have compatible size, got f32[3,4].");
}

// ---- Triangular solve ----------------------------------------------------------------------------------------------

std::string InferTriangularSolve(const std::string& operands, const std::string& side,
                                 const std::string& transpose = "NO_TRANSPOSE") {
  return InferShapeText("triangular-solve", operands,
                        absl::StrCat("left_side=", side == "left" ? "true" : "false", ";transpose_a=", transpose));
}

TEST(InferTriangularSolveShapeTest, TheShapeOfB) {
  EXPECT_EQ(InferTriangularSolve("f32[5,3,3];f32[5,3,2]{0,1,2}", "left"), "f32[5,3,2]{0,1,2}");
  EXPECT_EQ(InferTriangularSolve("c64[3,3];c64[2,3]", "right", "ADJOINT"), "c64[2,3]{1,0}");
  EXPECT_EQ(InferTriangularSolve("f32[?,3];f32[?,2]", "left", "TRANSPOSE"), "f32[?,2]{1,0}");
}

TEST(InferTriangularSolveShapeTest, Errors) {
  const std::string types =
      "error: Expected element types in shape to be floating or complex and identical for TriangularSolve; got ";
  EXPECT_EQ(InferTriangularSolve("s32[];s32[]", "left"), types + "S32 and S32.");
  EXPECT_EQ(InferTriangularSolve("f32[];f16[]", "left"), types + "F32 and F16.");
  EXPECT_EQ(InferTriangularSolve("();()", "left"), types + "TUPLE and TUPLE.");
  EXPECT_EQ(InferTriangularSolve("f32[3];f32[]", "left"),
            "error: The 'a' argument to TriangularSolve must have rank >= 2, got shape f32[3]");
  EXPECT_EQ(InferTriangularSolve("f32[3,4];f32[3]", "left"),
            "error: Arguments to triangular solve must have equal rank; got f32[3] and f32[3,4].");
  EXPECT_EQ(InferTriangularSolve("f32[3,4];f32[9,9]", "left"),
            "error: The two minor dimensions of 'a' must have equal size, got f32[3,4].");
  EXPECT_EQ(InferTriangularSolve("f32[5,3,3];f32[6,2,3]", "left"),
            "error: The shared dimension of 'a' and 'b' does not match, got shapes f32[5,3,3] and f32[6,2,3]");
  EXPECT_EQ(InferTriangularSolve("f32[3,3];f32[3,2]", "right"),
            "error: The shared dimension of 'a' and 'b' does not match, got shapes f32[3,3] and f32[3,2]");
  EXPECT_EQ(
      InferTriangularSolve("f32[5,3,3];f32[6,3,2]", "left", "TRANSPOSE_INVALID"),
      "error: The leading batch dimensions of the arguments to triangular solve must be equal; got f32[6,3,2] and "
      "f32[5,3,3].");
  EXPECT_EQ(InferTriangularSolve("f32[3,3];f32[3,2]", "left", "TRANSPOSE_INVALID"),
            "error: Invalid transpose option value for triangular solve (0).\n");
}

}  // namespace
}  // namespace kashi::hlo
