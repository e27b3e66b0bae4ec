// The examples in the help texts of kashi.XlaBuilder's methods. The tests run them.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "builder.h"

namespace kashi::python {
namespace {

struct Example {
  const char* method;
  const char* result;
  const char* lines;  // after those that make `b` and the f32[4,6] `x`
};

const Example kExamples[] = {
    {"Build", "<kashi.Module b.5: 1 computation, 4 instructions>", "b.Build(x + 1)"},
    {"BuildConstantSubGraph", "array(3., dtype=float32)",
     "one = b.Constant(np.float32(1)) + 2\n"
     "kashi.evaluate(b.BuildConstantSubGraph(one))"},
    {"IsConstant", "(False, True)", "b.IsConstant(x), b.IsConstant(b.Constant(np.float32(1)))"},
    {"OpToString", "'%p.1 = f32[4,6]{1,0} parameter(0)\\n'", "b.OpToString(x)"},
    {"Parameter", "<kashi.XlaOp s32[]>", "b.Parameter(1, 's32[]')"},
    {"Constant", "<kashi.XlaOp f32[3]>", "b.Constant(np.float32([1, 2, 3]))"},
    {"Iota", "<kashi.XlaOp s32[2,3]>", "b.Iota('s32[2,3]', iota_dimension=1)"},
    {"Tuple", "<kashi.XlaOp (f32[4,6], f32[4,6])>", "b.Tuple([x, x])"},
    {"GetTupleElement", "<kashi.XlaOp pred[4,6]>", "b.GetTupleElement(b.Tuple([x, x > 0]), 1)"},
    {"Select", "<kashi.XlaOp f32[4,6]>", "b.Select(x > 0, x, -x)"},
    {"Clamp", "<kashi.XlaOp f32[4,6]>", "b.Clamp(b.Constant(np.float32(0)), x, b.Constant(np.float32(6)))"},
    {"ConvertElementType", "<kashi.XlaOp bf16[4,6]>", "b.ConvertElementType(x, 'bf16')"},
    {"BitcastConvertType", "<kashi.XlaOp u8[4,6,4]>", "b.BitcastConvertType(x, 'u8')"},
    {"StochasticConvertType", "<kashi.XlaOp s8[4,6]>", "b.StochasticConvertType(x, b.Parameter(1, 'u32[4,6]'), 's8')"},
    {"ReducePrecision", "<kashi.XlaOp f32[4,6]>", "b.ReducePrecision(x, exponent_bits=5, mantissa_bits=10)"},
    {"Compare", "<kashi.XlaOp pred[4,6]>", "b.Compare(x, x, 'GE', total_order=True)"},
    {"Broadcast", "<kashi.XlaOp f32[2,4,6]>", "b.Broadcast(x, (2,))"},
    {"Reshape", "<kashi.XlaOp f32[3,8]>", "b.Reshape(x, (3, 8))"},
    {"Collapse", "<kashi.XlaOp f32[24]>", "b.Collapse(x, (0, 1))"},
    {"Transpose", "<kashi.XlaOp f32[6,4]>", "b.Transpose(x, (1, 0))"},
    {"Rev", "<kashi.XlaOp f32[4,6]>", "b.Rev(x, (1,))"},
    {"BroadcastInDim", "<kashi.XlaOp f32[4,2,6]>", "b.BroadcastInDim(x, (4, 2, 6), (0, 2))"},
    {"Pad", "<kashi.XlaOp f32[5,8]>", "b.Pad(x, b.Constant(np.float32(0)), low=(1, 0), high=(0, 2))"},
    {"Slice", "<kashi.XlaOp f32[2,5]>", "b.Slice(x, (0, 1), (4, 6), (2, 1))"},
    {"DynamicSlice", "<kashi.XlaOp f32[1,2]>",
     "i = b.Constant(np.int32(1))\n"
     "b.DynamicSlice(x, [i, i], (1, 2))"},
    {"DynamicUpdateSlice", "<kashi.XlaOp f32[4,6]>",
     "i = b.Constant(np.int32(1))\n"
     "b.DynamicUpdateSlice(x, b.Parameter(1, 'f32[1,2]'), [i, i])"},
    {"ConcatInDim", "<kashi.XlaOp f32[8,6]>", "b.ConcatInDim([x, x], 0)"},
    {"PadInDim", "<kashi.XlaOp f32[4,7]>", "b.PadInDim(x, b.Constant(np.float32(0)), 1, 1, 0)"},
    {"SliceInDim", "<kashi.XlaOp f32[4,3]>", "b.SliceInDim(x, 0, 6, 2, 1)"},
    {"ReshapeWithInferredDimension", "<kashi.XlaOp f32[<=4,6]>",
     "d = b.Parameter(1, 'f32[<=4,6]')\n"
     "b.ReshapeWithInferredDimension(d, (4, 6), 0)"},
    {"GetDimensionSize", "<kashi.XlaOp s32[]>", "b.GetDimensionSize(x, 1)"},
    {"SetDimensionSize", "<kashi.XlaOp f32[<=4,6]>", "b.SetDimensionSize(x, b.Constant(np.int32(2)), 0)"},
    {"RemoveDynamicDimension", "<kashi.XlaOp f32[4,6]>", "b.RemoveDynamicDimension(b.Parameter(1, 'f32[<=4,6]'), 0)"},
    {"DynamicReshape", "<kashi.XlaOp f32[<=4,6]>",
     "n, six = b.Parameter(1, 's32[]'), b.Constant(np.int32(6))\n"
     "b.DynamicReshape(x, [n, six], (4, 6), (True, False))"},
    {"MhloDynamicReshape", "<kashi.XlaOp f32[<=8,3]>",
     "b.MhloDynamicReshape(x, b.Parameter(1, 's32[2]'), 'f32[<=8,3]')"},
    {"MhloDynamicBroadcastInDim", "<kashi.XlaOp f32[<=5,4,6]>",
     "b.MhloDynamicBroadcastInDim(x, b.Parameter(1, 's32[3]'), (1, 2), 'f32[<=5,4,6]')"},
    {"Dot", "<kashi.XlaOp f32[4,3]>", "b.Dot(x, b.Parameter(1, 'f32[6,3]'))"},
    {"DotGeneral", "<kashi.XlaOp f32[4,4]>", "b.DotGeneral(x, x, (1,), (1,), preferred_element_type='f32')"},
    {"ScaledDot", "<kashi.XlaOp f32[4,4]>",
     "scale = b.Parameter(1, 'f32[4,1]')\n"
     "b.ScaledDot(x, x, scale, scale, (1,), (1,))"},
    {"RaggedDot", "<kashi.XlaOp f32[4,3]>",
     "weights, sizes = b.Parameter(1, 'f32[2,6,3]'), b.Parameter(2, 's32[2]')\n"
     "b.RaggedDot(x, weights, sizes, (1,), (1,), lhs_ragged_dimensions=(0,), rhs_group_dimensions=(0,))"},
    {"Conv", "<kashi.XlaOp f32[1,5,8,8]>",
     "image = b.Parameter(1, 'f32[1,3,8,8]')\n"
     "kernel = b.Parameter(2, 'f32[5,3,3,3]')\n"
     "b.Conv(image, kernel, (1, 1), 'same')"},
    {"ConvWithGeneralPadding", "<kashi.XlaOp f32[1,5,8,6]>",
     "image = b.Parameter(1, 'f32[1,3,8,8]')\n"
     "kernel = b.Parameter(2, 'f32[5,3,3,3]')\n"
     "b.ConvWithGeneralPadding(image, kernel, (1, 1), [(1, 1), (0, 0)])"},
    {"ConvWithGeneralDimensions", "<kashi.XlaOp f32[1,6,6,5]>",
     "image = b.Parameter(1, 'f32[1,8,8,3]')\n"
     "kernel = b.Parameter(2, 'f32[3,3,3,5]')\n"
     "b.ConvWithGeneralDimensions(image, kernel, (1, 1), 'valid', 'b01f_01io->b01f')"},
    {"ConvGeneral", "<kashi.XlaOp f32[1,4,4,5]>",
     "image = b.Parameter(1, 'f32[1,8,8,3]')\n"
     "kernel = b.Parameter(2, 'f32[3,3,3,5]')\n"
     "b.ConvGeneral(image, kernel, (2, 2), [(1, 1), (1, 1)], 'b01f_01io->b01f')"},
    {"ConvGeneralDilated", "<kashi.XlaOp f32[1,15,15,5]>",
     "image = b.Parameter(1, 'f32[1,8,8,3]')\n"
     "kernel = b.Parameter(2, 'f32[3,3,3,5]')\n"
     "b.ConvGeneralDilated(image, kernel, (1, 1), [(1, 1), (1, 1)], (2, 2), None, 'b01f_01io->b01f')"},
    {"DynamicConvForward", "<kashi.XlaOp f32[1,6,6,5]>",
     "image = b.Parameter(1, 'f32[1,8,8,3]')\n"
     "kernel = b.Parameter(2, 'f32[3,3,3,5]')\n"
     "b.DynamicConvForward(image, kernel, (1, 1), [(0, 0), (0, 0)], 'b01f_01io->b01f')"},
    {"DynamicConvKernelGrad", "<kashi.XlaOp f32[1,6,6,5]>",
     "image = b.Parameter(1, 'f32[1,8,8,3]')\n"
     "kernel = b.Parameter(2, 'f32[3,3,3,5]')\n"
     "b.DynamicConvKernelGrad(image, kernel, (1, 1), [(0, 0), (0, 0)], 'b01f_01io->b01f')"},
    {"DynamicConvInputGrad", "<kashi.XlaOp f32[1,6,6,5]>",
     "image = b.Parameter(1, 'f32[1,8,8,3]')\n"
     "kernel = b.Parameter(2, 'f32[3,3,3,5]')\n"
     "b.DynamicConvInputGrad(b.Parameter(3, 's32[4]'), image, kernel, (1, 1), [(0, 0), (0, 0)], 'b01f_01io->b01f')"},
    {"Fft", "<kashi.XlaOp c64[4,4]>", "b.Fft(x, 'rfft', (6,))"},
    {"TriangularSolve", "<kashi.XlaOp f32[4,6]>", "b.TriangularSolve(b.Parameter(1, 'f32[4,4]'), x)"},
    {"Cholesky", "<kashi.XlaOp f32[4,4]>", "b.Cholesky(b.Parameter(1, 'f32[4,4]'))"},
    {"BatchNormTraining", "<kashi.XlaOp (f32[4,6], f32[6], f32[6])>",
     "scale = b.Parameter(1, 'f32[6]')\n"
     "b.BatchNormTraining(x, scale, scale, 1e-5, 1)"},
    {"BatchNormInference", "<kashi.XlaOp f32[4,6]>",
     "scale = b.Parameter(1, 'f32[6]')\n"
     "b.BatchNormInference(x, scale, scale, scale, scale, 1e-5, 1)"},
    {"BatchNormGrad", "<kashi.XlaOp (f32[4,6], f32[6], f32[6])>",
     "scale = b.Parameter(1, 'f32[6]')\n"
     "b.BatchNormGrad(x, scale, scale, scale, x, 1e-5, 1)"},
    {"RngNormal", "<kashi.XlaOp f32[9]>",
     "b.RngNormal(b.Constant(np.float32(0)), b.Constant(np.float32(1)), 'f32[9]')"},
    {"RngUniform", "<kashi.XlaOp f32[9]>",
     "b.RngUniform(b.Constant(np.float32(0)), b.Constant(np.float32(1)), 'f32[9]')"},
    {"RngBitGenerator", "<kashi.XlaOp (u64[2], u32[9])>",
     "b.RngBitGenerator('rng_philox', b.Parameter(1, 'u64[2]'), 'u32[9]')"},
    {"Reduce", "<kashi.XlaOp f32[4]>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "b.Reduce(x, b.Constant(np.float32(0)), add, (1,))"},
    {"ReduceAll", "<kashi.XlaOp f32[]>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "b.ReduceAll(x, b.Constant(np.float32(0)), add)"},
    {"Map", "<kashi.XlaOp f32[4,6]>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "b.Map([x, x], add, (0, 1))"},
    {"Sort", "<kashi.XlaOp f32[4,6]>",
     "less = kashi.XlaBuilder('less')\n"
     "less = less.Build(less.Parameter(0, 'f32[]') < less.Parameter(1, 'f32[]'))\n"
     "b.Sort([x], less, 1)"},
    {"TopK", "<kashi.XlaOp (f32[4,2], s32[4,2])>", "b.TopK(x, 2)"},
    {"ReduceWindow", "<kashi.XlaOp f32[2,3]>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "b.ReduceWindow(x, b.Constant(np.float32(0)), add, (2, 2), (2, 2), 'valid')"},
    {"ReduceWindowWithGeneralPadding", "<kashi.XlaOp f32[4,6]>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "b.ReduceWindowWithGeneralPadding(x, b.Constant(np.float32(0)), add, (2, 2), (1, 1), [(0, 1), (0, 1)])"},
    {"SelectAndScatter", "<kashi.XlaOp f32[4,6]>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "ge = kashi.XlaBuilder('ge')\n"
     "ge = ge.Build(ge.Parameter(0, 'f32[]') >= ge.Parameter(1, 'f32[]'))\n"
     "source = b.Parameter(1, 'f32[2,3]')\n"
     "b.SelectAndScatter(x, ge, (2, 2), (2, 2), 'valid', source, b.Constant(np.float32(0)), add)"},
    {"SelectAndScatterWithGeneralPadding", "<kashi.XlaOp f32[4,6]>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "ge = kashi.XlaBuilder('ge')\n"
     "ge = ge.Build(ge.Parameter(0, 'f32[]') >= ge.Parameter(1, 'f32[]'))\n"
     "source, zero = b.Parameter(1, 'f32[2,3]'), b.Constant(np.float32(0))\n"
     "b.SelectAndScatterWithGeneralPadding(x, ge, (2, 2), (2, 2), [(0, 0), (0, 0)], source, zero, add)"},
    {"Gather", "<kashi.XlaOp f32[3,6]>",
     "rows = b.Parameter(1, 's32[3,1]')\n"
     "b.Gather(x, rows, (1, 6), (1,), (0,), index_vector_dim=1, collapsed_slice_dims=(0,))"},
    {"Scatter", "<kashi.XlaOp f32[4,6]>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "rows, updates = b.Parameter(1, 's32[3,1]'), b.Parameter(2, 'f32[3,6]')\n"
     "b.Scatter(x, rows, updates, add, (1,), (0,), 1, inserted_window_dims=(0,))"},
    {"Call", "<kashi.XlaOp f32[4,6]>",
     "neg = kashi.XlaBuilder('neg')\n"
     "neg = neg.Build(-neg.Parameter(0, 'f32[4,6]'))\n"
     "b.Call(neg, [x])"},
    {"CompositeCall", "<kashi.XlaOp f32[4,6]>",
     "neg = kashi.XlaBuilder('neg')\n"
     "neg = neg.Build(-neg.Parameter(0, 'f32[4,6]'))\n"
     "b.CompositeCall(neg, [x], 'my.negation')"},
    {"While", "<kashi.XlaOp s32[]>",
     "body, small = kashi.XlaBuilder('body'), kashi.XlaBuilder('small')\n"
     "body, small = body.Build(body.Parameter(0, 's32[]') + 3), small.Build(small.Parameter(0, 's32[]') < 10)\n"
     "b.While(small, body, b.Constant(np.int32(0)))"},
    {"Conditional", "<kashi.XlaOp f32[4,6]>",
     "neg = kashi.XlaBuilder('neg')\n"
     "neg = neg.Build(-neg.Parameter(0, 'f32[4,6]'))\n"
     "b.Conditional(b.Constant(np.int32(1)), [neg, neg], [x, x])"},
    {"CustomCall", "<kashi.XlaOp f32[4]>", "b.CustomCall('my_target', [x], 'f32[4]')"},
    {"CustomCallWithComputation", "<kashi.XlaOp f32[4]>",
     "neg = kashi.XlaBuilder('neg')\n"
     "neg = neg.Build(-neg.Parameter(0, 'f32[4,6]'))\n"
     "b.CustomCallWithComputation('my_target', [x], neg, 'f32[4]')"},
    {"CustomCallWithLayout", "<kashi.XlaOp f32[4,6]>",
     "b.CustomCallWithLayout('my_target', [x], 'f32[4,6]{0,1}', ['f32[4,6]{0,1}'])"},
    {"CustomCallWithComputationAndLayouts", "<kashi.XlaOp f32[4,6]>",
     "neg = kashi.XlaBuilder('neg')\n"
     "neg = neg.Build(-neg.Parameter(0, 'f32[4,6]'))\n"
     "b.CustomCallWithComputationAndLayouts('my_target', [x], neg, 'f32[4,6]{0,1}', ['f32[4,6]{0,1}'])"},
    {"CustomCallWithConvDnums", "<kashi.XlaOp f32[4,6]>",
     "b.CustomCallWithConvDnums('my_target', [x], 'f32[4,6]', [], 'size=3', 'b0f_0io->b0f')"},
    {"CrossReplicaSum", "<kashi.XlaOp f32[4,6]>", "b.CrossReplicaSum(x, [(0, 1)])"},
    {"AllReduce", "<kashi.XlaOp f32[4,6]>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "b.AllReduce(x, add)"},
    {"AllReduceTuple", "<kashi.XlaOp (f32[4,6], f32[4,6])>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "b.AllReduceTuple([x, x], add)"},
    {"AllGather", "<kashi.XlaOp f32[8,6]>", "b.AllGather(x, 0, 2)"},
    {"AllGatherTuple", "<kashi.XlaOp (f32[8,6], f32[8,6])>", "b.AllGatherTuple([x, x], 0, 2)"},
    {"ReduceScatter", "<kashi.XlaOp f32[2,6]>",
     "add = kashi.XlaBuilder('add')\n"
     "add = add.Build(add.Parameter(0, 'f32[]') + add.Parameter(1, 'f32[]'))\n"
     "b.ReduceScatter(x, add, 0, 2)"},
    {"AllToAll", "<kashi.XlaOp f32[2,12]>", "b.AllToAll(x, 0, 1, 2)"},
    {"AllToAllTuple", "<kashi.XlaOp (f32[4,6], f32[4,6])>", "b.AllToAllTuple([x, x])"},
    {"RaggedAllToAll", "<kashi.XlaOp f32[4,6]>",
     "n = b.Parameter(1, 's32[2]')\n"
     "b.RaggedAllToAll(x, n, n, x, n, n, [(0, 1)])"},
    {"CollectiveBroadcast", "<kashi.XlaOp f32[4,6]>", "b.CollectiveBroadcast(x, [(0, 1)])"},
    {"CollectivePermute", "<kashi.XlaOp f32[4,6]>", "b.CollectivePermute(x, [(0, 1), (1, 0)])"},
    {"MultiCollectivePermute", "<kashi.XlaOp (f32[4,6], f32[4,6])>",
     "b.MultiCollectivePermute([x, x], [(0, 1), (1, 0)])"},
    {"ReplicaId", "<kashi.XlaOp u32[]>", "b.ReplicaId()"},
    {"CreateToken", "<kashi.XlaOp token[]>", "b.CreateToken()"},
    {"AfterAll", "<kashi.XlaOp token[]>", "b.AfterAll([b.CreateToken(), b.CreateToken()])"},
    {"Infeed", "<kashi.XlaOp f32[4]>", "b.Infeed('f32[4]')"},
    {"InfeedWithToken", "<kashi.XlaOp (f32[4], token[])>", "b.InfeedWithToken(b.CreateToken(), 'f32[4]')"},
    {"Outfeed", "True",
     "b.Outfeed(x, 'f32[4,6]')\n"
     "'outfeed(' in str(b.Build())"},
    {"OutfeedWithToken", "<kashi.XlaOp token[]>", "b.OutfeedWithToken(x, b.CreateToken(), 'f32[4,6]')"},
    {"Send", "'send-done'",
     "b.Send(x, channel_id=1)\n"
     "b.Build().entry.root.opcode"},
    {"SendWithToken", "<kashi.XlaOp token[]>", "b.SendWithToken(x, b.CreateToken(), channel_id=1)"},
    {"Recv", "<kashi.XlaOp f32[4]>", "b.Recv('f32[4]', channel_id=1)"},
    {"RecvWithToken", "<kashi.XlaOp (f32[4], token[])>", "b.RecvWithToken(b.CreateToken(), 'f32[4]', channel_id=1)"},
    {"SendToHost", "<kashi.XlaOp token[]>", "b.SendToHost(x, b.CreateToken(), 'f32[4,6]', channel_id=1)"},
    {"RecvFromHost", "<kashi.XlaOp (f32[4], token[])>", "b.RecvFromHost(b.CreateToken(), 'f32[4]', channel_id=1)"},
    {"ConvertSpmdFullToShardShape", "<kashi.XlaOp f32[2,6]>", "b.ConvertSpmdFullToShardShape(x, '{devices=[2,1]0,1}')"},
    {"ConvertSpmdShardToFullShape", "<kashi.XlaOp f32[8,6]>",
     "b.ConvertSpmdShardToFullShape(x, 'f32[8,6]', '{devices=[2,1]0,1}')"},
    {"SetOpMetadata", "{'op_name': 'layer/neg'}",
     "b.SetOpMetadata(op_name='layer/neg')\n"
     "b.Build(-x).entry.root.metadata"},
    {"ClearOpMetadata", "{}",
     "b.SetOpMetadata(op_name='layer/neg')\n"
     "b.ClearOpMetadata()\n"
     "b.Build(-x).entry.root.metadata"},
    {"SetSharding", "'{replicated}'",
     "b.SetSharding('{replicated}')\n"
     "b.Build(-x).entry.root.sharding"},
    {"ClearSharding", "True",
     "b.SetSharding('{replicated}')\n"
     "b.ClearSharding()\n"
     "b.Build(-x).entry.root.sharding is None"},
    {"SetFrontendAttributes", "{'key': 'value'}",
     "b.SetFrontendAttributes({'key': 'value'})\n"
     "b.Build(-x).entry.root.frontend_attributes"},
    {"ClearFrontendAttributes", "{}",
     "b.SetFrontendAttributes({'key': 'value'})\n"
     "b.ClearFrontendAttributes()\n"
     "b.Build(-x).entry.root.frontend_attributes"},
    {"SetUpAlias", "True",
     "b.SetUpAlias((), 0)\n"
     "'input_output_alias={ {}: (0, {}, may-alias) }' in str(b.Build(-x))"},
    {"AddBufferDonor", "True",
     "b.AddBufferDonor(0)\n"
     "'buffer_donor={ (0, {}) }' in str(b.Build(-x))"},
};

}  // namespace

std::string WithExample(absl::string_view method, absl::string_view doc) {
  std::string text(doc);
  for (const Example& example : kExamples) {
    if (example.method != method) continue;
    absl::StrAppend(&text, "\n\n", absl::StrContains(example.lines, "np.") ? ">>> import numpy as np\n" : "",
                    ">>> b = kashi.XlaBuilder('b')\n>>> x = b.Parameter(0, 'f32[4,6]')\n");
    for (const absl::string_view line : absl::StrSplit(example.lines, '\n')) absl::StrAppend(&text, ">>> ", line, "\n");
    absl::StrAppend(&text, example.result);
  }
  return text;
}

}  // namespace kashi::python
