// kashi.XlaBuilder: products, convolutions, linear algebra, normalisation, random numbers.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "arrays.h"
#include "builder.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::python {
namespace {

void Add(nb::handle numbers, const char* name, RepeatedField<int64_t>* list) {
  for (const int64_t number : IntegersOf(numbers, name)) list->push_back(number);
}

DotDimensionNumbers DotNumbers(nb::handle lhs_contracting, nb::handle rhs_contracting, nb::handle lhs_batch,
                               nb::handle rhs_batch) {
  DotDimensionNumbers numbers;
  Add(lhs_contracting, "lhs_contracting_dimensions", numbers.mutable_lhs_contracting_dimensions());
  Add(rhs_contracting, "rhs_contracting_dimensions", numbers.mutable_rhs_contracting_dimensions());
  Add(lhs_batch, "lhs_batch_dimensions", numbers.mutable_lhs_batch_dimensions());
  Add(rhs_batch, "rhs_batch_dimensions", numbers.mutable_rhs_batch_dimensions());
  return numbers;
}

OpRef DotOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle precision, nb::handle type) {
  const std::optional<PrecisionConfig> config = PrecisionOf(precision);
  return b.Return(Dot(b.Op(lhs), b.Op(rhs), Pointer(config), OptionalType(type)));
}

OpRef DotGeneralOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle lhs_contracting,
                   nb::handle rhs_contracting, nb::handle lhs_batch, nb::handle rhs_batch, nb::handle precision,
                   nb::handle type) {
  const DotDimensionNumbers numbers = DotNumbers(lhs_contracting, rhs_contracting, lhs_batch, rhs_batch);
  const std::optional<PrecisionConfig> config = PrecisionOf(precision);
  return b.Return(DotGeneral(b.Op(lhs), b.Op(rhs), numbers, Pointer(config), OptionalType(type)));
}

OpRef ScaledDotOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle lhs_scale, nb::handle rhs_scale,
                  nb::handle lhs_contracting, nb::handle rhs_contracting, nb::handle lhs_batch, nb::handle rhs_batch,
                  nb::handle precision, nb::handle type) {
  const DotDimensionNumbers numbers = DotNumbers(lhs_contracting, rhs_contracting, lhs_batch, rhs_batch);
  const std::optional<PrecisionConfig> config = PrecisionOf(precision);
  return b.Return(
      ScaledDot(b.Op(lhs), b.Op(rhs), b.Op(lhs_scale), b.Op(rhs_scale), numbers, Pointer(config), OptionalType(type)));
}

OpRef RaggedDotOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle group_sizes,
                  nb::handle lhs_contracting, nb::handle rhs_contracting, nb::handle lhs_batch, nb::handle rhs_batch,
                  nb::handle lhs_ragged, nb::handle rhs_group, nb::handle precision, nb::handle type) {
  RaggedDotDimensionNumbers numbers;
  *numbers.mutable_dot_dimension_numbers() = DotNumbers(lhs_contracting, rhs_contracting, lhs_batch, rhs_batch);
  Add(lhs_ragged, "lhs_ragged_dimensions", numbers.mutable_lhs_ragged_dimensions());
  Add(rhs_group, "rhs_group_dimensions", numbers.mutable_rhs_group_dimensions());
  const std::optional<PrecisionConfig> config = PrecisionOf(precision);
  return b.Return(RaggedDot(b.Op(lhs), b.Op(rhs), b.Op(group_sizes), numbers, Pointer(config), OptionalType(type)));
}

}  // namespace

