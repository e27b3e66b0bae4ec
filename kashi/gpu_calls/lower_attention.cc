// Fused attention by cuDNN, as JAX calls it. For each batch b and head n, with queries t and keys s:
//
//   logits[t, s] = scale * sum over h of q[t, h] k[s, h] + bias[t, s], or nothing where the mask hides s from t
//   p = softmax(logits),    o[t, h] = sum over s of p[t, s] v[s, h]
//   log sum[t] = log(sum over s of exp(logits[t, s]))
//
// and backward, from do:
//
//   dv = p^T do,    dp = do v^T,    ds = p * (dp - sum over h of do o),    dq = scale ds k,    dk = scale ds^T q
//
// Where there are more heads of q than of k and v, neighbouring heads of q share one of k and v.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/gpu_calls/lower_call.h"

namespace kashi::gpu_calls {
namespace {

constexpr PrimitiveType kType = F32;
constexpr int64_t kQueryDimension = 2, kKeyDimension = 3;  // of logits[b, n, t, s]

// The least number, nearly: exp of its difference to any logit is 0.
constexpr double kHidden = -3e38;

class AttentionLowering {
 public:
  explicit AttentionLowering(CallLowering* lowering) : lowering_(*lowering) {}

  // Reads the config. The call has `given` operands, then a bias, if its target says so, then `fixed_behind_bias`, then
  // the lengths, if the mask needs them.
  absl::Status ReadConfig(int64_t given, int64_t fixed_behind_bias) {
    const CallConfig& config = lowering_.config();
    KASHI_ASSIGN_OR_RETURN(scale_, config.Number("fmha_scale"));
    KASHI_ASSIGN_OR_RETURN(window_, config.Integer("sliding_window_length", 0));
    KASHI_ASSIGN_OR_RETURN(mask_, config.Text("mask_type", "NO_MASK"));
    has_bias_ = absl::StrContains(lowering_.call().custom_call_target(), "ScaleBias");
    bias_ = given;
    behind_bias_ = given + (has_bias_ ? 1 : 0);
    lengths_ = behind_bias_ + fixed_behind_bias;
    if (lowering_.only_products()) return lowering_.ExpectOperands(lengths_, lowering_.operand_count());
    KASHI_RETURN_IF_ERROR(CheckModes());
    const int64_t count = lengths_ + (has_lengths() ? 2 : 0);
    return lowering_.ExpectOperands(count, count);
  }

  int64_t behind_bias() const { return behind_bias_; }
  bool has_bias() const { return has_bias_; }
  double scale() const { return scale_; }

  // The numbers with this key: of two batch dimensions and one that is summed over, for operands of four dimensions.
  absl::StatusOr<DotDimensionNumbers> Dimensions(absl::string_view key) const {
    KASHI_ASSIGN_OR_RETURN(DotDimensionNumbers numbers, lowering_.config().DotDimensions(key));
    const auto fits = [](const auto& list, int count) {
      return list.size() == count && absl::c_all_of(list, [](int64_t d) { return d >= 0 && d < 4; });
    };
    if (fits(numbers.lhs_batch_dimensions(), 2) && fits(numbers.rhs_batch_dimensions(), 2) &&
        fits(numbers.lhs_contracting_dimensions(), 1) && fits(numbers.rhs_contracting_dimensions(), 1)) {
      return numbers;
    }
    return lowering_.config().Wrong(key, "are not those of products of matrices by batch and head");
  }

  absl::Status ExpectFourDimensions(std::initializer_list<int64_t> operands) const {
    for (const int64_t i : operands) {
      if (lowering_.operand_shape(i).dimensions_size() != 4)
        return lowering_.Wrong(absl::StrCat("operand ", i, " does not have four dimensions"));
    }
    return absl::OkStatus();
  }

