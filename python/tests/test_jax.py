"""kashi.jax: what jax.jit does, by Kashi's programs. JAX is no dependency of the package, but of these tests."""
import doctest
import importlib.util
import pathlib
import re

import ml_dtypes
import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.experimental
import jax.numpy as jnp

import kashi
import kashi.jax


def check_same(f, *args, **kwargs):
    """Kashi's results have JAX's values, types, weak types and structure."""
    got, want = kashi.jax.jit(f)(*args, **kwargs), jax.jit(f)(*args, **kwargs)
    assert jax.tree_util.tree_structure(got) == jax.tree_util.tree_structure(want)
    for g, w in zip(jax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(want)):
        assert isinstance(g, jax.Array) and jax.typeof(g) == jax.typeof(w)
        np.testing.assert_allclose(np.asarray(g, np.float64), np.asarray(w, np.float64), rtol=1e-5, atol=1e-6)


def test_doctests():
    assert doctest.testmod(kashi.jax).failed == 0


def test_pytrees_and_keyword_arguments():
    def f(x, *rest, scale, unused=None):
        return {"a": x["p"] * scale, "b": [x["q"][0], None, ()], "c": sum(rest)}

    check_same(f, {"p": np.float32([1, 2]), "q": (jnp.arange(3),)}, 1.0, np.ones(2, np.float32), scale=3, unused=[4.0])
    check_same(lambda: (), )
    check_same(lambda x: (x,), np.int32(3))
    check_same(lambda x, unused: x, np.zeros((0, 3), np.float32), 1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8", "uint32", "bool", "float8_e4m3fn", "int4"])
def test_types(dtype):
    check_same(lambda x: (x, x[::2], x.astype(jnp.float32) + 1), jnp.asarray([0, 1, 1, 0], dtype))


@pytest.mark.parametrize("has_function", [True, False])
def test_results_are_placed(monkeypatch, has_function):
    """With JAX's own function for it, and with its public one."""
    if has_function:
        assert kashi.jax._put_function() is not None
    else:
        monkeypatch.setattr(kashi.jax, "_put_function", lambda: None)
    check_same(lambda x, y: (x * 2, y * x, [y > 0, None], {"n": jnp.int4(3)}, jnp.zeros((0, 2))), 2.0, np.ones(2, ml_dtypes.bfloat16))
    with jax.default_device(jax.devices()[0]):
        check_same(lambda x: x + 1, 2.0)
    gradient = kashi.jax.jit(jax.grad(lambda p: 1.0 * p["a"] * p["b"].sum(), allow_int=True))({"a": 2.0, "b": np.arange(3)})
    assert gradient["a"] == 3 and gradient["b"].dtype == jax.dtypes.float0 and gradient["b"].shape == (3, )
    x = np.ones(1000, np.float32)
    y = kashi.jax.jit(lambda x: x)(x)
    x[:] = 2
    assert y[0] == 1  # a result is no view of an argument


def test_weak_types():
    check_same(lambda x, y: (x * 2, y * x, y + 1), 2.0, np.ones(2, ml_dtypes.bfloat16))
    f = kashi.jax.jit(lambda x: x * 2)
    assert (f(1.5) * jnp.ones(2, jnp.bfloat16)).dtype == jnp.bfloat16
    assert (f(np.float32(1.5)) * jnp.ones(2, jnp.bfloat16)).dtype == jnp.float32


def counted(**options):
    traces = []

    def f(x, n=2, *, mode="a"):
        traces.append((n, mode))
        return x * n if mode == "a" else x - n

    return kashi.jax.jit(f, **options), traces


def test_static_arguments_and_the_cache():
    f, traces = counted(static_argnums=1, static_argnames=("mode", "n"))
    assert f(3.0, 2) == 6 and f(4.0, n=2) == 8 and f(4.0, 2) == 8 and f(1.0, 3, mode="b") == -2
    assert traces == [(2, "a"), (2, "a"), (3, "b")]  # once by position, once by name
    assert f(np.float32([1, 2]), 2).shape == (2,) and len(traces) == 4
    assert f(np.float32([5, 6]), 2).tolist() == [10, 12] and len(traces) == 4
    assert f(1, True) == 1 and f(1, 1) == 1 and traces[4:] == [(True, "a"), (1, "a")]
    f.clear_cache()
    assert f(3.0, 2) == 6
    f, _ = counted(static_argnames="mode")
    assert f(1.0, 2.0, mode="b") == -1 and f(n=4, x=2) == 8
    f, traces = counted(static_argnums=-1)
    assert f(1.0, 5) == 5 and traces == [(5, "a")]
    with pytest.raises((TypeError, ValueError)):
        f(1.0, [1])


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(kashi.jax, "MOST_PROGRAMS", 2)
    compiled = []
    compile_module = kashi.compile
    monkeypatch.setattr(kashi, "compile", lambda module: compiled.append(module) or compile_module(module))
    f, _ = counted(static_argnums=1)
    assert [f(1.0, n) for n in (1, 2, 1, 3, 1)] == [1, 2, 1, 3, 1]
    assert len(compiled) == 3
    assert f(1.0, 2) == 2 and len(compiled) == 4  # 2 was used longest ago when 3 came


def test_inspect():
    def f(x, *, scale):
        return {"y": x @ x.T, "z": x * scale}

    seen = kashi.jax.inspect(f, jax.ShapeDtypeStruct((100, 3), jnp.bfloat16), scale=2.0, target="v5e", basis="lowered")
    assert [(row["kind"], str(row["shape"].dtype)) for row in seen.arrays] == [
        ("argument", "bfloat16"), ("argument", "float32"), ("result", "bfloat16"), ("result", "bfloat16")]
    first = seen.arrays[0]
    assert first["name"] == "x" and first["bytes"] == 104 * 128 * 2 and first["unpadded_bytes"] == 600
    assert first["advice"][0]["bytes"] < first["bytes"]
    assert seen.memory["peak_bytes"] > 2 * 100 * 128 * 2 and seen.module.entry.root.opcode == "tuple"
    assert "peak" in str(seen) and "<table>" in seen._repr_html_()
    assert kashi.jax.inspect(jax.jit(lambda n: n + 1, keep_unused=True), 3, basis="lowered").arrays[0]["name"] == "n"
    with pytest.raises(ValueError, match="v99"):
        kashi.jax.inspect(f, 1, target="v99")


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
@pytest.mark.parametrize("jit", [jax.jit, kashi.jax.jit], ids=["jax", "kashi"])
def test_donation(jit):
    """Donated arrays of a result's type are deleted; the others stay, with a warning."""
    f = jit(lambda x, y: {"sum": x["a"] + x["b"] + y, "less": y - 1}, donate_argnums=0, donate_argnames="y")
    x, y = {"a": jnp.arange(4.0), "b": jnp.arange(4.0)}, jnp.arange(4.0)
    for _ in range(2):
        assert f(x, y=y)["sum"].tolist() == [0, 3, 6, 9]
        deleted = [array.is_deleted() for array in (x["a"], x["b"], y)]
        assert deleted == [True, True, False]
        x = {"a": jnp.arange(4.0), "b": np.arange(4, dtype=np.float32)}
        assert f(x, y=y)["less"].tolist() == [-1, 0, 1, 2] and x["b"][3] == 3
        with pytest.raises((RuntimeError, ValueError), match="deleted"):
            f(x, y=y)
        x, y = {"a": jnp.arange(4.0), "b": jnp.arange(4.0)}, jnp.arange(4.0)
    x = jnp.arange(3.0)
    with pytest.warns(UserWarning, match="donated buffers were not usable"):
        assert jit(lambda x: x.sum(), donate_argnums=(0, ))(x) == 3 and not x.is_deleted()
    fails = jit(lambda x, n: x + n, donate_argnums=0)
    with pytest.raises(TypeError):
        fails(x, "text")
    assert not x.is_deleted()


def test_x64_is_part_of_the_key():
    f = kashi.jax.jit(lambda: jnp.zeros(2) + 1)
    assert f().dtype == np.float32
    with jax.enable_x64(True):
        assert f().dtype == np.float64
    assert f().dtype == np.float32


def test_random_keys():
    def f(key):
        first, second = jax.random.split(key)
        return second, jax.random.normal(first, (3,))

    key, values = kashi.jax.jit(f)(jax.random.key(7))
    want_key, want = f(jax.random.key(7))
    assert (jax.random.key_data(key) == jax.random.key_data(want_key)).all() and key.dtype == want_key.dtype
    np.testing.assert_allclose(values, want, rtol=1e-5)


COMPILED = """HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[100,3]{0,1:T(4,128)})->f32[3]{0:T(128)}}

ENTRY %main (x: f32[100,3]) -> f32[3] {
  %x = f32[100,3]{0,1:T(4,128)} parameter(0), metadata={op_name="x"}
  %s = f32[1,3]{1,0:T(1,128)S(1)} slice(%x), slice={[0:1], [0:3]}
  ROOT %r = f32[3]{0:T(128)} bitcast(%s)
}
"""


def test_inspect_compiled(monkeypatch):
    def f(x):
        return x.sum(0)

    x = jax.ShapeDtypeStruct((100, 3), jnp.float32)
    with pytest.raises(ValueError):
        kashi.jax.inspect(f, x, basis="guessed")
    if importlib.util.find_spec("libtpu"):
        seen = kashi.jax.inspect(f, x)
        assert seen.basis == "compiled" and "T(" in str(seen.arrays[0]["shape"]) and seen.memory["peak_bytes"] > 0
    else:
        with pytest.raises(ImportError, match="pip install libtpu"):
            kashi.jax.inspect(f, x, basis="compiled")
    # What follows needs no libtpu.
    monkeypatch.setattr(kashi.jax, "_has_libtpu", lambda: True)
    monkeypatch.setattr(kashi.jax, "_compiled_text", lambda *arguments: COMPILED)
    seen = kashi.jax.inspect(f, x)
    assert (seen.basis, seen.arrays[0]["name"], str(seen.arrays[0]["shape"])) == ("compiled", "x", "f32[100,3]{0,1:T(4,128)}")
    assert seen.memory["peak_bytes"] >= seen.arrays[0]["bytes"] == 2048
    assert kashi.jax.inspect(f, x, basis="lowered").basis == "lowered"
    assert kashi.jax.inspect(f, 3.0 + np.zeros(())).basis == "compiled"
    assert kashi.jax.inspect(lambda n: n + 1, 3).basis == "lowered"  # no array says which chip it is for

    def fail(*arguments):
        raise RuntimeError("no memory")

    monkeypatch.setattr(kashi.jax, "_compiled_text", fail)
    with pytest.warns(UserWarning, match="no memory"):
        assert kashi.jax.inspect(f, x).basis == "lowered"
    with pytest.raises(RuntimeError):
        kashi.jax.inspect(f, x, basis="compiled")


def test_decorates_functions_and_methods():
    class Model:
        @kashi.jax.jit
        def plain(x):
            """The text."""
            return x + 1

        @kashi.jax.jit(static_argnums=0)
        def method(self, x):
            return x + 2

    assert Model.plain(1) == 2 and Model.plain.__doc__ == "The text." and Model.plain.__name__ == "plain"
    model = Model()
    assert Model.method(model, 1) == 3 and model.method(2) == 4


def test_transformations():
    f = kashi.jax.jit(lambda x: (x ** 3).sum())
    x = jnp.float32([1, 2])
    np.testing.assert_allclose(jax.grad(f)(x), [3, 12])
    np.testing.assert_allclose(kashi.jax.jit(jax.grad(f))(x), [3, 12])
    np.testing.assert_allclose(jax.vmap(f)(x[:, None]), [1, 8])
    np.testing.assert_allclose(jax.jit(jax.grad(f))(x), [3, 12])
    assert kashi.jax.jit(jax.grad(f)).eval_shape(x).shape == kashi.jax.jit(jax.grad(f)).trace(x).jaxpr.out_avals[0].shape == (2, )
    np.testing.assert_allclose(kashi.jax.jit(kashi.jax.jit(jax.vmap(jnp.sin)))(x), np.sin(x), rtol=1e-6)


def test_values_of_an_outer_transformation():
    """A function may use them without getting them as arguments: then the program is JAX's, too."""
    def f(jit):
        def inner(x):
            return jit(lambda y: y * x + jit(lambda: x)())(2.0)

        x = np.float32([1, 2])
        return (jax.jit(inner)(3.0), jax.grad(inner)(3.0), jax.vmap(inner)(x), jit(inner)(3.0), jax.grad(jit(inner))(3.0),
                jax.lax.scan(lambda c, a: (inner(c), a), 1.0, x), jax.jvp(inner, (3.0, ), (1.0, )), jit(jax.jacrev(inner))(3.0))

    got, want = f(kashi.jax.jit), f(jax.jit)
    for g, w in zip(jax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(want)):
        assert jax.typeof(g) == jax.typeof(w) and (g == w).all()
    with jax.disable_jit():
        assert kashi.jax.jit(lambda x: 1 if x > 0 else 2)(1.0) == 1


def said(call):
    with pytest.raises(Exception) as caught:
        call()
    return type(caught.value), re.sub("0x[0-9a-f]*", "0x", str(caught.value)).split("\n")[0]


MISTAKES = {
    "a static argument without a hash": lambda jit: jit(lambda x, n: x, static_argnums=1)(1, [3]),
    "a static array": lambda jit: jit(lambda x, n: x, static_argnames="n")(1, n=np.zeros(3)),
    "a static argument that is missing": lambda jit: jit(lambda x, n: x, static_argnames="n")(1),
    "a name that is no parameter's": lambda jit: jit(lambda x: x, static_argnames="n"),
    "a static argument that is donated": lambda jit: jit(lambda x: x, static_argnums=0, donate_argnums=0)(1),
    "a text": lambda jit: jit(lambda x: x)("text"),
    "an object": lambda jit: jit(lambda x: x)({"a": object()}),
    "an array of objects": lambda jit: jit(lambda x: x)(np.array([None])),
    "an array of dates": lambda jit: jit(lambda x: x)(np.array(["2020-01-01"], "M8[D]")),
    "an array of another byte order": lambda jit: jit(lambda x: x)(np.zeros(3, ">f4")),
    "an integer that is too large": lambda jit: jit(lambda x, y: x)(1, {"a": 2**40}),
    "a shape for an array": lambda jit: jit(lambda x: x)(jax.ShapeDtypeStruct((2, ), np.float32)),
    "an array that was deleted": lambda jit: (lambda x: (x.delete(), jit(lambda y: y + 1)(x)))(jnp.arange(3.0)),
    "keys without an order": lambda jit: jit(lambda x: x)({"a": 1, 3: 2}),
    "too many arguments": lambda jit: jit(lambda x: x)(1, 2),
    "no function": lambda jit: jit(3),
    "a result that is no array": lambda jit: jit(lambda x: "text")(1),
    "the truth of a tracer": lambda jit: jit(lambda x: 1 if x else 2)(1.0),
    "the integer of a tracer": lambda jit: jit(lambda x: int(x))(1.0),
    "NumPy on a tracer": lambda jit: jit(lambda x: np.sin(x))(1.0),
    "its own exception": lambda jit: jit(lambda x: 1 // 0)(1.0),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_as_jax_tells_them(name):
    assert said(lambda: MISTAKES[name](kashi.jax.jit)) == said(lambda: MISTAKES[name](jax.jit))


def test_tracers_that_leak():
    kept = []

    def keeps(x):
        kept.append(x)
        return x

    f = kashi.jax.jit(keeps)
    f(1.0)
    with pytest.raises(jax.errors.UnexpectedTracerError, match="side effect"):
        kept[0] + 1
    for g in (f, kashi.jax.jit(lambda x: x + 1)):  # whose program there is, and not
        with pytest.raises(jax.errors.UnexpectedTracerError, match="side effect"):
            g(kept[0])


def test_what_else_jit_gives():
    f = kashi.jax.jit(lambda x, n: x * n, static_argnames="n", keep_unused=True, inline=True)
    assert f.eval_shape(jnp.zeros(3), n=2).shape == (3, )
    assert "multiply" in f.lower(jnp.zeros(3), n=2).as_text() and "mul" in str(f.trace(jnp.zeros(3), n=2).jaxpr)
    assert kashi.jax.inspect(f, jnp.zeros(3), n=2, basis="lowered").arrays[0]["name"] == "x"
    with pytest.raises(TypeError, match="device"):
        kashi.jax.jit(lambda x: x, device=None)
    x = np.zeros(3, np.float32)
    assert not kashi.jax.jit(lambda x: x)(x).committed
    assert kashi.jax.jit(lambda a, x: x)(x, jax.device_put(x, jax.devices()[0])).committed


def test_control_flow_and_linear_algebra():
    a = jnp.float32(np.random.RandomState(0).rand(5, 5)) + 5 * jnp.eye(5)
    check_same(lambda a: jax.lax.fori_loop(0, 5, lambda i, c: jnp.tanh(c @ a), a), a)
    check_same(lambda a: jax.lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(5), a), a)
    check_same(lambda a: jax.lax.cond(a.sum() > 0, jnp.sort, jnp.exp, a), a)
    check_same(lambda a: jax.lax.conv(a[None, None], a[None, None, :2, :2], (1, 1), "SAME"), a)


def test_errors_are_those_of_jax_or_of_kashi():
    f = kashi.jax.jit(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), np.float32), x))
    with pytest.raises((NotImplementedError, kashi.Error)):
        f(1.0)
    for no_result in (lambda x: jax.debug.print("{}", x), lambda x: jax.experimental.io_callback(print, None, x)):
        with pytest.raises(NotImplementedError, match="calls back into Python"):
            kashi.jax.jit(no_result)(1.0)
    with pytest.raises(TypeError):
        kashi.jax.jit(lambda x: x)("text")
    with pytest.raises(jax.errors.TracerBoolConversionError):
        kashi.jax.jit(lambda x: 1 if x else 2)(1.0)


def test_stablehlo_of_jax_is_read():
    lowered = jax.jit(lambda x: jnp.cumsum(x) * 2).lower(np.zeros(4, np.float32))
    module = kashi.parse(lowered.as_text())
    assert kashi.evaluate(module, np.float32([1, 2, 3, 4])).tolist() == [2, 6, 12, 20]
    exported = jax.export.export(jax.jit(lambda x: jnp.cumsum(x) * 2))(np.zeros(4, np.float32))
    module = kashi.parse(exported.mlir_module_serialized)
    assert kashi.evaluate(module, np.float32([1, 2, 3, 4])).tolist() == [2, 6, 12, 20]


def test_document():
    document = pathlib.Path(__file__).parents[2] / "docs/python.md"
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    assert doctest.testfile(str(document), module_relative=False, optionflags=flags).failed == 0
