"""JAX on Kashi: a backend of JAX whose programs Kashi compiles and runs on this processor.

    pip install kashi-jax
    JAX_PLATFORMS=kashi,cpu python train.py

JAX finds this package by itself, and calls initialize(). Variables of the environment:

    KASHI_DEVICES=8        the number of devices, 1 by default; jax_num_cpu_devices goes before it, and the flag of XLA
                           --xla_force_host_platform_device_count counts where neither is set
    KASHI_JAX_AS_CPU=1     the backend takes the place of JAX's own "cpu", also for programs that ask for it by name
    KASHI_CACHE_DIR        a folder for machine code of earlier processes
"""
import ctypes
import inspect
import os
import pathlib
import re

from kashi_jax import _foreign

__all__ = ["backend_name", "initialize", "library_path"]

# Above JAX's own backends, which have 0, and other plugins, which have 400: without JAX_PLATFORMS, Kashi is the default.
_PRIORITY = 500


def library_path() -> str:
    """The path of the plugin: any program that loads PJRT plugins can use it."""
    return str(pathlib.Path(__file__).parent / "libkashi_pjrt.so")


def backend_name() -> str:
    """The name of the backend in JAX: "kashi", or "cpu" with KASHI_JAX_AS_CPU."""
    return "cpu" if os.environ.get("KASHI_JAX_AS_CPU", "").lower() in ("1", "true", "yes") else "kashi"


def initialize():
    """Registers the backend, as "kashi" or as "cpu". JAX calls it when it looks for backends."""
    from jax.extend import backend
    name = backend_name()
    # JAX brings the partitioners of custom calls to the table of functions.
    with_table = "c_api" in inspect.signature(backend.register_backend_factory).parameters and _is_wanted(name)
    options = {"c_api": _load(name)} if with_table else {}
    backend.register_backend_factory(name, lambda: _make_client(name), priority=_PRIORITY, fail_quietly=False, **options)


def _is_wanted(name):
    """Whether JAX will make the client. Without it, the library need not be loaded."""
    import jax
    platforms = getattr(jax.config, "jax_platforms", None)
    return not platforms or name in platforms.split(",")


def _load(name):
    """The plugin's table of functions as a capsule; None if the library cannot be loaded: making the client tells why."""
    from jaxlib import xla_client
    if xla_client.pjrt_plugin_loaded(name):
        return None
    try:
        return _load_library(name)
    except Exception:
        return None


def _load_library(name):
    from jaxlib import xla_client
    table = xla_client.load_pjrt_plugin_dynamically(name, library_path())
    try:
        from jaxlib import _profiler
        _profiler.register_plugin_profiler(table)
    except (ImportError, AttributeError):
        pass  # in this version of JAX, profiles have no rows of plugins
    return table


def _make_client(name):
    from jaxlib import xla_client
    if not xla_client.pjrt_plugin_loaded(name):
        _load_library(name)
    if not xla_client.pjrt_plugin_initialized(name):
        xla_client.initialize_pjrt_plugin(name)
    _foreign.register(ctypes.CDLL(library_path()))
    return xla_client.make_c_api_client(name, _client_options(), None)


def _client_options():
    """The number of devices, if JAX's own settings give one: programs ask for the devices of a processor in these ways."""
    import jax
    count = getattr(jax.config, "jax_num_cpu_devices", -1)
    if count is not None and count > 0:
        return {"devices": int(count)}
    flags = re.findall(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    if flags and not os.environ.get("KASHI_DEVICES"):
        return {"devices": int(flags[-1])}
    return {}
