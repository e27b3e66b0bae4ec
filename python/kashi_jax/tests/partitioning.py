"""Shared by the tests of custom_partitioning: both partitioners of JAX, and both backends."""
import jax
import numpy as np
import pytest
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def _has_gspmd():
    return hasattr(jax.config, "jax_use_shardy_partitioner")


@pytest.fixture(params=["shardy", "gspmd"])
def partitioner(request):
    """The partitioner that JAX asks for: the one spreads shardings by rules, the other one asks Python functions."""
    if request.param == "shardy":
        yield request.param
        return
    if not _has_gspmd():
        pytest.skip("this JAX has only Shardy")
    jax.config.update("jax_use_shardy_partitioner", False)
    yield request.param
    jax.config.update("jax_use_shardy_partitioner", True)


@pytest.fixture
def gspmd(partitioner):
    if partitioner == "shardy":
        pytest.skip("Shardy does not ask for shardings")


def mesh_of(platform, sizes=(4, 2), names=("x", "y")):
    devices = jax.devices(platform)[:int(np.prod(sizes))]
    return Mesh(np.array(devices).reshape(sizes), names)


def shardings(tree):
    return jax.tree.map(lambda array: array.sharding, tree)


def specs(*trees):
    """The shardings that a function of a partitioner was given, for comparing."""
    return [str(array.sharding.spec) for array in jax.tree.leaves(trees)]


def on_both(run, sizes=(4, 2), names=("x", "y")):
    """Runs `run(mesh, seen)` on both backends; the results, and all that was added to `seen`, are the same."""
    results, all_seen = [], []
    for platform in ("cpu", "kashi"):
        seen = []
        mesh = mesh_of(platform, sizes, names)
        results.append(jax.tree.map(np.asarray, run(mesh, seen)))
        all_seen.append(seen)
    jax.tree.map(np.testing.assert_array_equal, *results)
    of_cpu, of_kashi = (set(map(str, seen)) for seen in all_seen)
    assert of_cpu == of_kashi, (of_cpu, of_kashi)
    return results[1]


def integers(*shape):
    return np.random.default_rng(sum(shape)).integers(0, 20, shape).astype(np.float32)


def inferred(mesh, arguments, result):
    """The sharding of the argument. JAX's own backend also asks before it knows one."""
    return arguments[0].sharding or NamedSharding(mesh, P())


def elementwise(function, seen=None, rule="i j -> i j"):
    """A function of one array that is computed on whatever shards there are."""
    @custom_partitioning
    def call(x):
        return function(x)

    def partition(mesh, arguments, result):
        if seen is not None:
            seen.append(("partition", specs(arguments, result)))
        return mesh, function, result.sharding, (result.sharding,)

    call.def_partition(partition, infer_sharding_from_operands=inferred,
                       propagate_user_sharding=lambda mesh, user: user.sharding, sharding_rule=rule)
    return call