void DefineContractions(Class& builder) {
  builder
      .def("Dot", DotOp, nb::arg("lhs"), nb::arg("rhs"), nb::arg("precision_config").none() = nb::none(),
           nb::arg("preferred_element_type").none() = nb::none(),
           "Contracts the last dimension of lhs with the first of rhs; ranks 1 and 2. precision_config: two of\n"
           "'default', 'high' and 'highest', or an algorithm such as 'dot_bf16_bf16_f32'.")
      .def("DotGeneral", DotGeneralOp, nb::arg("lhs"), nb::arg("rhs"), nb::arg("lhs_contracting_dimensions"),
           nb::arg("rhs_contracting_dimensions"), nb::arg("lhs_batch_dimensions") = nb::tuple(),
           nb::arg("rhs_batch_dimensions") = nb::tuple(), nb::arg("precision_config").none() = nb::none(),
           nb::arg("preferred_element_type").none() = nb::none(),
           "Contracts and batches any dimensions. The result has batch, then lhs, then rhs dimensions.")
      .def("ScaledDot", ScaledDotOp, nb::arg("lhs"), nb::arg("rhs"), nb::arg("lhs_scale"), nb::arg("rhs_scale"),
           nb::arg("lhs_contracting_dimensions"), nb::arg("rhs_contracting_dimensions"),
           nb::arg("lhs_batch_dimensions") = nb::tuple(), nb::arg("rhs_batch_dimensions") = nb::tuple(),
           nb::arg("precision_config").none() = nb::none(), nb::arg("preferred_element_type").none() = nb::none(),
           "DotGeneral of operands whose blocks of elements have scales.")
      .def("RaggedDot", RaggedDotOp, nb::arg("lhs"), nb::arg("rhs"), nb::arg("group_sizes"),
           nb::arg("lhs_contracting_dimensions"), nb::arg("rhs_contracting_dimensions"),
           nb::arg("lhs_batch_dimensions") = nb::tuple(), nb::arg("rhs_batch_dimensions") = nb::tuple(),
           nb::arg("lhs_ragged_dimensions") = nb::tuple(), nb::arg("rhs_group_dimensions") = nb::tuple(),
           nb::arg("precision_config").none() = nb::none(), nb::arg("preferred_element_type").none() = nb::none(),
           "DotGeneral in groups of rows, whose numbers group_sizes says.");
}

namespace {

// ---- Convolutions. --------------------------------------------------------------------------------------------------

ConvolutionDimensionNumbers ConvolutionNumbers(const std::string& text) {
  return ParsedOrThrow(ParseConvolutionDimensionNumbers(text));
}

// The numbers of a list; ones if it is None.
Numbers OnesOr(nb::handle numbers, const char* name, size_t count) {
  return numbers.is_none() ? Numbers(count, 1) : IntegersOf(numbers, name);
}

OpRef ConvOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle strides, const std::string& padding,
             int64_t feature_groups, int64_t batch_groups, nb::handle precision, nb::handle type) {
  const std::optional<PrecisionConfig> config = PrecisionOf(precision);
  return b.Return(Conv(b.Op(lhs), b.Op(rhs), IntegersOf(strides, "window_strides"), PaddingNamed(padding),
                       feature_groups, batch_groups, Pointer(config), OptionalType(type)));
}

OpRef ConvWithGeneralPaddingOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle strides,
                               nb::handle padding, int64_t feature_groups, int64_t batch_groups, nb::handle precision,
                               nb::handle type) {
  const std::optional<PrecisionConfig> config = PrecisionOf(precision);
  return b.Return(ConvWithGeneralPadding(b.Op(lhs), b.Op(rhs), IntegersOf(strides, "window_strides"),
                                         PairsOf(padding, "padding"), feature_groups, batch_groups, Pointer(config),
                                         OptionalType(type)));
}

OpRef ConvWithGeneralDimensionsOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle strides,
                                  const std::string& padding, const std::string& dimensions, int64_t feature_groups,
                                  int64_t batch_groups, nb::handle precision, nb::handle type) {
  const std::optional<PrecisionConfig> config = PrecisionOf(precision);
  return b.Return(ConvWithGeneralDimensions(b.Op(lhs), b.Op(rhs), IntegersOf(strides, "window_strides"),
                                            PaddingNamed(padding), ConvolutionNumbers(dimensions), feature_groups,
                                            batch_groups, Pointer(config), OptionalType(type)));
}

OpRef ConvGeneralOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle strides, nb::handle padding,
                    const std::string& dimensions, int64_t feature_groups, int64_t batch_groups, nb::handle precision,
                    nb::handle type) {
  const std::optional<PrecisionConfig> config = PrecisionOf(precision);
  return b.Return(ConvGeneral(b.Op(lhs), b.Op(rhs), IntegersOf(strides, "window_strides"), PairsOf(padding, "padding"),
                              ConvolutionNumbers(dimensions), feature_groups, batch_groups, Pointer(config),
                              OptionalType(type)));
}

