"""Handlers of custom calls for the plugin: those of jaxlib and of users, and Python callbacks.

The structures are those of XLA's FFI (docs/spec/pjrt.md 9.1) and of its extension of PJRT (docs/spec/pjrt.md 7).
"""
import atexit
import ctypes
import threading
import traceback
import warnings

import numpy as np

_CALLBACK_TARGETS = ("xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback")
# jax.experimental.buffer_callback: jaxlib's handler does it.
_BUFFER_TARGET = "xla_buffer_python_cpu_callback"
# The number of the type FfiLoadedHostCallbacks of jaxlib: the functions of a run.
_CALLBACKS_TYPE = 7357244197867843242
_FFI_EXTENSION = 5
_KASHI_EXTENSION = 0x4b736869
_METADATA_EXTENSION = 1
_INTERNAL = 13
_EXECUTE = 3
_TOKEN = 17
_STAGES = ("instantiate", "prepare", "initialize", "execute")


class _Extension(ctypes.Structure):
    pass


_Extension._fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.POINTER(_Extension))]


_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class _Version(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("major", ctypes.c_int),
                ("minor", ctypes.c_int)]


class _PjrtApi(ctypes.Structure):
    """The first fields of the table."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.POINTER(_Extension)), ("version", _Version),
                ("Error_Destroy", _FUNCTION), ("Error_Message", _FUNCTION)]


class _MessageArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("error", ctypes.c_void_p),
                ("message", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _DestroyArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("error", ctypes.c_void_p)]


class _PjrtFfiExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("type_register", _FUNCTION), ("user_data_add", ctypes.c_void_p),
                ("register_handler", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p))]


class _KashiExtension(ctypes.Structure):
    """Kashi's own (kashi/pjrt/kashi_c_api.h)."""
    _fields_ = [("base", _Extension), ("await_idle", ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_int64))]


class _RegisterHandlerArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("target_name", ctypes.c_char_p), ("target_name_size", ctypes.c_size_t),
                ("handler", ctypes.c_void_p), ("platform_name", ctypes.c_char_p), ("platform_name_size", ctypes.c_size_t),
                ("traits", ctypes.c_int)]


class _TypeInfo(ctypes.Structure):
    """PJRT's: the functions of a type."""
    _fields_ = [("deleter", ctypes.c_void_p), ("serialize", ctypes.c_void_p), ("deserialize", ctypes.c_void_p)]


class _FfiTypeInfo(ctypes.Structure):
    """The first fields of that of XLA's FFI."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _TypeRegisterArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("name_size", ctypes.c_size_t), ("type_id", ctypes.c_int64), ("info", ctypes.POINTER(_TypeInfo))]


class _Buffer(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("dtype", ctypes.c_int),
                ("data", ctypes.c_void_p), ("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64))]


class _Buffers(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("types", ctypes.c_void_p), ("buffers", ctypes.POINTER(ctypes.POINTER(_Buffer)))]


class _ByteSpan(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class _Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("value", ctypes.c_void_p)]


class _Attributes(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("types", ctypes.POINTER(ctypes.c_int)), ("names", ctypes.POINTER(ctypes.POINTER(_ByteSpan))),
                ("values", ctypes.POINTER(ctypes.c_void_p))]


class _CallFrame(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.POINTER(_Extension)), ("api", ctypes.c_void_p),
                ("ctx", ctypes.c_void_p), ("stage", ctypes.c_int), ("args", _Buffers), ("rets", _Buffers),
                ("attrs", _Attributes)]


class _Metadata(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("version", _Version)]


class _MetadataExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("metadata", ctypes.POINTER(_Metadata))]


class _Api(ctypes.Structure):
    """The functions that a handler calls, up to the last one that is used here."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("version", _Version),
                ("internal", ctypes.c_void_p), ("Error_Create", _FUNCTION), ("Error_GetDetails", _FUNCTION),
                ("Error_Destroy", _FUNCTION), ("Handler_Register", _FUNCTION), ("Stream_Get", _FUNCTION),
                ("Type_Register", _FUNCTION), ("ExecutionContext_Get", _FUNCTION)]


class _Bundle(ctypes.Structure):
    _fields_ = [(stage, ctypes.c_void_p) for stage in _STAGES]


class _HandlerRegisterArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("name", _ByteSpan),
                ("platform", _ByteSpan), ("bundle", _Bundle), ("traits", ctypes.c_uint32)]


class _ErrorCreateArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("message", ctypes.c_char_p),
                ("code", ctypes.c_int)]


class _ErrorDetailsArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("error", ctypes.c_void_p),
                ("message", ctypes.c_char_p), ("code", ctypes.c_int)]


class _ContextGetArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), ("ctx", ctypes.c_void_p),
                ("type_id", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p)]


class _Callbacks(ctypes.Structure):
    _fields_ = [("functions", ctypes.POINTER(ctypes.py_object)), ("count", ctypes.c_uint32)]


