"""kashi.XlaBuilder: the methods are XLA's functions; what they make is run."""
import pathlib
import re

import numpy as np
import pytest

import kashi


def scalar_computation(method, name="f"):
    b = kashi.XlaBuilder(name)
    getattr(b, method)(b.Parameter(0, "f32[]", "a"), b.Parameter(1, "f32[]", "b"))
    return b.Build()


def run(builder, *arguments, root=None):
    module = builder.Build(root)
    assert module.verify() == []
    return kashi.evaluate(module, *arguments)


def test_operators():
    b = kashi.XlaBuilder("operators")
    x = b.Parameter(0, "f32[3]", "x")
    assert x.shape == kashi.Shape("f32[3]{0}") and "f32[3]" in repr(x)
    values = [1 + x, x - 1, 2 * x, x / 2, x % 2, x ** 2, -x, abs(x), x @ x, b.ConvertElementType(x > 1, "s32")]
    got = run(b, np.float32([1, -2, 3]), root=b.Tuple(values))
    x = np.float32([1, -2, 3])
    want = [1 + x, x - 1, 2 * x, x / 2, np.fmod(x, 2), x ** 2, -x, abs(x), x @ x, np.int32(x > 1)]
    for g, w in zip(got, want):
        np.testing.assert_array_equal(g, w)


def test_every_elementwise_operation():
    methods = [n for n in dir(kashi.XlaBuilder) if n[0].isupper()]
    tried = 0
    for name in methods:
        b = kashi.XlaBuilder("one")
        method = getattr(b, name)
        kinds = method.__doc__.split("\n")[0]
        for type_name in ("f32", "s32", "pred", "c64"):
            try:
                b = kashi.XlaBuilder("one")
                x = b.Parameter(0, f"{type_name}[2]")
                if re.search(r"\(self, operand: object(, result_accuracy: [^,]*)?\)", kinds):
                    getattr(b, name)(x)
                elif "lhs: object, rhs: object, broadcast_dimensions" in kinds:
                    getattr(b, name)(x, x)
                else:
                    break
                run(b, np.ones(2, kashi.dtype(type_name)))
            except (ValueError, NotImplementedError):
                continue  # not of this type
            tried += 1
            break
    assert tried >= 45


def test_every_function_of_the_builder_is_a_method():
    headers = pathlib.Path(__file__).parents[2] / "kashi/hlo/builder"
    declared = re.findall(r"^(?:XlaOp|void|absl::StatusOr<XlaOp>) (\w+)\(", (headers / "xla_builder.h").read_text(), re.M)
    table = (headers / "xla_builder_ops.def").read_text()
    declared += re.findall(r"^KASHI_(?:UNARY|UNARY_ACCURACY|BINARY|COMPARISON)\((\w+), k", table, re.M)
    declared += [f"{name}TotalOrder" for name in re.findall(r"^KASHI_COMPARISON\((\w+), k", table, re.M)]
    functions = set(declared) - {"function"}  # the parameter of the macros
    assert len(functions) > 140
    constants = {name for name in functions if name.startswith("Constant")}  # Constant(array) is all of them
    missing = [name for name in sorted(functions - constants) if not hasattr(kashi.XlaBuilder, name)]
    assert missing == []
    assert all(getattr(kashi.XlaBuilder, name).__doc__ for name in functions - constants)


def evaluate(make, *arguments):
    """What `make(b, *parameters)` gives for these arguments."""
    b = kashi.XlaBuilder("f")
    parameters = [b.Parameter(i, kashi.Shape.of(np.asarray(x)), f"p{i}") for i, x in enumerate(arguments)]
    return run(b, *arguments, root=make(b, *parameters))


X = np.arange(6, dtype=np.float32).reshape(2, 3) + 1


