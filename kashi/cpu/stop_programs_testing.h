// Programs for stop_test.cc: every operation that is not elementwise, on arrays so large that it checks several times
// whether the run is to stop, and every kind of code of the compiled engine.
#ifndef KASHI_CPU_STOP_PROGRAMS_TESTING_H_
#define KASHI_CPU_STOP_PROGRAMS_TESTING_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace kashi::cpu {

// The kind of code that the compiled engine must make of a program.
enum class Code { kAny, kKernel, kNativeLoop, kThunks };

struct StopProgram {
  std::string name;
  std::string text;
  Code code = Code::kAny;
};

// A program, given by the body of its entry.
struct StopRow {
  const char* name;
  const char* body;
  Code code = Code::kAny;
};

inline constexpr char kScalarComputations[] = R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
mix { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] multiply(a, b) ROOT d = f32[] add(c, b) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
odd { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] sine(a) d = f32[] sine(b)
  e = f32[] multiply(c, d) f = f32[] multiply(d, d) ROOT g = pred[] compare(e, f), direction=LT }
pick { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE }
twice { a = f32[] parameter(0) b = f32[] add(a, a) ROOT c = f32[] sine(b) }
sum_and_carry { a = f32[] parameter(0) c = f32[] parameter(1) s = f32[] add(a, c)
  ROOT r = (f32[], f32[]) tuple(s, s) }
)";

inline constexpr StopRow kMoves[] = {
    {"bitcast", "p = f32[300,700]{1,0} parameter(0) ROOT r = f32[700,300]{0,1} bitcast(p)"},
    {"bitcast of tiles", "p = f32[300,700]{1,0:T(8,128)} parameter(0) ROOT r = f32[300,700]{0,1} bitcast(p)"},
    {"bitcast-convert", "p = f32[1000,40] parameter(0) ROOT r = u8[1000,40,4] bitcast-convert(p)"},
    {"broadcast", "p = f32[1200] parameter(0) ROOT r = f32[1200,1100] broadcast(p), dimensions={0}"},
    {"concatenate",
     "p = f32[700,900] parameter(0) q = f32[700,500] parameter(1) "
     "ROOT r = f32[700,1400] concatenate(p, q), dimensions={1}"},
    {"copy", "p = f32[500,900]{1,0} parameter(0) ROOT r = f32[500,900]{0,1} copy(p)"},
    {"copy-start",
     "p = f32[500,900] parameter(0) s = (f32[500,900], f32[500,900], u32[]) copy-start(p) "
     "ROOT r = f32[500,900] copy-done(s)"},
    {"dynamic-slice",
     "p = f32[900,900] parameter(0) i = s32[] constant(5) "
     "ROOT r = f32[800,800] dynamic-slice(p, i, i), dynamic_slice_sizes={800,800}"},
    {"dynamic-update-slice",
     "p = f32[900,900] parameter(0) u = f32[800,800] parameter(1) "
     "i = s32[] constant(5) ROOT r = f32[900,900] dynamic-update-slice(p, u, i, i)"},
    {"gather of rows",
     "p = f32[500,300] parameter(0) i = s32[2000,1] parameter(1) ROOT r = f32[2000,300] gather(p, i), "
     "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,300}"},
    {"gather of large windows",
     "p = f32[900,900] parameter(0) i = s32[3,2] parameter(1) ROOT r = f32[3,800,800] gather(p, i), "
     "offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, "
     "slice_sizes={800,800}"},
    {"iota", "ROOT r = s32[900,1200] iota(), iota_dimension=0"},
    {"pad",
     "p = f32[700,700] parameter(0) z = f32[] constant(1) "
     "ROOT r = f32[900,1600] pad(p, z), padding=100_100x100_101_1"},
    {"pad without holes",
     "p = f32[900,900] parameter(0) z = f32[] constant(1) "
     "ROOT r = f32[1000,1000] pad(p, z), padding=50_50x20_80"},
    {"reshape", "p = f32[300,700] parameter(0) ROOT r = f32[700,300] reshape(p)"},
    {"reverse", "p = f32[900,900] parameter(0) ROOT r = f32[900,900] reverse(p), dimensions={0,1}"},
    {"slice", "p = f32[900,900] parameter(0) ROOT r = f32[800,400] slice(p), slice={[0:800],[1:801:2]}"},
    {"transpose", "p = f32[900,1700] parameter(0) ROOT r = f32[1700,900] transpose(p), dimensions={1,0}"},
    {"dynamic sizes",
     "p = f32[900,900] parameter(0) n = s32[] constant(700) "
     "d = f32[<=900,900] set-dimension-size(p, n), dimensions={0} "
     "s = s32[] get-dimension-size(d), dimensions={0} m = s32[] constant(900) "
     "t = f32[<=900,900] dynamic-reshape(d, s, m) ROOT r = (f32[<=900,900], s32[]) tuple(t, s)"},
};

