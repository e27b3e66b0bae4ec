"""kashi.XlaBuilder: the methods are XLA's functions; what they make is run."""
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
                if "(self, operand: object)" in kinds:
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