def test_elementwise_options():
    got = evaluate(lambda b, x: b.Exp(x, result_accuracy={"atol": 0, "rtol": 1e-3, "ulps": 0}), X)
    np.testing.assert_allclose(got, np.exp(X), rtol=1e-5)
    np.testing.assert_allclose(evaluate(lambda b, x: b.Tanh(x, "highest"), X), np.tanh(X), rtol=1e-6)
    nans = np.float32([np.nan, 1])
    assert evaluate(lambda b, x: b.EqTotalOrder(x, x), nans).tolist() == [True, True]
    assert evaluate(lambda b, x: b.Compare(x, x, "eq"), nans).tolist() == [False, True]
    assert evaluate(lambda b, x: b.Compare(x, x, "le", total_order=True), nans).tolist() == [True, True]
    assert evaluate(lambda b, x: b.ReducePrecision(x, 5, 2), np.float32([1.15, 100])).tolist() == [1.25, 96]
    got = evaluate(lambda b, x: b.StochasticConvertType(x, b.Constant(np.zeros(2, np.uint32)), "s8"), np.float32([2, -3]))
    assert got.tolist() == [2, -3]
    for bad in ({"much": 1}, "exactly", 3):
        with pytest.raises((ValueError, TypeError)):
            evaluate(lambda b, x: b.Exp(x, bad), X)


def test_more_movement():
    np.testing.assert_array_equal(evaluate(lambda b, x: b.PadInDim(x, b.Constant(np.float32(0)), 1, 1, 0), X),
                                  np.pad(X, ((0, 0), (1, 0))))
    np.testing.assert_array_equal(evaluate(lambda b, x: b.SliceInDim(x, 0, 3, 2, 1), X), X[:, ::2])
    assert evaluate(lambda b, x: b.GetDimensionSize(x, 1), X) == 3
    got = evaluate(lambda b, x: b.RemoveDynamicDimension(b.SetDimensionSize(x, b.Constant(np.int32(2)), 1), 1), X)
    np.testing.assert_array_equal(got[:, :2], X[:, :2])
    got = evaluate(lambda b, x, n: b.DynamicReshape(x, [n, b.Constant(np.int32(3))], (2, 3), (1, 0)), X, np.int32(2))
    np.testing.assert_array_equal(got, X)
    assert "mhlo.dynamic_reshape" in str(
        make_module(lambda b, x, n: b.MhloDynamicReshape(x, n, "f32[<=2,3]"), "f32[6]", "s32[2]"))


def make_module(make, *shapes):
    b = kashi.XlaBuilder("f")
    return b.Build(make(b, *[b.Parameter(i, shape) for i, shape in enumerate(shapes)]))


def test_contractions():
    dot = evaluate(lambda b, x, y: b.Dot(x, y, precision_config=("highest", "default")), X, X.T)
    np.testing.assert_allclose(dot, X @ X.T)
    module = make_module(lambda b, x, y: b.DotGeneral(x, y, (1, ), (0, ), precision_config="dot_bf16_bf16_f32"),
                         "f32[2,3]", "f32[3,2]")
    assert "algorithm=dot_bf16_bf16_f32" in str(module)
    ragged = evaluate(lambda b, x, w, n: b.RaggedDot(x, w, n, (1, ), (1, ), lhs_ragged_dimensions=(0, ), rhs_group_dimensions=(0, )),
                      X, np.ones((2, 3, 4), np.float32), np.int32([1, 1]))
    np.testing.assert_allclose(ragged, np.repeat(X.sum(1)[:, None], 4, 1))
    scaled = evaluate(lambda b, x, y, s: b.ScaledDot(x, y, s, s, (1, ), (1, )), X, X, 2 * np.ones((2, 1), np.float32))
    np.testing.assert_allclose(scaled, 4 * X @ X.T)