  // Operand i in f32, with as many heads as q: its heads are at `heads`, those of q, operand 0, at `query_heads`.
  absl::StatusOr<XlaOp> WithHeadsOfQuery(int64_t i, int64_t heads, int64_t query_heads) {
    const Shape& shape = lowering_.operand_shape(i);
    const int64_t own = shape.dimensions(static_cast<int>(heads));
    const int64_t queries = lowering_.operand_shape(0).dimensions(static_cast<int>(query_heads));
    const XlaOp x = lowering_.OperandAs(i, kType);
    if (own == queries) return x;
    if (own == 0 || queries % own != 0) return lowering_.Wrong("the heads of q are no multiple of those of k and v");
    std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end()), merged = sizes, places;
    for (int64_t d = 0; d < 4; ++d) places.push_back(d <= heads ? d : d + 1);
    sizes.insert(sizes.begin() + heads + 1, queries / own);
    merged[heads] = queries;
    return Reshape(BroadcastInDim(x, sizes, places), merged);
  }
  // The reverse for a gradient [b, n, s, h]: the sum over the heads of q that share one of result i.
  XlaOp SumOverSharedHeads(XlaOp gradient, int64_t i) {
    const Shape made = lowering_.ShapeOf(gradient);
    const Shape& result = lowering_.result(i);
    if (made.dimensions_size() != 4 || result.dimensions_size() != 4) return gradient;
    const int64_t own = result.dimensions(1), all = made.dimensions(1);
    if (own == all || own == 0 || all % own != 0) return gradient;
    const std::vector<int64_t> sizes = {made.dimensions(0), own, all / own, made.dimensions(2), made.dimensions(3)};
    return lowering_.Sum(Reshape(gradient, sizes), kType, {2});
  }

  // From products[b, n, t, s] of q and k. Where the mask hides a key, kHidden.
  XlaOp Logits(XlaOp products) {
    XlaOp logits = lowering_.Scale(products, kType, scale_);
    if (has_bias_) logits = Add(logits, lowering_.OperandAs(bias_, kType));
    if (!lowering_.builder()->first_error().ok()) return logits;  // they have no shape
    shape_ = lowering_.ShapeOf(logits);
    shape_.set_element_type(S32);
    MakeMask();
    return has_mask_ ? Select(visible_, logits, Everywhere(kHidden)) : logits;
  }
  // 0 where the mask hides a key.
  XlaOp Visible(XlaOp weights) { return has_mask_ ? Select(visible_, weights, Everywhere(0)) : weights; }

  // One number for each query [b, n, t], for all keys.
  XlaOp ForAllKeys(XlaOp x) {
    if (!lowering_.builder()->first_error().ok()) return x;
    return BroadcastInDim(x, shape_.dimensions(), {0, 1, kQueryDimension});
  }

 private:
  absl::Status CheckModes() const {
    const CallConfig& config = lowering_.config();
    KASHI_ASSIGN_OR_RETURN(const double dropout, config.Number("dropout_rate", 0));
    if (dropout != 0) return config.Unknown("dropout_rate", "is not 0: the random numbers are those of cuDNN");
    KASHI_ASSIGN_OR_RETURN(const int64_t segments, config.Integer("max_seg_per_batch", 1));
    if (segments > 1) return config.Unknown("max_seg_per_batch", "is more than 1");
    KASHI_ASSIGN_OR_RETURN(const bool is_paged, config.Bool("is_paged_attention", false));
    if (is_paged) return config.Unknown("is_paged_attention", "is true");
    static constexpr absl::string_view kMasks[] = {"NO_MASK", "CAUSAL", "PADDING", "PADDING_CAUSAL"};
    if (!absl::c_linear_search(kMasks, mask_))
      return config.Unknown("mask_type", absl::StrCat("\"", mask_, "\" is not known"));
    return absl::OkStatus();
  }
  bool has_lengths() const { return absl::StartsWith(mask_, "PADDING"); }

  XlaOp Everywhere(double value) {
    return Broadcast(lowering_.Constant(kType, value),
                     std::vector<int64_t>(shape_.dimensions().begin(), shape_.dimensions().end()));
  }

  // Which keys a query sees: none behind it (CAUSAL), none more than a window before it, none beyond the lengths.
  void MakeMask() {
    const XlaOp query = Iota(lowering_.builder(), shape_, kQueryDimension);
    const XlaOp key = Iota(lowering_.builder(), shape_, kKeyDimension);
    const auto also = [&](XlaOp condition) {
      visible_ = has_mask_ ? And(visible_, condition) : condition;
      has_mask_ = true;
    };
    if (absl::EndsWith(mask_, "CAUSAL")) also(Le(key, query));
    if (window_ > 0)
      also(Gt(key, Sub(query, lowering_.Constant(S32, static_cast<double>(std::min(window_, kMostKeys))))));
    if (!has_lengths()) return;
    also(Lt(query, ByBatch(lengths_)));
    also(Lt(key, ByBatch(lengths_ + 1)));
  }
  // A number for each batch, an operand.
  XlaOp ByBatch(int64_t operand) {
    const XlaOp lengths = Reshape(lowering_.OperandAs(operand, S32), {shape_.dimensions(0)});
    return BroadcastInDim(lengths, shape_.dimensions(), {0});
  }

