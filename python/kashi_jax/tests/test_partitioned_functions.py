"""Programs with custom partitioned functions: operations and collectives in them, loops, gradients, threads."""
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec as P

from partitioning import elementwise, inferred, integers, mesh_of, on_both, partitioner, specs


# ---- Programs --------------------------------------------------------------------------------------------------------


def test_trees(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        def both(tree):
            return {"sum": tree["a"] + tree["b"][0], "parts": [tree["a"] * 2, tree["b"][0] - tree["a"]]}

        @custom_partitioning
        def f(tree):
            return both(tree)

        def partition(mesh, arguments, result):
            seen.append(specs(arguments, result))
            sharding = arguments[0]["a"].sharding
            return mesh, lambda tree: jax.tree.leaves(both(tree)), jax.tree.map(lambda _: sharding, result), \
                jax.tree.map(lambda _: sharding, arguments)

        f.def_partition(partition, sharding_rule="i j, i j -> i j, i j, i j", infer_sharding_from_operands=lambda mesh,
                        arguments, result: jax.tree.map(lambda _: arguments[0]["a"].sharding, result))
        with mesh:
            placed = jax.device_put(x, NamedSharding(mesh, P("x")))
            return jax.jit(f)({"a": placed, "b": (placed + 1,)})

    result = on_both(run)
    np.testing.assert_array_equal(result["sum"], 2 * x + 1)
    np.testing.assert_array_equal(result["parts"][1], np.ones_like(x))


LOWERED = {
    "erf": lambda x: lax.erf(x / 20) + lax.erf_inv(x / 40),
    "sort": lambda x: jnp.sort(x, -1),
    "top_k": lambda x: jnp.pad(lax.top_k(x, 5)[0], ((0, 0), (0, 11))),
    "gather": lambda x: x[:, jnp.arange(16) * 5 % 16],
    "scatter": lambda x: x.at[:, jnp.arange(6) % 4 * 3].add(2.0),
    "dot": lambda x: jnp.einsum("ij,kj->ik", x, x, precision="highest")[:, :1] + x,
    "convolution": lambda x: lax.conv_general_dilated(x[None, None], jnp.ones((1, 1, 3, 3)), (1, 1), "SAME")[0, 0] * 0 + x,
    "fft": lambda x: jnp.abs(jnp.fft.fft(x)),
    "while": lambda x: lax.fori_loop(0, 5, lambda i, x: x * 2 - i, x),
    "cond": lambda x: lax.cond(jnp.sum(x) > -1, lambda x: x + 1, lambda x: x - 1, x),
    "window": lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3), (1, 1), "SAME"),
    "random": lambda x: jax.random.uniform(jax.random.key(3), x.shape) + x,
    "cholesky": lambda x: x + jnp.linalg.cholesky(jnp.eye(4) * 4)[0, 0],
    "types": lambda x: (x.astype(jnp.bfloat16).astype(jnp.int8).astype(jnp.uint32) % 7).astype(jnp.float32),
    "bits": lambda x: lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int32) ^ 1, jnp.float32),
    "complex": lambda x: (lax.complex(x, x + 1) * 1j).imag,
    "cumsum": lambda x: jnp.cumsum(x, -1),
    "constants": lambda x: x * jnp.arange(16) + jnp.linspace(0, 1, 16) + 0.25,
}


@pytest.mark.parametrize("name", LOWERED)
def test_operations_of_partitioned_functions(name):
    """MLIR's own bytecode, which functions are given in, has each operation in another form than programs have it."""
    x = integers(32, 16)

    def run(mesh):
        f = elementwise(LOWERED[name])
        return np.asarray(jax.jit(f)(jax.device_put(x, NamedSharding(mesh, P("x")))))

    np.testing.assert_allclose(run(mesh_of("kashi")), run(mesh_of("cpu")), rtol=2e-6, atol=1e-6)


def test_collectives_of_partitioned_functions():
    x = integers(32, 16)

    def exchanged(x):
        left = lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)])
        whole = lax.all_gather(x, "x", tiled=True)
        turned = lax.all_to_all(x, "y", 1, 0, tiled=True)
        scattered = lax.psum_scatter(whole, "x", tiled=True)
        return left + scattered + lax.pmax(jnp.max(turned), ("x", "y")) + lax.axis_index("y")

    def run(mesh, seen):
        @custom_partitioning
        def f(x):
            return x

        def partition(mesh, arguments, result):
            sharding = NamedSharding(mesh, P("x", "y"))
            return mesh, exchanged, sharding, (sharding,)

        f.def_partition(partition, sharding_rule="i j -> i j")
        return jax.jit(lambda x: f(x) + f(x + 1))(jax.device_put(x, NamedSharding(mesh, P("x", "y"))))

    on_both(run)