def test_convolutions():
    image, kernel = np.ones((1, 1, 4, 4), np.float32), np.ones((1, 1, 3, 3), np.float32)
    want = np.float32([[4, 6, 6, 4], [6, 9, 9, 6], [6, 9, 9, 6], [4, 6, 6, 4]])[None, None]
    np.testing.assert_array_equal(evaluate(lambda b, x, k: b.Conv(x, k, (1, 1), "same"), image, kernel), want)
    got = evaluate(lambda b, x, k: b.ConvWithGeneralPadding(x, k, (1, 1), [(1, 1), (1, 1)]), image, kernel)
    np.testing.assert_array_equal(got, want)
    last, io = image.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0)
    labels = "b01f_01io->bf01"
    got = evaluate(lambda b, x, k: b.ConvWithGeneralDimensions(x, k, (1, 1), "SAME", labels), last, io)
    np.testing.assert_array_equal(got, want)
    got = evaluate(lambda b, x, k: b.ConvGeneral(x, k, (1, 1), [(1, 1), (1, 1)], labels), last, io)
    np.testing.assert_array_equal(got, want)
    got = evaluate(lambda b, x, k: b.ConvGeneralDilated(x, k, (4, 4), [(0, 0), (0, 0)], (2, 2), None, labels, window_reversal=(1, 0)),
                   last, io)
    np.testing.assert_array_equal(got, np.float32([[[[4, 4], [4, 4]]]])[..., :got.shape[2], :got.shape[3]])
    for name in ("DynamicConvForward", "DynamicConvKernelGrad"):
        make = lambda b, x, k: getattr(b, name)(x, k, (1, 1), [(0, 0), (0, 0)], "bf01_oi01->bf01")
        assert name in str(make_module(make, "f32[1,1,4,4]", "f32[1,1,3,3]")).replace("DynamicConvolution", "DynamicConv")
    with pytest.raises(kashi.ParseError):
        evaluate(lambda b, x, k: b.ConvGeneral(x, k, (1, 1), [(1, 1), (1, 1)], "b01f"), last, io)
    with pytest.raises(ValueError):
        evaluate(lambda b, x, k: b.Conv(x, k, (1, 1), "most"), image, kernel)


def test_linear_algebra():
    a = np.float32([[4, 2], [2, 3]])
    lower = np.linalg.cholesky(a)
    np.testing.assert_allclose(evaluate(lambda b, x: b.Cholesky(x, True), a), lower, rtol=1e-6)
    x = evaluate(lambda b, l, r: b.TriangularSolve(l, r, transpose_a="transpose"), lower, a)
    np.testing.assert_allclose(x, np.linalg.solve(lower.T, a), rtol=1e-5)
    np.testing.assert_allclose(evaluate(lambda b, x: b.Fft(x, "rfft", (3, )), X), np.fft.rfft(X), rtol=1e-5, atol=1e-5)
    ones = np.ones(3, np.float32)
    normal, mean, variance = evaluate(lambda b, x, s: b.BatchNormTraining(x, s, s, 0.0, 1), X, ones)
    np.testing.assert_allclose(normal, [[0, 0, 0], [2, 2, 2]], atol=1e-5)
    got = evaluate(lambda b, x, s, m, v: b.BatchNormInference(x, s, s, m, v, 0.0, 1), X, ones, mean, variance)
    np.testing.assert_allclose(got, normal, atol=1e-5)
    assert len(evaluate(lambda b, x, s, m, v: b.BatchNormGrad(x, s, m, v, x, 0.0, 1), X, ones, mean, variance)) == 3
    for make in (lambda b: b.RngUniform(b.Constant(np.float32(2)), b.Constant(np.float32(3)), "f32[100]"),
                 lambda b: b.Add(b.RngNormal(b.Constant(np.float32(0)), b.Constant(np.float32(0)), "f32[100]"), b.Constant(np.float32(2.5)))):
        values = evaluate(make)
        assert values.shape == (100, ) and 2 <= values.min() and values.max() < 3
    state, bits = evaluate(lambda b, s: b.RngBitGenerator("rng_philox", s, "u32[4]"), np.uint64([1, 2, 3]))
    assert state.shape == (3, ) and len(set(bits.tolist())) == 4