inline constexpr StopRow kComputations[] = {
    {"batch-norm-training",
     "p = f32[40,30,20] parameter(0) s = f32[20] parameter(1) o = f32[20] parameter(2) ROOT r = "
     "(f32[40,30,20], f32[20], f32[20]) batch-norm-training(p, s, o), epsilon=0.5, feature_index=2"},
    {"batch-norm-inference",
     "p = f32[40,30,20] parameter(0) s = f32[30] parameter(1) ROOT r = f32[40,30,20] "
     "batch-norm-inference(p, s, s, s, s), epsilon=9, feature_index=1"},
    {"batch-norm-grad",
     "p = f32[40,30,20] parameter(0) s = f32[20] parameter(1) g = f32[40,30,20] parameter(2) ROOT r = "
     "(f32[40,30,20], f32[20], f32[20]) batch-norm-grad(p, s, s, s, g), epsilon=9, feature_index=2"},
    {"cholesky",
     "i = s32[200,200] iota(), iota_dimension=0 j = s32[200,200] iota(), iota_dimension=1 "
     "q = pred[200,200] compare(i, j), direction=EQ a = f32[] constant(9) b = f32[] constant(0.01) "
     "x = f32[200,200] broadcast(a), dimensions={} y = f32[200,200] broadcast(b), dimensions={} "
     "m = f32[200,200] select(q, x, y) ROOT r = f32[200,200] cholesky(m), lower=true"},
    {"triangular-solve",
     "p = f32[5,150,150] parameter(0) q = f32[5,150,300] parameter(1) ROOT r = "
     "f32[5,150,300] triangular-solve(p, q), left_side=true, lower=true, "
     "unit_diagonal=true, transpose_a=NO_TRANSPOSE"},
    {"clamp, compare, convert, reduce-precision",
     "p = f32[100000] parameter(0) a = f32[] constant(-1) b = f32[] constant(1) "
     "c = f32[100000] clamp(a, p, b) d = bf16[100000] convert(c) f = f32[100000] reduce-precision(p), "
     "exponent_bits=5, mantissa_bits=3 g = pred[100000] compare(f, c), direction=LT "
     "u = u16[100000] parameter(1) w = s16[100000] parameter(2) h = u32[100000] parameter(3) "
     "k = s32[100000] stochastic-convert(p, h) "
     "ROOT r = (bf16[100000], pred[100000], s32[100000]) tuple(d, g, k)"},
    {"convolution",
     "p = f32[4,30,30,8] parameter(0) q = f32[3,3,8,16] parameter(1) ROOT r = f32[4,28,28,16] "
     "convolution(p, q), window={size=3x3}, dim_labels=b01f_01io->b01f"},
    {"convolution of filters",
     "p = f32[8,40,40,8] parameter(0) q = f32[8,38,38,16] parameter(1) ROOT r = f32[8,3,3,16] "
     "convolution(p, q), window={size=38x38}, dim_labels=f01b_i01o->b01f"},
    {"dot",
     "p = f32[300,400] parameter(0) q = f32[400,500] parameter(1) ROOT r = f32[300,500] dot(p, q), "
     "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
    {"dot of a row",
     "p = f32[900] parameter(0) q = f32[900,1500] parameter(1) ROOT r = f32[1500] dot(p, q), "
     "lhs_contracting_dims={0}, rhs_contracting_dims={0}"},
    {"dots of bf16, integers and complex numbers",
     "a = bf16[200,300] parameter(0) b = bf16[300,200] parameter(1) c = s8[200,300] parameter(2) "
     "d = s8[300,200] parameter(3) f = c64[100,300] parameter(4) g = c64[300,90] parameter(5) "
     "x = bf16[200,200] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
     "y = s32[200,200] dot(c, d), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
     "z = c64[100,90] dot(f, g), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
     "ROOT r = (bf16[200,200], s32[200,200], c64[100,90]) tuple(x, y, z)"},
    {"ragged-dot",
     "a = f32[400,100] parameter(0) b = f32[3,100,50] parameter(1) "
     "g = s32[3] constant({200, 0, 100}) ROOT d = f32[400,50] ragged-dot(a, b, g), "
     "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"},
    {"scaled-dot",
     "a = f32[100,400] parameter(0) b = f32[400,100] parameter(1) s = f32[100,2] parameter(2) "
     "t = f32[2,100] parameter(3) ROOT d = f32[100,100] scaled-dot(a, b, s, t), "
     "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
    {"fft", "p = c64[20,1000] parameter(0) ROOT r = c64[20,1000] fft(p), fft_type=FFT, fft_length={20,1000}"},
    {"fft of one long line",
     "p = f32[262144] parameter(0) ROOT r = c64[131073] fft(p), fft_type=RFFT, fft_length={262144}"},
    {"fft of a long prime",
     "p = c64[3,10007] parameter(0) ROOT r = c64[3,10007] fft(p), fft_type=IFFT, fft_length={10007}"},
    {"map", "p = f32[100000] parameter(0) ROOT r = f32[100000] map(p), dimensions={0}, to_apply=twice"},
    {"reduce-window",
     "p = f32[300,300] parameter(0) z = f32[] constant(0) ROOT r = f32[300,300] "
     "reduce-window(p, z), window={size=9x9 pad=4_4x4_4}, to_apply=add"},
    {"reduce-window by any function",
     "p = f32[200,100] parameter(0) z = f32[] constant(0) ROOT r = f32[196,96] "
     "reduce-window(p, z), window={size=5x5}, to_apply=mix"},
    {"rng",
     "a = f32[] constant(0) b = f32[] constant(1) ROOT r = f32[200000] rng(a, b), "
     "distribution=rng_uniform"},
    {"rng-bit-generator",
     "s = u64[2] rng-get-and-update-state(), delta=1 a = (u64[2], u32[100001]) rng-bit-generator(s), "
     "algorithm=rng_three_fry b = (u64[2], u64[50001]) rng-bit-generator(s), algorithm=rng_philox "
     "x = u32[100001] get-tuple-element(a), index=1 y = u64[50001] get-tuple-element(b), index=1 "
     "ROOT r = (u32[100001], u64[50001]) tuple(x, y)"},
    {"scan",
     "p = f32[40000] parameter(0) c = f32[] constant(0) ROOT r = (f32[40000], f32[]) scan(p, c), "
     "dimensions={0}, num_carries=1, to_apply=sum_and_carry"},
    {"scatter by any function",
     "p = f32[3000,20] parameter(0) i = s32[9000,1] parameter(1) u = f32[9000,20] parameter(2) "
     "ROOT r = f32[3000,20] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=mix"},
    {"scatter by an operation",
     "p = f32[3000,200] parameter(0) i = s32[9000,1] parameter(1) u = f32[9000,200] parameter(2) "
     "ROOT r = f32[3000,200] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"},
    {"select-and-scatter",
     "p = f32[400,100] parameter(0) s = f32[200,50] parameter(1) z = f32[] constant(0) "
     "ROOT r = f32[400,100] select-and-scatter(p, s, z), window={size=2x2 stride=2x2}, "
     "select=pick, scatter=add"},
    {"sort by keys", "p = f32[40000] parameter(0) ROOT r = f32[40000] sort(p), dimensions={0}, to_apply=less"},
    {"sort by a comparator", "p = f32[3,4000] parameter(0) ROOT r = f32[3,4000] sort(p), dimensions={1}, to_apply=odd"},
    {"sort of columns", "p = f32[900,40] parameter(0) ROOT r = f32[900,40] sort(p), dimensions={0}, to_apply=less"},
    {"topk", "p = f32[40,9000] parameter(0) ROOT r = (f32[40,30], s32[40,30]) topk(p), k=30, largest=true"},
    {"custom-call",
     "p = f32[3,60,60] parameter(0) ROOT r = (f32[3,60,60], f32[3,60]) custom-call(p), "
     "custom_call_target=\"Qr\""},
};

// Programs that the compiled engine makes kernels of.
inline constexpr StopRow kKernels[] = {
    {"kernel of elements",
     "p = f32[300000] parameter(0) s = f32[300000] sine(p) "
     "ROOT r = f32[300000] add(s, p)",
     Code::kKernel},
    {"kernel of rows and columns",
     "p = f32[1000,300] parameter(0) q = f32[300] parameter(1) b = f32[1000,300] broadcast(q), dimensions={1} "
     "a = f32[1000,300] add(p, b) ROOT r = f32[1000,300] tanh(a)",
     Code::kKernel},
    {"kernel of segments",
     "p = f32[400,400] parameter(0) a = f32[400,399] slice(p), slice={[0:400],[1:400]} "
     "b = f32[400,1] slice(p), slice={[0:400],[0:1]} "
     "c = f32[400,400] concatenate(a, b), dimensions={1} "
     "ROOT r = f32[400,400] multiply(c, p)",
     Code::kKernel},
    {"sum of all",
     "p = f32[1000000] parameter(0) z = f32[] constant(0) s = f32[1000000] sine(p) "
     "ROOT r = f32[] reduce(s, z), dimensions={0}, to_apply=add",
     Code::kKernel},
    {"sums of rows",
     "p = f32[900,1000] parameter(0) z = f32[] constant(0) "
     "ROOT r = f32[900] reduce(p, z), dimensions={1}, to_apply=add",
     Code::kKernel},
    {"sums of columns",
     "p = f32[900,1000] parameter(0) z = f32[] constant(0) "
     "ROOT r = f32[1000] reduce(p, z), dimensions={0}, to_apply=add",
     Code::kKernel},
    {"reduce by any function",
     "p = f32[90,1000] parameter(0) z = f32[] constant(0) "
     "ROOT r = f32[90] reduce(p, z), dimensions={1}, to_apply=mix",
     Code::kKernel},
    {"softmax",
     "p = f32[900,300] parameter(0) m = f32[] constant(-inf) z = f32[] constant(0) "
     "a = f32[900] reduce(p, m), dimensions={1}, to_apply=max "
     "b = f32[900,300] broadcast(a), dimensions={0} c = f32[900,300] subtract(p, b) "
     "d = f32[900,300] exponential(c) f = f32[900] reduce(d, z), dimensions={1}, to_apply=add "
     "g = f32[900,300] broadcast(f), dimensions={0} ROOT r = f32[900,300] divide(d, g)",
     Code::kKernel},
    {"scatter of elements",
     "p = f32[1000] parameter(0) i = s32[900000,1] parameter(1) "
     "u = f32[900000] parameter(2) ROOT r = f32[1000] scatter(p, i, u), "
     "update_window_dims={}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
     Code::kKernel},
    {"gather of elements",
     "p = f32[1000] parameter(0) i = s32[300000,1] parameter(1) g = f32[300000] gather(p, i), offset_dims={}, "
     "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} "
     "ROOT r = f32[300000] sine(g)",
     Code::kKernel},
    {"kernel before an operation of the evaluator",
     "p = f32[300000] parameter(0) s = f32[300000] sine(p) a = f32[300000] add(s, p) "
     "ROOT r = f32[300000] sort(a), dimensions={0}, to_apply=less",
     Code::kKernel},
};

// Programs with computations of their own.
inline std::vector<StopProgram> WholeStopPrograms() {
  return {
      {"native loop", R"(
small { t = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(60000)
  ROOT c = pred[] compare(i, n), direction=LT }
step { t = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1)
  j = s32[] add(i, one) x = f32[4] get-tuple-element(t), index=1 s = f32[4] sine(x) y = f32[4] add(s, x)
  ROOT r = (s32[], f32[4]) tuple(j, y) }
ENTRY e { z = s32[] constant(0) p = f32[4] parameter(0) t = (s32[], f32[4]) tuple(z, p)
  ROOT w = (s32[], f32[4]) while(t), condition=small, body=step })",
       Code::kNativeLoop},
      {"loop of thunks", R"(
small { t = (s32[], f32[1,300], f32[300,300]) parameter(0) i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(20) ROOT c = pred[] compare(i, n), direction=LT }
step { t = (s32[], f32[1,300], f32[300,300]) parameter(0) i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1) j = s32[] add(i, one) x = f32[1,300] get-tuple-element(t), index=1
  w = f32[300,300] get-tuple-element(t), index=2 v = f32[300] reshape(x) b = f32[8,300] broadcast(v), dimensions={1}
  d = f32[8,300] dot(b, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} s = f32[8,300] sine(d)
  y = f32[1,300] dynamic-slice(s, j, i), dynamic_slice_sizes={1,300}
  u = f32[300,300] dynamic-update-slice(w, y, i, i)
  ROOT r = (s32[], f32[1,300], f32[300,300]) tuple(j, y, u) }
ENTRY e { z = s32[] constant(0) p = f32[1,300] parameter(0) w = f32[300,300] parameter(1)
  t = (s32[], f32[1,300], f32[300,300]) tuple(z, p, w)
  ROOT l = (s32[], f32[1,300], f32[300,300]) while(t), condition=small, body=step })",
       Code::kThunks},
      {"thunks that branch, call and end in a kernel", absl::StrCat(kScalarComputations, R"(
left { p = f32[200000] parameter(0) ROOT s = f32[200000] sine(p) }
right { p = f32[200000] parameter(0) ROOT s = f32[200000] cosine(p) }
called { p = f32[200000] parameter(0) ROOT s = f32[200000] tanh(p) }
fused { p = f32[200000] parameter(0) ROOT s = f32[200000] negate(p) }
ENTRY e { p = f32[200000] parameter(0) q = pred[] parameter(1) c = f32[200000] call(p), to_apply=called
  d = f32[200000] conditional(q, c, p), true_computation=left, false_computation=right
  o = f32[200000] opt-barrier(d) f = f32[200000] fusion(o), kind=kLoop, calls=fused
  k = token[] after-all() g = f32[200000] add-dependency(f, k)
  h = f32[200000] domain(g), domain={kind="sharding", entry={maximal device=0}, exit={maximal device=0}}
  ROOT r = f32[200000] multiply(h, p) })")},
      {"asynchronous work", R"(
work { p = f32[300000] parameter(0) ROOT s = f32[300000] sine(p) }
ENTRY e { p = f32[300000] parameter(0) s = ((f32[300000]), f32[300000], u32[]) async-start(p), calls=work
  u = ((f32[300000]), f32[300000], u32[]) async-update(s), calls=work
  ROOT d = f32[300000] async-done(u), calls=work })"},
  };
}