  static constexpr int64_t kMostKeys = int64_t{1} << 30;

  CallLowering& lowering_;
  double scale_ = 1;
  int64_t window_ = 0;
  std::string mask_;
  bool has_bias_ = false, has_mask_ = false;
  int64_t bias_ = 0, behind_bias_ = 0, lengths_ = 0;  // operands
  Shape shape_;                                       // of the logits, but s32
  XlaOp visible_;
};

Results AsResults(CallLowering* lowering, std::vector<XlaOp> results) {
  const auto count = static_cast<int64_t>(results.size());
  KASHI_RETURN_IF_ERROR(lowering->ExpectResults(count, count));
  for (int64_t i = 0; i < count; ++i) results[i] = lowering->ToResult(results[i], i);
  return results;
}

// The sum over h of do o, as [b, n, t]. `numbers` are those of the product of do and v.
XlaOp SumOfProducts(CallLowering* lowering, XlaOp a, XlaOp b, const DotDimensionNumbers& numbers) {
  const int64_t summed = numbers.lhs_contracting_dimensions(0);
  const int64_t batch = numbers.lhs_batch_dimensions(0), head = numbers.lhs_batch_dimensions(1);
  const int64_t query = 0 + 1 + 2 + 3 - summed - batch - head;
  const auto place = [summed](int64_t d) { return d < summed ? d : d - 1; };  // once the sum is taken
  return Transpose(lowering->Sum(Mul(a, b), kType, {summed}), {place(batch), place(head), place(query)});
}

// The sum over the dimensions in which the shape has size 1.
absl::StatusOr<XlaOp> SumToShape(CallLowering* lowering, XlaOp x, const Shape& shape) {
  const Shape from = lowering->ShapeOf(x);
  if (from.dimensions_size() != shape.dimensions_size())
    return lowering->Wrong("the gradient of the bias does not have four dimensions");
  std::vector<int64_t> summed;
  for (int d = 0; d < shape.dimensions_size(); ++d) {
    if (shape.dimensions(d) == 1 && from.dimensions(d) != 1) summed.push_back(d);
  }
  return summed.empty() ? x : Reshape(lowering->Sum(x, kType, summed), shape.dimensions());
}

}  // namespace

Results LowerAttention(CallLowering* lowering) {
  KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(3, 10));
  AttentionLowering attention(lowering);
  KASHI_RETURN_IF_ERROR(attention.ReadConfig(/*given=*/3, /*fixed_behind_bias=*/0));
  KASHI_RETURN_IF_ERROR(attention.ExpectFourDimensions({0, 1, 2}));
  KASHI_ASSIGN_OR_RETURN(const auto first, attention.Dimensions("bmm1_dot_dimension_numbers"));
  KASHI_ASSIGN_OR_RETURN(const auto second, attention.Dimensions("bmm2_dot_dimension_numbers"));
  const int64_t query_heads = first.lhs_batch_dimensions(1);
  KASHI_ASSIGN_OR_RETURN(const XlaOp k, attention.WithHeadsOfQuery(1, first.rhs_batch_dimensions(1), query_heads));
  KASHI_ASSIGN_OR_RETURN(const XlaOp v, attention.WithHeadsOfQuery(2, second.rhs_batch_dimensions(1), query_heads));
  const XlaOp products = DotGeneral(lowering->OperandAs(0, kType), k, first);
  if (lowering->only_products()) return std::vector<XlaOp>{products, DotGeneral(products, v, second)};
  KASHI_RETURN_IF_ERROR(lowering->ExpectResults(1, 2));
  const XlaOp logits = attention.Logits(products);
  const XlaOp largest = lowering->Largest(logits, kType, {kKeyDimension});
  const XlaOp weights = attention.Visible(Exp(Sub(logits, attention.ForAllKeys(largest))));
  XlaOp sum = lowering->Sum(weights, kType, {kKeyDimension});
  // A query that sees no key has weights of 0, and gives 0. Others have a weight of 1.
  sum = Select(Eq(sum, lowering->Constant(kType, 0)), lowering->OnesLike(sum), sum);
  const XlaOp o = DotGeneral(Div(weights, attention.ForAllKeys(sum)), v, second);
  if (lowering->result_count() == 1) return AsResults(lowering, {o});
  return AsResults(lowering, {o, Add(largest, Log(sum))});
}