# ---- Python callbacks -----------------------------------------------------------------------------------------------


def _dtypes():
    """NumPy's types by XLA's number."""
    import ml_dtypes
    names = {1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32", 9: "uint64",
             10: "float16", 11: "float32", 12: "float64", 15: "complex64", 18: "complex128"}
    types = {number: np.dtype(name) for number, name in names.items()}
    others = {16: "bfloat16", 19: "float8_e5m2", 20: "float8_e4m3fn", 21: "int4", 22: "uint4", 23: "float8_e4m3b11fnuz",
              24: "float8_e5m2fnuz", 25: "float8_e4m3fnuz", 26: "int2", 27: "uint2", 28: "float8_e4m3", 29: "float8_e3m4",
              30: "int1", 31: "uint1", 32: "float4_e2m1fn", 33: "float8_e8m0fnu"}
    types.update((number, np.dtype(getattr(ml_dtypes, name))) for number, name in others.items() if hasattr(ml_dtypes, name))
    return types


_DTYPES = _dtypes()


def _array(buffer):
    """A view of the memory of an argument or a result; None for a token."""
    if buffer.dtype == _TOKEN:
        return None
    shape, dtype = tuple(buffer.dims[:buffer.rank]), _DTYPES[buffer.dtype]
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size == 0:
        return np.zeros(shape, dtype)
    return np.frombuffer((ctypes.c_char * size).from_address(buffer.data), dtype).reshape(shape)


def _arrays(buffers):
    return [_array(buffers.buffers[i].contents) for i in range(buffers.size)]


def _index(attributes):
    """The value of the attribute `index`."""
    for i in range(attributes.size):
        name = attributes.names[i].contents
        if ctypes.string_at(name.ptr, name.len) == b"index":
            scalar = _Scalar.from_address(attributes.values[i])
            return int(np.frombuffer((ctypes.c_char * 8).from_address(scalar.value), np.uint64)[0])
    raise ValueError("the call has no attribute index")


def _function(frame, api):
    """The Python function of the call: a run brings a table of them."""
    number = ctypes.c_int64(_CALLBACKS_TYPE)
    args = _ContextGetArgs(ctypes.sizeof(_ContextGetArgs), None, frame.ctx, ctypes.pointer(number), None)
    error = api.ExecutionContext_Get(ctypes.addressof(args))
    if error:
        raise ValueError("the run has no Python functions: its caller must be JAX")
    callbacks = _Callbacks.from_address(args.data)
    index = _index(frame.attrs)
    if index >= callbacks.count:
        raise ValueError(f"the run has {callbacks.count} Python functions, but the call is for number {index}")
    return callbacks.functions[index]


def _call(frame, api):
    function = _function(frame, api)
    arguments = _arrays(frame.args)
    # They are memory of the run, which ends before the function's last reference may.
    arguments = [None if a is None else a.copy() for a in arguments]
    for argument in arguments:
        if argument is not None:
            argument.flags.writeable = False
    results = tuple(function(*arguments))
    targets = _arrays(frame.rets)
    if len(results) != len(targets):
        raise ValueError(f"the function gave {len(results)} arrays, but the program takes {len(targets)}")
    for target, result in zip(targets, results):
        if target is not None:
            np.copyto(target, np.asarray(result).reshape(target.shape), casting="no")


def _describe(frame):
    """Answers a question for the version of a handler. Returns whether it was one."""
    extension = frame.extension_start
    while extension:
        if extension.contents.type == _METADATA_EXTENSION:
            metadata = ctypes.cast(extension, ctypes.POINTER(_MetadataExtension)).contents.metadata.contents
            metadata.version.major, metadata.version.minor = 0, 3
            return True
        extension = extension.contents.next
    return False


_ffi_table = []  # the plugin's, as soon as it has called the handler


@_FUNCTION
def _handle(address):
    """The handler of Python callbacks."""
    frame = _CallFrame.from_address(address)
    api = _Api.from_address(frame.api)
    _ffi_table[:] = [api]
    try:
        if not _describe(frame) and frame.stage == _EXECUTE:
            _call(frame, api)
        return None
    except BaseException as error:  # none may leave a function that C calls
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        message = f"CpuCallback error calling callback: {text}".encode(errors="replace").replace(b"\0", b"?")
        args = _ErrorCreateArgs(ctypes.sizeof(_ErrorCreateArgs), None, message, _INTERNAL)
        return api.Error_Create(ctypes.addressof(args))


# ---- Registration ---------------------------------------------------------------------------------------------------


_api = []  # the plugin's table


def _extension_of(library, number, structure):
    library.GetPjrtApi.restype = ctypes.POINTER(_PjrtApi)
    _api[:] = [library.GetPjrtApi().contents]
    extension = _api[0].extension_start
    while extension and extension.contents.type != number:
        extension = extension.contents.next
    return ctypes.cast(extension, ctypes.POINTER(structure)).contents


