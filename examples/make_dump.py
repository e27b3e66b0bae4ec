"""Makes examples/dump: what XLA dumps of two small JAX programs. Needs JAX.

    XLA_FLAGS="--xla_dump_to=out --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text --xla_dump_hlo_as_proto
               --xla_dump_hlo_module_re=jit_(edges|loop)" python make_dump.py
    python make_dump.py --keep out dump

The second command copies what the tests need: the protos of all stages would be twice as many bytes.
"""
import pathlib
import shutil
import sys


def edges(x, y):
    import jax.numpy as jnp
    from jax import lax
    inner = jnp.pad(x[1:4, 2:6], ((1, 0), (0, 2)), constant_values=0.5)
    joined = jnp.concatenate([inner, -y], axis=0)
    limited = jnp.clip(joined * 3 - 1, -2.0, 2.5)
    return jnp.where(limited > joined, limited - joined, joined / 4), lax.slice(joined, (0, 1), (6, 5), (2, 1)).sum(0)


def loop(x):
    import jax.numpy as jnp
    from jax import lax
    return lax.fori_loop(0, 3, lambda i, s: jnp.tanh(s @ x) - 0.5 * s, x)


def compile_all():
    import jax
    import numpy as np
    jax.config.update("jax_include_full_tracebacks_in_locations", False)
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # no folders
    shape = lambda *sizes: jax.ShapeDtypeStruct(sizes, np.float32)
    jax.jit(edges).lower(shape(5, 7), shape(2, 6)).compile()
    jax.jit(loop).lower(shape(4, 4)).compile()


def keep(source, target):
    for path in sorted(pathlib.Path(source).iterdir()):
        name = path.name
        wanted = name.endswith((".txt", "slice_reduce_fusion_kernel_module.ir-with-opt.ll", "before_optimizations.hlo.pb"))
        if path.is_file() and wanted and not name.endswith("-values.txt"):
            shutil.copy(path, pathlib.Path(target) / name)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--keep":
        keep(*sys.argv[2:])
    else:
        compile_all()