Results LowerAttentionBackward(CallLowering* lowering) {
  KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(6, 18));
  AttentionLowering attention(lowering);
  KASHI_RETURN_IF_ERROR(attention.ReadConfig(/*given=*/5, /*fixed_behind_bias=*/1));
  const int64_t o = attention.behind_bias();
  KASHI_RETURN_IF_ERROR(attention.ExpectFourDimensions({0, 1, 2, 4}));
  KASHI_ASSIGN_OR_RETURN(const auto to_dk, attention.Dimensions("bmm1_grad_gemm1_dot_dimension_numbers"));
  KASHI_ASSIGN_OR_RETURN(const auto to_dq, attention.Dimensions("bmm1_grad_gemm2_dot_dimension_numbers"));
  KASHI_ASSIGN_OR_RETURN(const auto to_dv, attention.Dimensions("bmm2_grad_gemm1_dot_dimension_numbers"));
  KASHI_ASSIGN_OR_RETURN(const auto to_dp, attention.Dimensions("bmm2_grad_gemm2_dot_dimension_numbers"));
  const int64_t query_heads = to_dp.lhs_batch_dimensions(1), heads = to_dp.rhs_batch_dimensions(1);
  KASHI_ASSIGN_OR_RETURN(const XlaOp k, attention.WithHeadsOfQuery(1, heads, query_heads));
  KASHI_ASSIGN_OR_RETURN(const XlaOp v, attention.WithHeadsOfQuery(2, heads, query_heads));
  const XlaOp q = lowering->OperandAs(0, kType), d_o = lowering->OperandAs(4, kType);
  // q and k have the layouts of do and v, so their product has the same numbers.
  const XlaOp products = DotGeneral(q, k, to_dp), dp = DotGeneral(d_o, v, to_dp);
  if (lowering->only_products()) {
    return std::vector<XlaOp>{products, dp, DotGeneral(dp, k, to_dq), DotGeneral(dp, q, to_dk),
                              DotGeneral(products, d_o, to_dv)};
  }
  KASHI_RETURN_IF_ERROR(attention.ExpectFourDimensions({o}));
  KASHI_RETURN_IF_ERROR(lowering->ExpectResults(3, 4));
  const XlaOp logits = attention.Logits(products);
  const XlaOp p = attention.Visible(Exp(Sub(logits, attention.ForAllKeys(lowering->OperandAs(3, kType)))));
  const XlaOp sums = SumOfProducts(lowering, d_o, lowering->OperandAs(o, kType), to_dp);
  const XlaOp ds = Mul(p, Sub(dp, attention.ForAllKeys(sums)));
  const auto scaled = [&](XlaOp x) { return lowering->Scale(x, kType, attention.scale()); };
  std::vector<XlaOp> results = {scaled(DotGeneral(ds, k, to_dq)),
                                attention.SumOverSharedHeads(scaled(DotGeneral(ds, q, to_dk)), 1),
                                attention.SumOverSharedHeads(DotGeneral(p, d_o, to_dv), 2)};
  if (lowering->result_count() == 4) {
    KASHI_ASSIGN_OR_RETURN(const XlaOp dbias, SumToShape(lowering, ds, lowering->result(3)));
    results.push_back(dbias);
  }
  return AsResults(lowering, results);
}

// q, k, v and do are where they are in the calls above.
Results LowerNarrowAttention(CallLowering* lowering) {
  if (!lowering->only_products()) return lowering->Unknown("attention in 8 bits, beside its products");
  return LowerAttention(lowering);
}

Results LowerNarrowAttentionBackward(CallLowering* lowering) {
  if (!lowering->only_products()) return lowering->Unknown("attention in 8 bits, beside its products");
  return LowerAttentionBackward(lowering);
}

}  // namespace kashi::gpu_calls