def _await_programs(library):
    """Waits for all programs: what they call of Python cannot run when Python ends."""
    extension = _extension_of(library, _KASHI_EXTENSION, _KashiExtension)
    while not extension.await_idle(100):
        pass  # here Python sees an interrupt


def _register_handler(extension, name, address):
    target = name.encode()
    args = _RegisterHandlerArgs(ctypes.sizeof(_RegisterHandlerArgs), target, len(target), address, b"Host", 4, 0)
    error = extension.register_handler(ctypes.addressof(args))
    if error:
        warnings.warn(f"Kashi cannot use the handler of {name}: {_take_message(error)}")


def _register_type(extension, name, registration):
    """Registers a type of objects that handlers keep: the capsule of its number, or a dict with that of its functions."""
    capsules = registration if isinstance(registration, dict) else {"type_id": registration}
    number = ctypes.c_int64.from_address(_address(capsules["type_id"])).value
    info = _TypeInfo()
    if capsules.get("type_info"):
        info.deleter = _FfiTypeInfo.from_address(_address(capsules["type_info"])).deleter
    text = name.encode()
    args = _TypeRegisterArgs(ctypes.sizeof(_TypeRegisterArgs), None, text, len(text), number, ctypes.pointer(info))
    error = extension.type_register(ctypes.addressof(args))
    if error:
        warnings.warn(f"Kashi cannot use the type {name}: {_take_message(error)}")


def _take_message(error):
    """The text of a PJRT_Error, which is destroyed."""
    api = _api[0]
    message = _MessageArgs(ctypes.sizeof(_MessageArgs), None, error, None, 0)
    api.Error_Message(ctypes.addressof(message))
    text = ctypes.string_at(message.message, message.size).decode(errors="replace")
    destroy = _DestroyArgs(ctypes.sizeof(_DestroyArgs), None, error)
    api.Error_Destroy(ctypes.addressof(destroy))
    return text


def _register_bundle(name, stages):
    """Registers a handler of several stages, through the table of XLA's FFI."""
    target, platform = name.encode(), b"Host"
    bundle = _Bundle(*(_address(stages[stage]) if stages.get(stage) else None for stage in _STAGES))
    args = _HandlerRegisterArgs(ctypes.sizeof(_HandlerRegisterArgs), None, _ByteSpan(_text_address(target), len(target)),
                                _ByteSpan(_text_address(platform), len(platform)), bundle, 0)
    error = _ffi_table[0].Handler_Register(ctypes.addressof(args))
    if error:
        warnings.warn(f"Kashi cannot use the handler of custom-call target {name}: {_take_ffi_message(error)}")


def _take_ffi_message(error):
    """The text of an XLA_FFI_Error, which is destroyed."""
    details = _ErrorDetailsArgs(ctypes.sizeof(_ErrorDetailsArgs), None, error, None, 0)
    _ffi_table[0].Error_GetDetails(ctypes.addressof(details))
    text = details.message.decode(errors="replace")
    destroy = _DestroyArgs(ctypes.sizeof(_DestroyArgs), None, error)
    _ffi_table[0].Error_Destroy(ctypes.addressof(destroy))
    return text


def _text_address(text):
    return ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value


def _address(capsule):
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, get_name(capsule))


_lock = threading.Lock()
_registered = []  # the extensions of the plugins that have the handlers


def register(library):
    """Registers Python callbacks, and all handlers that are registered with JAX for CPUs, now or later."""
    from jaxlib import xla_client
    extension = _extension_of(library, _FFI_EXTENSION, _PjrtFfiExtension)
    with _lock:
        if _registered:
            return
        for target in _CALLBACK_TARGETS:
            _register_handler(extension, target, ctypes.cast(_handle, ctypes.c_void_p).value)
        targets = getattr(xla_client._xla, "custom_call_targets", None)
        of_jaxlib = targets("Host").get(_BUFFER_TARGET) if targets else None
        if of_jaxlib:
            _register_handler(extension, _BUFFER_TARGET, _address(of_jaxlib["execute"]))
        _registered.append(extension)
    atexit.register(_await_programs, library)
    for_jax = xla_client._xla.register_custom_call_target  # of JAX's own client

    def add(name, handler, platform, api_version, traits):
        for_jax(name, handler, platform, api_version, traits)
        if api_version != 1:
            return  # the interface before XLA's FFI
        name = name.decode() if isinstance(name, bytes) else name
        if isinstance(handler, dict):
            _register_bundle(name, handler)
        else:
            _register_handler(extension, name, _address(handler))

    def add_type(name, registration):
        xla_client._xla.register_custom_type(name, registration)  # it chooses the number
        _register_type(extension, name, registration)

    xla_client.register_custom_call_handler("cpu", add)
    if hasattr(xla_client, "register_custom_type_handler"):
        xla_client.register_custom_type_handler("cpu", add_type)