def test_calls_in_loops_and_branches(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        f = elementwise(lambda x: x * 0.5)
        sharding = NamedSharding(mesh, P("x", "y"))

        def step(x, _):
            x = lax.cond(jnp.sum(x) > 100, lambda x: f(x) + 1, lambda x: f(x + 1), x)
            return f(x) + 4, jnp.sum(f(x))

        with mesh:
            return jax.jit(lambda x: lax.scan(step, x, None, 5), in_shardings=sharding)(x)

    on_both(run)


def test_gradients(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        forward, backward = elementwise(lambda x: x * x), elementwise(lambda x: 2 * x)

        @jax.custom_vjp
        def square(x):
            return forward(x)

        square.defvjp(lambda x: (forward(x), x), lambda x, g: (backward(x) * g,))
        with mesh:
            return jax.jit(jax.value_and_grad(lambda x: jnp.sum(square(x))))(
                jax.device_put(x, NamedSharding(mesh, P("x", "y"))))

    value, gradient = on_both(run)
    assert value == np.sum(x * x)
    np.testing.assert_array_equal(gradient, 2 * x)


def test_partitions_that_run_programs(partitioner):
    x = integers(32, 16)

    def run(mesh, seen):
        @custom_partitioning
        def f(x):
            return x * 6

        def partition(mesh, arguments, result):
            scale = float(jax.jit(jnp.sum)(jnp.arange(4.0)))
            return mesh, lambda x: x * scale, result.sharding, (result.sharding,)

        f.def_partition(partition, infer_sharding_from_operands=inferred, sharding_rule="i j -> i j")
        with mesh, jax.default_device(mesh.devices[0, 0]):
            return jax.jit(f, in_shardings=NamedSharding(mesh, P("x")))(x)

    np.testing.assert_array_equal(on_both(run), x * 6)


@pytest.mark.skipif(not hasattr(jax, "shard_map"), reason="regions that are manual along some axes")
@pytest.mark.parametrize("axes", [{"x"}, {"x", "y"}])
def test_calls_in_manual_regions(axes):
    x = integers(32, 16)

    def run(mesh, seen):
        f = elementwise(lambda x: x * 2, seen)
        with mesh:
            region = jax.shard_map(lambda x: f(x) + lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P("x"),
                                   axis_names=axes, check_vma=False)
            return jax.jit(region)(x)

    on_both(run)


def test_batches_of_calls_are_not_offered():
    for platform in ("cpu", "kashi"):
        mesh = mesh_of(platform)
        with mesh, pytest.raises(NotImplementedError, match="Batching rule for 'custom_partitioning'"):
            jax.jit(jax.vmap(elementwise(jnp.sin)))(integers(4, 32, 16))


def test_programs_that_are_compiled_ahead(partitioner):
    x = integers(32, 16)
    mesh = mesh_of("kashi")
    with mesh:
        compiled = jax.jit(elementwise(lambda x: x + lax.psum(x, "x") * 0),
                           in_shardings=NamedSharding(mesh, P("x")), out_shardings=NamedSharding(mesh, P("x"))
                           ).lower(x).compile()
    text = compiled.as_text()
    assert "all-reduce" in text and "CustomSPMDPartitioning" not in text
    np.testing.assert_array_equal(compiled(jax.device_put(x, NamedSharding(mesh, P("x")))), x)


def test_many_threads(partitioner):
    x = integers(32, 16)
    mesh = mesh_of("kashi")
    results = [None] * 8

    def run(i):
        with mesh:
            f = elementwise(lambda x: x * i)
            results[i] = np.asarray(jax.jit(f, in_shardings=NamedSharding(mesh, P("x")))(x))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result, x * i)


# ---- Custom calls that treat each element of a batch alone -----------------------------------------------------------


def test_linear_algebra_of_batches_stays_on_devices():
    mesh = mesh_of("kashi")
    rng = np.random.default_rng(1)
    a = rng.standard_normal((8, 96, 96)).astype(np.float32)
    symmetric = a @ a.swapaxes(-1, -2) + 96 * np.eye(96, dtype=np.float32)
    sharding = NamedSharding(mesh, P("x"))
    placed = jax.device_put(symmetric, sharding)
    for function in (lambda a: jnp.linalg.qr(a)[0], lambda a: jnp.linalg.eigh(a)[0], lambda a: jnp.linalg.svd(a)[1]):
        compiled = jax.jit(function).lower(placed).compile()
        assert "all-gather" not in compiled.as_text()
        result = compiled(placed)
        assert result.sharding.is_equivalent_to(sharding, result.ndim)
        whole = jax.jit(function)(jax.device_put(symmetric, jax.devices("kashi")[0]))
        np.testing.assert_allclose(result, whole, rtol=1e-5, atol=1e-5)