OpRef ConvGeneralDilatedOp(const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle strides, nb::handle padding,
                           nb::handle lhs_dilation, nb::handle rhs_dilation, const std::string& dimensions,
                           int64_t feature_groups, int64_t batch_groups, nb::handle precision, nb::handle type,
                           nb::handle reversal) {
  const std::optional<PrecisionConfig> config = PrecisionOf(precision);
  const Numbers steps = IntegersOf(strides, "window_strides");
  std::optional<std::vector<bool>> reversed;
  if (!reversal.is_none()) {
    reversed.emplace();
    for (const int64_t flag : IntegersOf(reversal, "window_reversal")) reversed->push_back(flag != 0);
  }
  return b.Return(ConvGeneralDilated(b.Op(lhs), b.Op(rhs), steps, PairsOf(padding, "padding"),
                                     OnesOr(lhs_dilation, "lhs_dilation", steps.size()),
                                     OnesOr(rhs_dilation, "rhs_dilation", steps.size()), ConvolutionNumbers(dimensions),
                                     feature_groups, batch_groups, Pointer(config), OptionalType(type), reversed));
}

// The arguments that the three custom calls share.
struct DynamicConv {
  DynamicConv(nb::handle window_strides, nb::handle pairs, nb::handle lhs, nb::handle rhs,
              const std::string& dimensions, nb::handle precision_config, const std::string& type)
      : strides(IntegersOf(window_strides, "window_strides")),
        padding(PairsOf(pairs, "padding")),
        lhs_dilation(OnesOr(lhs, "lhs_dilation", strides.size())),
        rhs_dilation(OnesOr(rhs, "rhs_dilation", strides.size())),
        numbers(ConvolutionNumbers(dimensions)),
        precision(PrecisionOf(precision_config)),
        padding_type(ValueOrThrow(StringToPaddingType(type))) {}

  Numbers strides;
  Pairs padding;
  Numbers lhs_dilation, rhs_dilation;
  ConvolutionDimensionNumbers numbers;
  std::optional<PrecisionConfig> precision;
  PaddingType padding_type;
};

using DynamicConvFunction = XlaOp (*)(XlaOp, XlaOp, absl::Span<const int64_t>,
                                      absl::Span<const std::pair<int64_t, int64_t>>, absl::Span<const int64_t>,
                                      absl::Span<const int64_t>, const ConvolutionDimensionNumbers&, int64_t, int64_t,
                                      const PrecisionConfig*, PaddingType, std::optional<PrimitiveType>);

void DefineDynamicConvolution(Class& builder, const char* name, DynamicConvFunction function, const char* lhs_name,
                              const char* rhs_name, const char* doc) {
  builder.def(
      name,
      [function](const BuilderRef& b, nb::handle lhs, nb::handle rhs, nb::handle strides, nb::handle padding,
                 const std::string& dimensions, nb::handle lhs_dilation, nb::handle rhs_dilation,
                 int64_t feature_groups, int64_t batch_groups, nb::handle precision, const std::string& padding_type,
                 nb::handle type) {
        const DynamicConv c(strides, padding, lhs_dilation, rhs_dilation, dimensions, precision, padding_type);
        return b.Return(function(b.Op(lhs), b.Op(rhs), c.strides, c.padding, c.lhs_dilation, c.rhs_dilation, c.numbers,
                                 feature_groups, batch_groups, Pointer(c.precision), c.padding_type,
                                 OptionalType(type)));
      },
      nb::arg(lhs_name), nb::arg(rhs_name), nb::arg("window_strides"), nb::arg("padding"), nb::arg("dimension_numbers"),
      nb::arg("lhs_dilation").none() = nb::none(), nb::arg("rhs_dilation").none() = nb::none(),
      nb::arg("feature_group_count") = 1, nb::arg("batch_group_count") = 1,
      nb::arg("precision_config").none() = nb::none(), nb::arg("padding_type") = "PADDING_VALID",
      nb::arg("preferred_element_type").none() = nb::none(), doc);
}

OpRef DynamicConvInputGradOp(const BuilderRef& b, nb::handle sizes, nb::handle lhs, nb::handle rhs, nb::handle strides,
                             nb::handle padding, const std::string& dimensions, nb::handle lhs_dilation,
                             nb::handle rhs_dilation, int64_t feature_groups, int64_t batch_groups,
                             nb::handle precision, const std::string& padding_type, nb::handle type) {
  const DynamicConv c(strides, padding, lhs_dilation, rhs_dilation, dimensions, precision, padding_type);
  return b.Return(DynamicConvInputGrad(b.Op(sizes), b.Op(lhs), b.Op(rhs), c.strides, c.padding, c.lhs_dilation,
                                       c.rhs_dilation, c.numbers, feature_groups, batch_groups, Pointer(c.precision),
                                       c.padding_type, OptionalType(type)));
}

