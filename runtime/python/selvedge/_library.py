# The C interface: where the library lies, and its functions and structures.
# SPDX-License-Identifier: MIT
import ctypes
import functools
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p

from ._errors import OF_STATUS, SelvedgeError, Unavailable

FILE = "libselvedge_jit.so"
IN, OUT, INOUT, TEMP = range(4)


class DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8),
                ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class NamedTensor(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("tensor", c_void_p)]


class NamedScalar(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class NamedDim(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class Arguments(ctypes.Structure):
    _fields_ = [("tensors", POINTER(NamedTensor)), ("tensor_count", c_size_t), ("scalars", POINTER(NamedScalar)), ("scalar_count", c_size_t),
                ("workspace", c_void_p), ("workspace_bytes", c_uint64), ("dims", POINTER(NamedDim)), ("dim_count", c_size_t)]


class Binding(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class CompileRequest(ctypes.Structure):
    _fields_ = [("source", c_char_p), ("file_name", c_char_p), ("op", c_char_p), ("arch", c_char_p), ("bindings", POINTER(Binding)),
                ("binding_count", c_size_t), ("import_folders", POINTER(c_char_p)), ("import_folder_count", c_size_t), ("exact_masks", c_int)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("role", c_int), ("code", c_uint8), ("bits", c_uint8), ("rank", c_size_t), ("optional", c_int), ("type", c_char_p)]


class ScalarInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("code", c_uint8), ("bits", c_uint8), ("has_default", c_int), ("default_value", c_double)]


def places():
    """Where the library may be: named, in a wheel, an installation or unpacked bundle, a build folder."""
    if named := os.environ.get("SELVEDGE_LIBRARY"):
        return [named]
    here = os.path.dirname(os.path.abspath(__file__))
    ways = ("lib", "../../../../lib", "../../../build/lib", "../../../build-release/lib")
    return [os.path.normpath(os.path.join(here, way, FILE)) for way in ways]


@functools.cache
def library():
    """The library, with the types of what is called; an error that names all places where there is none."""
    for path in places():
        if os.path.exists(path):
            break
    else:
        raise Unavailable(f"there is no {FILE}; SELVEDGE_LIBRARY may name one. Looked at: {', '.join(places())}")
    try:
        c = ctypes.CDLL(path)
    except OSError as error:
        raise Unavailable(f"cannot load '{path}': {error}") from error
    pointers = "load load_memory jit origin op_signature source_signature read_signature decode_signature compiled_bytes"
    texts = "version last_error origin signature_name signature_arch get_dim compiled_warnings"
    for names, result in ((pointers, c_void_p), (texts, c_char_p), ("tensor_count scalar_count dim_count param_count", c_size_t)):
        for name in names.split():
            getattr(c, "selvedge_" + name).restype = result
    handles = {"load": [c_char_p, c_int], "load_memory": [c_char_p, c_size_t, c_int], "unload": [c_void_p], "origin": [c_void_p], "op_signature": [c_void_p],
               "workspace_size": [c_void_p, c_void_p, c_void_p], "prepare": [c_void_p, c_void_p], "launch": [c_void_p, c_void_p, c_void_p],
               "launch_validated": [c_void_p, c_void_p, c_void_p],
               "jit": [c_void_p, c_int], "source_signature": [c_void_p], "run_reference": [c_void_p, c_void_p], "free_signature": [c_void_p],
               "read_signature": [c_char_p], "decode_signature": [c_char_p, c_size_t], "signature_name": [c_void_p], "signature_arch": [c_void_p],
               "tensor_count": [c_void_p], "scalar_count": [c_void_p], "dim_count": [c_void_p], "param_count": [c_void_p],
               "get_tensor": [c_void_p, c_size_t, c_void_p], "get_scalar": [c_void_p, c_size_t, c_void_p], "get_dim": [c_void_p, c_size_t],
               "get_param": [c_void_p, c_size_t, c_void_p, c_void_p], "tensor_shape": [c_void_p, c_void_p, c_size_t, c_void_p],
               "compile": [c_void_p, c_void_p], "compiled_bytes": [c_void_p, c_void_p], "compiled_warnings": [c_void_p], "free_compiled": [c_void_p]}
    for name, types in handles.items():
        getattr(c, "selvedge_" + name).argtypes = types
    return c


def last_error():
    c = library()
    return OF_STATUS.get(c.selvedge_last_status(), SelvedgeError)(c.selvedge_last_error().decode().rstrip())


def check(status):
    if status:
        raise last_error()


def not_null(pointer):
    if not pointer:
        raise last_error()
    return c_void_p(pointer)


def version():
    """The version of the library."""
    return library().selvedge_version().decode()


@functools.cache
def array_type(kind, count):
    return kind * count


def array_of(kind, pairs):
    return array_type(kind, len(pairs))(*pairs) if pairs else None