def test_reductions():
    add, less = scalar_computation("Add"), scalar_computation("Ge", "ge")
    zero = np.float32(0)
    assert evaluate(lambda b, x: b.ReduceAll(x, b.Constant(zero), add), X) == X.sum()
    pair = kashi.XlaBuilder("pair")
    p = [pair.Parameter(i, "f32[]") for i in range(4)]
    pair = pair.Build(pair.Tuple([p[0] + p[2], pair.Max(p[1], p[3])]))
    sums, most = evaluate(lambda b, x: b.Reduce([x, x], [b.Constant(zero)] * 2, pair, (1, )), X)
    assert sums.tolist() == X.sum(1).tolist() and most.tolist() == X.max(1).tolist()
    got = evaluate(lambda b, x: b.ReduceWindow(x, b.Constant(zero), add, (1, 2), (1, 1), "valid"), X)
    np.testing.assert_array_equal(got, X[:, 1:] + X[:, :-1])
    got = evaluate(lambda b, x: b.ReduceWindow([x], [b.Constant(zero)], add, (1, 2), (1, 1), "same"), X)
    np.testing.assert_array_equal(np.asarray(got).reshape(2, 3)[:, :2], X[:, 1:] + X[:, :-1])
    got = evaluate(lambda b, x: b.ReduceWindowWithGeneralPadding(x, b.Constant(zero), add, (1, 2), (1, 1), [(0, 0), (0, 0)],
                                                                 window_dilations=(1, 2)), X)
    np.testing.assert_array_equal(got, X[:, :1] + X[:, 2:])
    source = np.float32([[10], [20]])
    want = np.float32([[0, 0, 10], [0, 0, 20]])
    got = evaluate(lambda b, x, s: b.SelectAndScatter(x, less, (1, 3), (1, 3), "valid", s, b.Constant(zero), add), X, source)
    np.testing.assert_array_equal(got, want)
    got = evaluate(lambda b, x, s: b.SelectAndScatterWithGeneralPadding(x, less, (1, 3), (1, 3), [(0, 0), (0, 0)], s,
                                                                        b.Constant(zero), add), X, source)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(evaluate(lambda b, x: b.Map([x, x], add, (0, 1)), X), 2 * X)


def test_indexing():
    rows = np.int32([[1], [0], [1]])
    got = evaluate(lambda b, x, i: b.Gather(x, i, (1, 3), (1, ), (0, ), 1, collapsed_slice_dims=(0, )), X, rows)
    np.testing.assert_array_equal(got, X[[1, 0, 1]])
    add = scalar_computation("Add")
    updates = np.ones((3, 3), np.float32)
    make = lambda b, x, i, u: b.Scatter(x, i, u, add, (1, ), (0, ), 1, inserted_window_dims=(0, ))
    np.testing.assert_array_equal(evaluate(make, X, rows, updates), X + [[1], [2]])
    make = lambda b, x, i, u: b.Scatter([x], i, [u], add, (1, ), (0, ), 1, inserted_window_dims=(0, ))
    np.testing.assert_array_equal(np.asarray(evaluate(make, X, rows, updates)).reshape(2, 3), X + [[1], [2]])