void DefineDynamicConvolutions(Class& builder) {
  DefineDynamicConvolution(builder, "DynamicConvForward", DynamicConvForward, "lhs", "rhs",
                           "The custom call of a convolution whose sizes are known at run time only.");
  DefineDynamicConvolution(builder, "DynamicConvKernelGrad", DynamicConvKernelGrad, "activations", "gradients",
                           "The same for the gradient of the kernel.");
  builder.def("DynamicConvInputGrad", DynamicConvInputGradOp, nb::arg("input_sizes"), nb::arg("lhs"), nb::arg("rhs"),
              nb::arg("window_strides"), nb::arg("padding"), nb::arg("dimension_numbers"),
              nb::arg("lhs_dilation").none() = nb::none(), nb::arg("rhs_dilation").none() = nb::none(),
              nb::arg("feature_group_count") = 1, nb::arg("batch_group_count") = 1,
              nb::arg("precision_config").none() = nb::none(), nb::arg("padding_type") = "PADDING_VALID",
              nb::arg("preferred_element_type").none() = nb::none(), "The same for the gradient of the input.");
}

}  // namespace

void DefineConvolutions(Class& builder) {
  const auto groups = nb::arg("feature_group_count") = 1, batches = nb::arg("batch_group_count") = 1;
  const auto precision = nb::arg("precision_config").none() = nb::none();
  const auto type = nb::arg("preferred_element_type").none() = nb::none();
  builder
      .def("Conv", ConvOp, nb::arg("lhs"), nb::arg("rhs"), nb::arg("window_strides"), nb::arg("padding"), groups,
           batches, precision, type,
           "A convolution; lhs is batch, feature, spatial …, rhs output feature, input feature, spatial …. padding:\n"
           "'same' or 'valid'.")
      .def("ConvWithGeneralPadding", ConvWithGeneralPaddingOp, nb::arg("lhs"), nb::arg("rhs"),
           nb::arg("window_strides"), nb::arg("padding"), groups, batches, precision, type,
           "Conv, padded by (low, high) for each spatial dimension.")
      .def("ConvWithGeneralDimensions", ConvWithGeneralDimensionsOp, nb::arg("lhs"), nb::arg("rhs"),
           nb::arg("window_strides"), nb::arg("padding"), nb::arg("dimension_numbers"), groups, batches, precision,
           type, "Conv of dimensions in any order, as HLO's text: 'b01f_01io->b01f'.")
      .def("ConvGeneral", ConvGeneralOp, nb::arg("lhs"), nb::arg("rhs"), nb::arg("window_strides"), nb::arg("padding"),
           nb::arg("dimension_numbers"), groups, batches, precision, type,
           "ConvWithGeneralPadding of dimensions in any order.")
      .def("ConvGeneralDilated", ConvGeneralDilatedOp, nb::arg("lhs"), nb::arg("rhs"), nb::arg("window_strides"),
           nb::arg("padding"), nb::arg("lhs_dilation").none(), nb::arg("rhs_dilation").none(),
           nb::arg("dimension_numbers"), groups, batches, precision, type,
           nb::arg("window_reversal").none() = nb::none(),
           "ConvGeneral with space between the elements of lhs and of rhs, and with reversed dimensions.");
  DefineDynamicConvolutions(builder);
}

