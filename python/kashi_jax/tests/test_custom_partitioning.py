"""jax.experimental.custom_partitioning in programs of 8 devices: as on JAX's own backend, with Shardy and with GSPMD."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from partitioning import elementwise, gspmd, inferred, integers, mesh_of, on_both, partitioner, shardings, specs

try:
    from jax.experimental.custom_partitioning import SdyShardingRule
except ImportError:
    SdyShardingRule = None


# ---- The tests of JAX ------------------------------------------------------------------------------------------------


def test_matmul(partitioner):
    x, y = integers(32, 16), integers(16, 32)

    def run(mesh, seen):
        def partition(precision, mesh, arguments, result):
            assert result[0].sharding == result[1].sharding and result[0].shape == result[1].shape == (32, 32)
            seen.append((precision, specs(arguments, result)))
            of_arguments = shardings(arguments)
            axis = of_arguments[1].spec[0]

            def lower(x, y):
                part = lax.dynamic_slice(x, (0, lax.axis_index(axis) * 8), (8, 8))
                z = lax.psum(jnp.matmul(part, y, precision=precision), axis)
                return z, z * z

            return mesh, lower, (result[0].sharding,) * 2, of_arguments

        def infer(precision, mesh, arguments, result):
            x, y = shardings(arguments)
            z = NamedSharding(y.mesh, P(x.spec[0], y.spec[1]))
            return z, z

        @functools.partial(custom_partitioning, static_argnums=(2,))
        def f(x, y, precision=None):
            z = jnp.matmul(x, y, precision=precision)
            return z, z * z

        f.def_partition(partition, infer_sharding_from_operands=infer, sharding_rule="i j, k l -> i l, i l")
        sharded = jax.jit(f, in_shardings=(NamedSharding(mesh, P("x")), NamedSharding(mesh, P("y"))),
                          out_shardings=NamedSharding(mesh, P("x")), static_argnums=2)
        with mesh:
            return sharded(x, y, "float32")

    z, square = on_both(run)
    np.testing.assert_array_equal(z, x @ y)
    np.testing.assert_array_equal(square, (x @ y) ** 2)


def test_propagated_user_sharding(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        f = elementwise(lambda x: x)
        with mesh:
            return jax.jit(lambda a: a + f(a), in_shardings=NamedSharding(mesh, P(None, "x")),
                           out_shardings=NamedSharding(mesh, P("x")))(x)

    np.testing.assert_array_equal(on_both(run), x + x)


def test_sharding_override(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        @custom_partitioning
        def f(x):
            return x

        def partition(mesh, arguments, result):
            whole = NamedSharding(arguments[0].sharding.mesh, P(None))
            return mesh, lambda x: x, whole, (whole,)

        f.def_partition(partition, sharding_rule="i j -> i j", infer_sharding_from_operands=lambda mesh, arguments, result:
                        NamedSharding(arguments[0].sharding.mesh, P("x")))
        with mesh:
            return jax.jit(f, in_shardings=NamedSharding(mesh, P(None, "x")), out_shardings=NamedSharding(mesh, P("x")))(x)

    np.testing.assert_array_equal(on_both(run), x)


def test_wrong_shapes_are_an_error(partitioner):
    @custom_partitioning
    def f(x):
        return x

    def partition(mesh, arguments, result):
        of_mesh = functools.partial(NamedSharding, arguments[0].sharding.mesh)
        return mesh, lambda x: x, of_mesh(P(None)), (of_mesh(P(None, "x")),)

    f.def_partition(partition, infer_sharding_from_operands=inferred,
                    sharding_rule="i j -> i j")
    for platform in ("cpu", "kashi"):
        mesh = mesh_of(platform)
        with mesh, pytest.raises(Exception, match="Mismatch in result shapes"):
            jax.jit(f, in_shardings=NamedSharding(mesh, P(None, "x")))(integers(32, 16))


def test_functions_that_call_functions(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        @custom_partitioning
        @jax.jit
        def f(x):
            return x

        def partition(mesh, arguments, result):
            def lower(x):
                @jax.jit
                def g(y):
                    return y * 2 - y
                return g(x)
            return mesh, lower, arguments[0].sharding, (arguments[0].sharding,)

        f.def_partition(partition, infer_sharding_from_operands=inferred,
                        propagate_user_sharding=lambda mesh, user: user.sharding, sharding_rule="i j -> i j")
        with mesh:
            return jax.jit(f, in_shardings=NamedSharding(mesh, P("x")), out_shardings=NamedSharding(mesh, P("x")))(x)

    np.testing.assert_array_equal(on_both(run), x)


def test_scan_with_collectives(partitioner):
    x = np.ones((32, 16), np.float32)

    def run(mesh, seen):
        @custom_partitioning
        def f(x):
            return jnp.sum(x)

        def partition(mesh, arguments, result):
            def lower(xs):
                return lax.scan(lambda sum, x: (sum + lax.psum(jnp.sum(x), "x"), None), 0.0, xs)[0]
            return mesh, lower, result.sharding, shardings(arguments)

        f.def_partition(partition, infer_sharding_from_operands=lambda mesh, *_: NamedSharding(mesh, P()),
                        propagate_user_sharding=lambda mesh, user: user.sharding, sharding_rule="i j -> ",
                        reduction_factors=("i", "j"))
        with mesh:
            return jax.jit(f, in_shardings=NamedSharding(mesh, P(None, "x")))(x)

    assert on_both(run, (4,), ("x",)) == 512


def test_without_a_mesh(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        @custom_partitioning
        def f(x):
            return x + 1

        def partition(context, arguments, result):
            seen.append((context.empty, arguments[0].sharding.shard_shape((32, 16))))
            return mesh, lambda x: x + 1, arguments[0].sharding, (arguments[0].sharding,)

        f.def_partition(partition, infer_sharding_from_operands=inferred,
                        propagate_user_sharding=lambda mesh, user: user.sharding, sharding_rule="i j -> i j")
        sharding = NamedSharding(mesh, P("x"))
        y = jax.jit(f, in_shardings=sharding, out_shardings=sharding)(x)
        assert y.sharding == sharding
        return y

    np.testing.assert_array_equal(on_both(run, (4,), ("x",)), x + 1)


# ---- Shardings -------------------------------------------------------------------------------------------------------


def _rows(x):
    return x - jnp.mean(x, axis=-1, keepdims=True)


def _of_rows(seen, **rule):
    """A function of rows, which must be whole: its functions say so."""
    @custom_partitioning
    def call(x):
        return _rows(x)

    def rows(sharding):
        return NamedSharding(sharding.mesh, P(*tuple(sharding.spec)[:1], None))

    def partition(mesh, arguments, result):
        seen.append(specs(arguments, result))
        sharding = rows(arguments[0].sharding)
        return mesh, _rows, sharding, (sharding,)

    call.def_partition(partition, infer_sharding_from_operands=lambda *given: rows(inferred(*given)),
                       propagate_user_sharding=lambda mesh, user: rows(user.sharding), **rule)
    return call


@pytest.mark.parametrize("spec", [P("x"), P("x", "y"), P(None, "x"), P(("x", "y")), P(("y", "x")), P("y", "x"), P()])
def test_rows_stay_whole(partitioner, spec):
    x = np.arange(64 * 16, dtype=np.float32).reshape(64, 16)

    def run(mesh, seen):
        f = _of_rows(seen, sharding_rule="i j -> i j", need_replication_factors=("j",))
        with mesh:
            compiled = jax.jit(f, in_shardings=NamedSharding(mesh, spec), out_shardings=NamedSharding(mesh, spec))
            return compiled(x)

    np.testing.assert_array_equal(on_both(run), x - np.mean(x, -1, keepdims=True))


def test_open_results_have_inferred_shardings(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        f = elementwise(jnp.negative, seen)
        with mesh:
            y = jax.jit(lambda x: f(f(x + 1)) * 2)(jax.device_put(x, NamedSharding(mesh, P("x", "y"))))
        seen.append(y.sharding.spec)
        return y

    np.testing.assert_array_equal(on_both(run), (x + 1) * 2)


def test_users_decide_where_nothing_else_does(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        f = elementwise(jnp.negative, seen)
        with mesh:
            return jax.jit(lambda x: f(x * 2) + 1, out_shardings=NamedSharding(mesh, P("y", "x")))(x)

    np.testing.assert_array_equal(on_both(run), 1 - 2 * x)


def test_arrays_that_are_moved_for_the_call(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        @custom_partitioning
        def f(x, y):
            return x @ y

        def partition(mesh, arguments, result):
            of_mesh = functools.partial(NamedSharding, mesh)

            def lower(x, y):
                return lax.psum_scatter(x @ y, "x", scatter_dimension=1, tiled=True)

            return mesh, lower, of_mesh(P("y", "x")), (of_mesh(P("y", "x")), of_mesh(P("x")))

        f.def_partition(partition, sharding_rule="i j, j k -> i k", reduction_factors=("j",),
                        infer_sharding_from_operands=lambda mesh, arguments, result: NamedSharding(mesh, P("x")))
        with mesh:
            return jax.jit(f, in_shardings=(NamedSharding(mesh, P("x")), NamedSharding(mesh, P(None, "y"))),
                           out_shardings=NamedSharding(mesh, P(("y", "x"))))(x, x.T)

    np.testing.assert_array_equal(on_both(run), x @ x.T)


def test_meshes_of_other_sizes_and_orders(partitioner):
    x = integers(36, 12)

    def run(mesh, seen):
        devices = mesh.devices[::-1].T
        other = Mesh(devices, ("b", "a"))
        f = elementwise(lambda x: x * 3 + lax.axis_index("b").astype(x.dtype) * 0)
        with other:
            return jax.jit(f, in_shardings=NamedSharding(other, P("a", "b")),
                           out_shardings=NamedSharding(other, P("b")))(x)

    np.testing.assert_array_equal(on_both(run, (3, 2)), x * 3)


def test_sizes_that_do_not_divide(partitioner):
    x = integers(30, 7)

    def run(mesh, seen):
        f = elementwise(lambda x: x * 2)
        with mesh:
            def step(x):
                x = lax.with_sharding_constraint(x + 1, NamedSharding(mesh, P("x", "y")))
                return lax.with_sharding_constraint(f(x), NamedSharding(mesh, P("x", "y"))) + 1
            return jax.jit(step)(jax.device_put(x, NamedSharding(mesh, P())))

    np.testing.assert_array_equal(on_both(run), (x + 1) * 2 + 1)


def test_users_that_want_less(gspmd):
    x = np.arange(32 * 16, dtype=np.float32).reshape(32, 16)

    def run(mesh, seen):
        f = _of_rows(seen)
        with mesh:
            return jax.jit(lambda x: f(x + 1) * 2, out_shardings=NamedSharding(mesh, P("x", "y")))(x)

    np.testing.assert_array_equal(on_both(run), (x - np.mean(x, -1, keepdims=True)) * 2)


# ---- Shardy's rules --------------------------------------------------------------------------------------------------


RULES = {
    "letters": dict(sharding_rule="i j -> i j"),
    "ellipsis": dict(sharding_rule="... j -> ... j"),
    "blocked": dict(sharding_rule="i j -> i k"),
    "function": dict(sharding_rule=lambda mesh, arguments, results: "i j -> i j"),
    "permutation": dict(sharding_rule="i j -> i j", permutation_factors=("i",)),
    "object": None if SdyShardingRule is None else
              dict(sharding_rule=SdyShardingRule(operand_mappings=(("i", "j"),), result_mappings=(("i", "j"),))),
}


@pytest.mark.parametrize("rule", [name for name, rule in RULES.items() if rule])
@pytest.mark.parametrize("spec", [P("x"), P("x", "y"), P(None, "y")])
def test_rules(rule, spec):
    x = np.arange(32 * 16, dtype=np.float32).reshape(32, 16)

    def run(mesh, seen):
        f = _of_rows([], **RULES[rule])
        y = jax.jit(lambda x: f(x * 2) * 1)(jax.device_put(x, NamedSharding(mesh, spec)))
        seen.append(y.sharding.spec)
        return y

    np.testing.assert_array_equal(on_both(run), (x - np.mean(x, -1, keepdims=True)) * 2)


@pytest.mark.parametrize("spec", [P("x"), P(("x", "y"))])
def test_rules_with_factors_of_one_dimension(spec):
    """The 8 is 2 by 4: the first axis may cut the 2, and the next one the 4."""
    x = integers(8, 16)

    def run(mesh, seen):
        @custom_partitioning
        def split(x):
            return x.reshape(2, 4, 16)

        def partition(mesh, arguments, result):
            whole = NamedSharding(mesh, P())
            return mesh, lambda x: x.reshape(2, 4, 16), whole, (whole,)

        split.def_partition(partition, sharding_rule="(i j) k -> i j k")
        y = jax.jit(split)(jax.device_put(x, NamedSharding(mesh, spec)))
        seen.append(y.sharding.spec)
        return y

    on_both(run, (2, 4))


# ---- Errors ----------------------------------------------------------------------------------------------------------


class _Broken(Exception):
    pass


def _fail(*_):
    raise _Broken("this rule is broken")


def test_errors_of_partitions(partitioner):
    for platform in ("cpu", "kashi"):
        mesh = mesh_of(platform)

        @custom_partitioning
        def f(x):
            return x

        f.def_partition(_fail, infer_sharding_from_operands=inferred,
                        sharding_rule="i j -> i j")
        with mesh, pytest.raises(Exception, match="_Broken: this rule is broken"):
            jax.jit(f, in_shardings=NamedSharding(mesh, P("x")))(integers(32, 16))


@pytest.mark.parametrize("name", ["infer_sharding_from_operands", "propagate_user_sharding"])
def test_errors_of_shardings(gspmd, name):
    """JAX's own backend ends the process."""
    mesh = mesh_of("kashi")
    functions = dict(infer_sharding_from_operands=lambda mesh, arguments, result: NamedSharding(mesh, P()),
                     propagate_user_sharding=lambda mesh, user: user.sharding)
    functions[name] = _fail

    @custom_partitioning
    def f(x):
        return x

    f.def_partition(lambda mesh, arguments, result: (mesh, jnp.sin, result.sharding, shardings(arguments)), **functions)
    with mesh, pytest.raises(Exception, match="_Broken: this rule is broken"):
        jax.jit(f, out_shardings=NamedSharding(mesh, P("x")))(integers(32, 16))
    functions[name] = lambda *_: 5
    f.def_partition(lambda mesh, arguments, result: (mesh, jnp.sin, result.sharding, shardings(arguments)), **functions)
    with mesh, pytest.raises(Exception, match="must return Sharding"):
        jax.jit(lambda x: f(x), out_shardings=NamedSharding(mesh, P("x")))(integers(32, 16))


def test_wrong_answers_are_errors(partitioner):
    mesh = mesh_of("kashi")
    for answer in (lambda mesh, arguments, result: (mesh, jnp.sin, result.sharding),
                   lambda mesh, arguments, result: (mesh, jnp.sin, result.sharding, (5,)),
                   lambda mesh, arguments, result: (mesh, lambda x: x.missing, result.sharding, shardings(arguments))):
        @custom_partitioning
        def f(x):
            return x

        f.def_partition(answer, infer_sharding_from_operands=inferred,
                        sharding_rule="i j -> i j")
        with mesh, pytest.raises(Exception, match="ValueError|AttributeError"):
            jax.jit(f, in_shardings=NamedSharding(mesh, P("x")))(integers(32, 16))