def test_more_calls():
    double = make_module(lambda b, x: 2 * x, "f32[2,3]")
    minus = make_module(lambda b, x: -x, "f32[2,3]")
    for index, want in ((0, 2 * X), (1, -X), (7, -X), (-1, -X)):
        got = evaluate(lambda b, x: b.Conditional(b.Constant(np.int32(index)), [double, minus], [x, x]), X)
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(evaluate(lambda b, x: b.CompositeCall(double, [x], "my.double", "{n = 1}", 2), X), 2 * X)
    module = make_module(lambda b, x: b.CustomCall("t", [x], "f32[2,3]", output_operand_aliasing=[((), 0, ())],
                                                   api_version="api_version_typed_ffi"), "f32[2,3]")
    assert "output_to_operand_aliasing={{}: (0, {})}" in str(module) and "API_VERSION_TYPED_FFI" in str(module)
    assert "called_computations" in str(
        make_module(lambda b, x: b.CustomCallWithComputation("t", [x], double, "f32[2,3]"), "f32[2,3]"))
    laid_out = "f32[2,3]{0,1}"
    assert "operand_layout_constraints={f32[2,3]{0,1}}" in str(
        make_module(lambda b, x: b.CustomCallWithLayout("t", [x], laid_out, [laid_out]), "f32[2,3]"))
    assert "called_computations" in str(
        make_module(lambda b, x: b.CustomCallWithComputationAndLayouts("t", [x], double, laid_out, [laid_out]), "f32[2,3]"))
    assert "dim_labels=b0f_0io->b0f" in str(
        make_module(lambda b, x: b.CustomCallWithConvDnums("t", [x], "f32[2]", [], "size=3", "b0f_0io->b0f"), "f32[2]"))


def test_attributes_of_operations():
    b = kashi.XlaBuilder("attributes")
    x = b.Parameter(0, "f32[4]", "x")
    b.SetOpMetadata(op_name="layer/add", source_file="a.py", source_line=3)
    b.SetSharding("{devices=[2]0,1}")
    b.SetFrontendAttributes({"k": "v"})
    y = b.Add(x, x)
    b.ClearOpMetadata(), b.ClearSharding(), b.ClearFrontendAttributes()
    b.SetUpAlias((), 0)
    b.Parameter(1, "f32[4]", "donor")
    b.AddBufferDonor(1)
    one = b.Constant(np.float32(1)) + 2
    assert b.IsConstant(one) and not b.IsConstant(y) and "add" in b.OpToString(y)
    assert kashi.evaluate(b.BuildConstantSubGraph(one)) == 3
    text = str(b.Build(y * 2))
    assert 'op_name="layer/add"' in text and "sharding={devices=[2]0,1}" in text and 'frontend_attributes={k="v"}' in text
    assert text.count("sharding=") == 1 and "input_output_alias" in text and "buffer_donor" in text


def test_more_collectives():
    add = scalar_computation("Add")
    groups = [(0, 1)]
    makes = {
        "CrossReplicaSum": lambda b, x: b.CrossReplicaSum(x, groups),
        "AllReduce": lambda b, x: b.AllReduce(x, add, groups, channel_id=1, use_global_device_ids=True),
        "AllReduceTuple": lambda b, x: b.GetTupleElement(b.AllReduceTuple([x, x], add, groups), 1),
        "AllGatherTuple": lambda b, x: b.GetTupleElement(b.AllGatherTuple([x, x], 0, 2, groups), 1),
        "ReduceScatter": lambda b, x: b.ReduceScatter(x, add, 0, 2, groups),
        "AllToAll": lambda b, x: b.AllToAll(x, 0, 0, 2, groups),
        "AllToAllTuple": lambda b, x: b.GetTupleElement(b.AllToAllTuple([x, x], groups), 1),
        "CollectiveBroadcast": lambda b, x: b.CollectiveBroadcast(x, [(1, 0)]),
        "MultiCollectivePermute": lambda b, x: b.GetTupleElement(b.MultiCollectivePermute([x, x], [(0, 1), (1, 0)]), 0),
    }
    a, c = np.float32([1, 2]), np.float32([10, 20])
    wants = {
        "CrossReplicaSum": (a + c, a + c),
        "AllReduce": (a + c, a + c),
        "AllReduceTuple": (a + c, a + c),
        "AllGatherTuple": ([1, 2, 10, 20], ) * 2,
        "ReduceScatter": ([11], [22]),
        "AllToAll": ([1, 10], [2, 20]),
        "AllToAllTuple": (c, c),
        "CollectiveBroadcast": (c, c),
        "MultiCollectivePermute": (c, a),
    }
    for name, make in makes.items():
        head, rest = str(make_module(make, "f32[2]")).split(",", 1)
        module = kashi.parse(f"{head}, replica_count=2,{rest}")
        results = kashi.evaluate_on_devices(module, [[a], [c]])
        for got, want in zip(results, wants[name]):
            np.testing.assert_array_equal(got, want, err_msg=name)
    offsets = "s32[2]"
    assert "ragged-all-to-all" in str(
        make_module(lambda b, x, i, s, o, j, r: b.RaggedAllToAll(x, i, s, o, j, r, groups), "f32[8]", offsets, offsets, "f32[8]",
                    offsets, offsets))
    with pytest.raises(ValueError):
        make_module(lambda b, x: b.AllReduceTuple([], add), "f32[2]")