namespace {

// ---- Linear algebra. ------------------------------------------------------------------------------------------------

OpRef FftOp(const BuilderRef& b, nb::handle operand, const std::string& type, nb::handle lengths) {
  const FftType kind = ValueOrThrow(StringToFftType(absl::AsciiStrToUpper(type)));
  return b.Return(Fft(b.Op(operand), kind, IntegersOf(lengths, "fft_length")));
}

OpRef TriangularSolveOp(const BuilderRef& b, nb::handle a, nb::handle rhs, bool left_side, bool lower,
                        bool unit_diagonal, const std::string& transpose) {
  const auto how = ValueOrThrow(StringToTranspose(absl::AsciiStrToUpper(transpose)));
  return b.Return(TriangularSolve(b.Op(a), b.Op(rhs), left_side, lower, unit_diagonal, how));
}

void DefineBatchNorm(Class& builder) {
  const auto epsilon = nb::arg("epsilon"), feature = nb::arg("feature_index");
  builder
      .def(
          "BatchNormTraining",
          [](const BuilderRef& b, nb::handle x, nb::handle scale, nb::handle offset, float small, int64_t index) {
            return b.Return(BatchNormTraining(b.Op(x), b.Op(scale), b.Op(offset), small, index));
          },
          nb::arg("operand"), nb::arg("scale"), nb::arg("offset"), epsilon, feature,
          "(the normalised operand, mean, variance), over all dimensions but that of the features.")
      .def(
          "BatchNormInference",
          [](const BuilderRef& b, nb::handle x, nb::handle scale, nb::handle offset, nb::handle mean,
             nb::handle variance, float small, int64_t index) {
            return b.Return(
                BatchNormInference(b.Op(x), b.Op(scale), b.Op(offset), b.Op(mean), b.Op(variance), small, index));
          },
          nb::arg("operand"), nb::arg("scale"), nb::arg("offset"), nb::arg("mean"), nb::arg("variance"), epsilon,
          feature, "The operand normalised by this mean and variance.")
      .def(
          "BatchNormGrad",
          [](const BuilderRef& b, nb::handle x, nb::handle scale, nb::handle mean, nb::handle variance,
             nb::handle gradient, float small, int64_t index) {
            return b.Return(
                BatchNormGrad(b.Op(x), b.Op(scale), b.Op(mean), b.Op(variance), b.Op(gradient), small, index));
          },
          nb::arg("operand"), nb::arg("scale"), nb::arg("batch_mean"), nb::arg("batch_var"), nb::arg("grad_output"),
          epsilon, feature, "The gradients of operand, scale and offset.");
}

void DefineRandom(Class& builder) {
  builder
      .def(
          "RngNormal",
          [](const BuilderRef& b, nb::handle mu, nb::handle sigma, nb::handle shape) {
            return b.Return(RngNormal(b.Op(mu), b.Op(sigma), ShapeOfArgument(shape)));
          },
          nb::arg("mu"), nb::arg("sigma"), nb::arg("shape"), "Random numbers of a normal distribution.")
      .def(
          "RngUniform",
          [](const BuilderRef& b, nb::handle low, nb::handle high, nb::handle shape) {
            return b.Return(RngUniform(b.Op(low), b.Op(high), ShapeOfArgument(shape)));
          },
          nb::arg("a"), nb::arg("b"), nb::arg("shape"), "Random numbers from a to before b.")
      .def(
          "RngBitGenerator",
          [](const BuilderRef& b, const std::string& algorithm, nb::handle state, nb::handle shape) {
            const auto kind = ValueOrThrow(StringToRandomAlgorithm(absl::AsciiStrToLower(algorithm)));
            return b.Return(RngBitGenerator(kind, b.Op(state), ShapeOfArgument(shape)));
          },
          nb::arg("algorithm"), nb::arg("initial_state"), nb::arg("shape"),
          "(the next state, random bits); algorithm: 'rng_default', 'rng_three_fry' or 'rng_philox'.");
}

}  // namespace

void DefineLinearAlgebra(Class& builder) {
  builder
      .def("Fft", FftOp, nb::arg("operand"), nb::arg("fft_type"), nb::arg("fft_length"),
           "The Fourier transform 'FFT', 'IFFT', 'RFFT' or 'IRFFT' of the last dimensions.")
      .def("TriangularSolve", TriangularSolveOp, nb::arg("a"), nb::arg("b"), nb::arg("left_side") = true,
           nb::arg("lower") = true, nb::arg("unit_diagonal") = false, nb::arg("transpose_a") = "NO_TRANSPOSE",
           "x of op(a) x = b, or of x op(a) = b; transpose_a: 'NO_TRANSPOSE', 'TRANSPOSE' or 'ADJOINT'.")
      .def(
          "Cholesky", [](const BuilderRef& b, nb::handle a, bool lower) { return b.Return(Cholesky(b.Op(a), lower)); },
          nb::arg("a"), nb::arg("lower") = true, "The triangular factor of a positive definite matrix.");
  DefineBatchNorm(builder);
  DefineRandom(builder);
}

}  // namespace kashi::python
