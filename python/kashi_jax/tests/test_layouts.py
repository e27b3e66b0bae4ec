"""Layouts that programs ask for (jax.experimental.layout), and options of the compiler."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

layout = pytest.importorskip("jax.experimental.layout")
if not hasattr(layout, "Format"):
    pytest.skip("this version of JAX has other names for layouts", allow_module_level=True)
Format, Layout = layout.Format, layout.Layout
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def _major_to_minor(array):
    return array.format.layout.major_to_minor


@pytest.fixture(params=["cpu", "kashi"])
def place(request):
    return SingleDeviceSharding(jax.devices(request.param)[0])


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_arrays_in_a_layout(place, order):
    x = jax.device_put(X, Format(Layout(order), place))
    assert _major_to_minor(x) == order
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(x[1], X[1])
    np.testing.assert_array_equal(jax.device_put(x, Format(Layout((0, 1, 2)), place)), X)
    assert _major_to_minor(x.copy()) == (0, 1, 2)


def test_results_in_a_layout(place):
    f = jax.jit(lambda x: (x + 1, x.sum(0)), out_shardings=(Format(Layout((2, 0, 1)), place), Format(Layout((1, 0)), place)))
    y, z = f(jax.device_put(X, place))
    assert (_major_to_minor(y), _major_to_minor(z)) == ((2, 0, 1), (1, 0))
    np.testing.assert_array_equal(y, X + 1)
    np.testing.assert_array_equal(z, X.sum(0))


def test_formats_of_a_program(place):
    wanted = Format(Layout((1, 0)), place)
    compiled = jax.jit(lambda x, y: x @ y, in_shardings=(wanted, place), out_shardings=wanted).lower(
        jax.ShapeDtypeStruct((3, 4), np.float32), jax.ShapeDtypeStruct((4, 5), np.float32)).compile()
    (x_format, y_format), _ = compiled.input_formats
    assert x_format.layout.major_to_minor == compiled.output_formats.layout.major_to_minor == (1, 0)
    assert y_format.layout.major_to_minor == (0, 1)
    x, y = X[0], X.reshape(4, 6)[:, :5]
    result = compiled(jax.device_put(x, x_format), jax.device_put(y, y_format))
    assert _major_to_minor(result) == (1, 0)
    np.testing.assert_allclose(result, x[:, :4] @ y)
    with pytest.raises(ValueError, match="does not match|mismatch"):
        compiled(jax.device_put(x, place), jax.device_put(y, y_format))


def test_layouts_that_the_compiler_chooses(place):
    compiled = jax.jit(lambda x: x * 2, in_shardings=Format(Layout.AUTO, place), out_shardings=Format(Layout.AUTO, place)).lower(
        jax.ShapeDtypeStruct((3, 4), np.float32)).compile()
    x = jax.device_put(X[0], compiled.input_formats[0][0])
    np.testing.assert_array_equal(compiled(x), X[0] * 2)
    assert compiled(x).format == compiled.output_formats


def test_layouts_within_a_program(place):
    @jax.jit
    def f(x):
        y = layout.with_layout_constraint(x.T, Layout((1, 0))) if hasattr(layout, "with_layout_constraint") else x.T
        return y * 2

    np.testing.assert_array_equal(f(jax.device_put(X[0], place)), X[0].T * 2)


@pytest.mark.parametrize("platform", ["cpu", "kashi"])
def test_layouts_on_several_devices(platform):
    mesh = Mesh(np.array(jax.devices(platform)).reshape(4, 2), ("x", "y"))
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    wanted = Format(Layout((1, 0), tiling=()), NamedSharding(mesh, P("x", "y")))
    placed = jax.device_put(x, wanted)
    assert placed.format == wanted
    result = jax.jit(lambda x: x + 1, out_shardings=wanted)(placed)
    assert result.format == wanted
    np.testing.assert_array_equal(result, x + 1)


def test_donated_arrays_in_a_layout(place):
    wanted = Format(Layout((1, 0)), place)
    x = jax.device_put(X[0], wanted)
    y = jax.jit(lambda x: x + 1, in_shardings=wanted, out_shardings=wanted, donate_argnums=0)(x)
    assert x.is_deleted() and _major_to_minor(y) == (1, 0)
    np.testing.assert_array_equal(y, X[0] + 1)


OPTIONS = [
    ("xla_embed_ir_in_executable", [True, 0, 0.5, "True", "False", "true", ""]),
    ("xla_backend_optimization_level", [2, False, 2**40, 0.5, "3", " 3", "x", "99999999999"]),
    ("xla_gpu_all_gather_combine_threshold_bytes", [2**40, 0.5, "5", "x"]),
    ("xla_gpu_auto_spmd_partitioning_memory_budget_ratio", [0.5, 2, "1", "1e3", "inf", "x", ""]),
    ("xla_cpu_max_isa", [3, "AVX2", ""]),
    ("xla_cpu_opt_preset", [3, 999, 0.5, "2", "CPU_OPT_PRESET_DEFAULT", "cpu_opt_preset_default", ""]),
    ("xla_cpu_experimental_onednn_fusion_type", [1, "1,2", "1,x", "1,,2", "LIBRARY_FUSION_TYPE_DOT,1", ""]),
    ("xla_gpu_llvm_ir_file", [3, "a", "a,b", ""]),
    ("xla_gpu_analytical_latency_estimator_options", [3, "x", ",", ""]),
    ("xla_no_such", [1]),
    ("no_such", ["x"]),
]


@pytest.mark.parametrize("name,value", [(name, value) for name, values in OPTIONS for value in values])
def test_compiler_options(name, value):
    answers = []
    for platform in ("cpu", "kashi"):
        with jax.default_device(jax.devices(platform)[0]):
            lowered = jax.jit(lambda x: x + 1).lower(1.0)
            try:
                lowered.compile(compiler_options={name: value})
                answers.append("accepted")
            except jax.errors.JaxRuntimeError as error:
                answers.append(str(error))
    assert answers[0] == answers[1]