def test_transfers():
    def make(b, x):
        token = b.CreateToken()
        first = b.InfeedWithToken(token, "f32[2]")
        after = b.AfterAll([b.GetTupleElement(first, 1), b.SendWithToken(x, token, 1)])
        received = b.RecvWithToken(after, "f32[2]", 2)
        out = b.OutfeedWithToken(b.GetTupleElement(received, 0), b.GetTupleElement(received, 1), "f32[2]", "config")
        hosted = b.RecvFromHost(b.SendToHost(x, out, "f32[2]", 3), "f32[2]", 4)
        b.Outfeed(x, "f32[2]")
        b.Send(x, 5)
        return b.Tuple([b.GetTupleElement(hosted, 0), b.Infeed("f32[2]"), b.Recv("f32[2]", 6)])

    module = make_module(make, "f32[2]")
    assert module.verify() == []
    for text in ("infeed(", "outfeed(", "send(", "recv(", "is_host_transfer=true", 'outfeed_config="config"'):
        assert text in str(module)
    shards = make_module(
        lambda b, x: b.ConvertSpmdShardToFullShape(b.ConvertSpmdFullToShardShape(x, "{devices=[2]0,1}"), "f32[4]", "{devices=[2]0,1}"),
        "f32[4]")
    assert "SPMDFullToShardShape" in str(shards) and "SPMDShardToFullShape" in str(shards)


def test_movement():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = kashi.XlaBuilder("movement")
    p = b.Parameter(0, kashi.Shape.of(x))
    zero, one = b.Constant(np.float32(0)), b.Constant(np.int32(1))
    outputs = {
        "Reshape": (b.Reshape(p, (3, 2)), x.reshape(3, 2)),
        "Transpose": (b.Transpose(p, (1, 0)), x.T),
        "Rev": (b.Rev(p, (1, )), x[:, ::-1]),
        "Broadcast": (b.Broadcast(p, (2, )), np.broadcast_to(x, (2, 2, 3))),
        "BroadcastInDim": (b.BroadcastInDim(p, (2, 4, 3), (0, 2)), np.broadcast_to(x[:, None], (2, 4, 3))),
        "Collapse": (b.Collapse(p, (0, 1)), x.ravel()),
        "Pad": (b.Pad(p, zero, (1, 0), (0, 2)), np.pad(x, ((1, 0), (0, 2)))),
        "Slice": (b.Slice(p, (0, 1), (2, 3)), x[:, 1:]),
        "DynamicSlice": (b.DynamicSlice(p, [one, one], (1, 2)), x[1:, 1:]),
        "ConcatInDim": (b.ConcatInDim([p, p], 0), np.concatenate([x, x])),
        "Iota": (b.Iota("s32[4]"), np.arange(4)),
    }
    got = run(b, x, root=b.Tuple([op for op, _ in outputs.values()]))
    for (name, (_, want)), value in zip(outputs.items(), got):
        np.testing.assert_array_equal(value, want, err_msg=name)