inline const std::vector<StopProgram>& StopPrograms() {
  static const auto& programs = *new std::vector<StopProgram>([] {
    std::vector<StopProgram> all = WholeStopPrograms();
    for (const absl::Span<const StopRow> rows :
         {absl::MakeConstSpan(kMoves), absl::MakeConstSpan(kComputations), absl::MakeConstSpan(kKernels)}) {
      for (const StopRow& row : rows) {
        all.push_back({row.name, absl::StrCat(kScalarComputations, "ENTRY e {\n", row.body, "\n}\n"), row.code});
      }
    }
    return all;
  }());
  return programs;
}

// Programs for two devices; the parameter is p.
inline constexpr StopRow kCollectives[] = {
    {"all-reduce",
     "s = f32[60000] sine(p) a = f32[60000] all-reduce(s), replica_groups={}, "
     "to_apply=add ROOT r = f32[60000] multiply(a, p)"},
    {"all-reduce by any function", "ROOT r = f32[60000] all-reduce(p), replica_groups={}, to_apply=mix"},
    {"all-reduce-start",
     "s = f32[60000] all-reduce-start(p), replica_groups={}, to_apply=add "
     "t = f32[60000] sine(p) d = f32[60000] all-reduce-done(s) "
     "ROOT r = f32[60000] add(d, t)"},
    {"all-gather", "ROOT r = f32[120000] all-gather(p), replica_groups={{0,1}}, dimensions={0}"},
    {"all-gather-start",
     "s = (f32[60000], f32[120000]) all-gather-start(p), replica_groups={{0,1}}, dimensions={0} "
     "ROOT d = f32[120000] all-gather-done(s)"},
    {"all-to-all", "ROOT r = f32[60000] all-to-all(p), replica_groups={{0,1}}, dimensions={0}"},
    {"reduce-scatter",
     "ROOT r = f32[30000] reduce-scatter(p), replica_groups={{0,1}}, dimensions={0}, "
     "to_apply=add"},
    {"collective-reduce", "ROOT r = f32[60000] collective-reduce(p), replica_groups={{1,0}}, to_apply=add"},
    {"collective-broadcast", "ROOT r = f32[60000] collective-broadcast(p), replica_groups={{1,0}}"},
    {"collective-permute", "ROOT r = f32[60000] collective-permute(p), source_target_pairs={{0,1},{1,0}}"},
    {"collective-permute-start",
     "s = (f32[60000], f32[60000], u32[], u32[]) collective-permute-start(p), "
     "source_target_pairs={{0,1},{1,0}} ROOT d = f32[60000] collective-permute-done(s)"},
    {"ragged-all-to-all",
     "z = f32[] constant(0) o = f32[60000] broadcast(z), dimensions={} c = s32[2] constant({0, 30000}) "
     "n = s32[2] constant({30000, 30000}) i = u32[] replica-id() j = s32[] convert(i) "
     "k = s32[] constant(30000) l = s32[] multiply(j, k) m = s32[2] broadcast(l), dimensions={} "
     "ROOT r = f32[60000] ragged-all-to-all(p, o, c, n, m, n), replica_groups={{0,1}}"},
    {"numbers of devices",
     "i = u32[] replica-id() j = u32[] partition-id() k = u32[] add(i, j) "
     "f = f32[] convert(k) b = f32[60000] broadcast(f), dimensions={} "
     "ROOT r = f32[60000] add(b, p)"},
};

inline const std::vector<StopProgram>& StopProgramsOfDevices() {
  static const auto& programs = *new std::vector<StopProgram>([] {
    std::vector<StopProgram> all;
    for (const StopRow& row : kCollectives) {
      all.push_back({row.name, absl::StrCat("HloModule m, replica_count=2\n", kScalarComputations,
                                            "ENTRY e {\np = f32[60000] parameter(0)\n", row.body, "\n}\n")});
    }
    return all;
  }());
  return programs;
}

}  // namespace kashi::cpu

#endif  // KASHI_CPU_STOP_PROGRAMS_TESTING_H_