def test_calls():
    b = kashi.XlaBuilder("calls")
    x = b.Parameter(0, "f32[2,3]")
    zero = b.Constant(np.float32(0))
    add = scalar_computation("Add")
    body = kashi.XlaBuilder("body")
    state = body.Parameter(0, "s32[]")
    body = body.Build(state + 3)
    condition = kashi.XlaBuilder("condition")
    condition = condition.Build(condition.Parameter(0, "s32[]") < 10)
    less = scalar_computation("Lt", "less")
    double = kashi.XlaBuilder("double")
    double = double.Build(2 * double.Parameter(0, "f32[2,3]"))
    outputs = b.Tuple([
        b.Reduce(x, zero, add, (1, )),
        b.ReduceWindowWithGeneralPadding(x, zero, add, (1, 2), (1, 1), [(0, 0), (0, 0)]),
        b.While(condition, body, b.Constant(np.int32(0))),
        b.Sort([x], less, 1),
        b.Call(double, [x]),
        b.Conditional(b.Constant(np.bool_(True)), x, double, x, double),
        b.DotGeneral(x, x, (1, ), (1, )),
        b.TopK(x, 1),
    ])
    x = np.float32([[3, 1, 2], [6, 5, 4]])
    sums, windows, loop, ordered, doubled, chosen, product, best = run(b, x, root=outputs)
    np.testing.assert_array_equal(sums, x.sum(1))
    np.testing.assert_array_equal(windows, x[:, 1:] + x[:, :-1])
    assert loop == 12
    np.testing.assert_array_equal(ordered, np.sort(x))
    np.testing.assert_array_equal(doubled, 2 * x)
    np.testing.assert_array_equal(chosen, 2 * x)
    np.testing.assert_array_equal(product, x @ x.T)
    assert best[0].tolist() == [[3], [6]] and best[1].tolist() == [[0], [0]]


def test_collectives():
    b = kashi.XlaBuilder("collectives")
    x = b.Parameter(0, "f32[2]")
    outputs = b.Tuple([
        b.AllReduce(x, scalar_computation("Add")),
        b.AllGather(x, 0, 2),
        b.CollectivePermute(x, [(0, 1), (1, 0)]),
        b.ReplicaId(),
    ])
    head, rest = str(b.Build(outputs)).split(",", 1)
    module = kashi.parse(f"{head}, replica_count=2,{rest}")
    a, c = np.float32([1, 2]), np.float32([10, 20])
    for results in (kashi.evaluate_on_devices(module, [[a], [c]]), kashi.compile(module).run_on_devices([[a], [c]])):
        for number, (total, everything, others, replica) in enumerate(results):
            assert total.tolist() == [11, 22] and everything.tolist() == [1, 2, 10, 20]
            assert others.tolist() == (c, a)[number].tolist() and replica == number
    with pytest.raises(ValueError):
        kashi.evaluate_on_devices(module, [[a]])
    with pytest.raises(TypeError):
        kashi.evaluate_on_devices(module, [[a], [c, c]])
    with pytest.raises(TypeError):
        kashi.evaluate_on_devices(module, [[a], [c[:1]]])
    with pytest.raises(TypeError):
        kashi.evaluate_on_devices(module, 3)


def test_refusals():
    b = kashi.XlaBuilder("refusals")
    x = b.Parameter(0, "f32[2]")
    other = kashi.XlaBuilder("other").Parameter(0, "f32[2]")
    for bad in (other, None, "x", object(), [1, 2, 3]):
        with pytest.raises((TypeError, ValueError)):
            x + bad
    b = kashi.XlaBuilder("shapes")
    x = b.Parameter(0, "f32[2]")
    with pytest.raises(ValueError):
        b.Add(x, b.Parameter(1, "f32[3]"))
    with pytest.raises(ValueError):
        b.Build()
    with pytest.raises(kashi.ParseError):
        kashi.XlaBuilder("text").Parameter(0, "f32[2")
    with pytest.raises(TypeError):
        kashi.XlaBuilder("text").Parameter(0, 3)
    b = kashi.XlaBuilder("built")
    x = b.Parameter(0, "f32[2]")
    b.Build()
    for use in (lambda: x.shape, lambda: x + x, lambda: repr(x), lambda: b.Build()):
        with pytest.raises((ValueError, kashi.Error)):
            use()
