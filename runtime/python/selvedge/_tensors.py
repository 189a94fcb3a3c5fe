# Tensors of any framework: their DLPack form, new ones like them, the stream that their framework uses.
# SPDX-License-Identifier: MIT
import ctypes
import sys

from ._errors import BadInput, Unavailable
from ._library import DLTensor

HOST, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
NAMES = {(4, 16): "bf16", (2, 16): "f16", (2, 32): "f32", (2, 64): "f64", (0, 32): "i32", (0, 64): "i64", (0, 8): "i8", (1, 8): "u8", (6, 8): "bool",
         (10, 8): "e4m3", (12, 8): "e5m2"}
TORCH = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64", "i8": "int8", "u8": "uint8", "bool": "bool",
         "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
FLOATS_OF_BYTES = {"torch.float8_e4m3fn": 10, "torch.float8_e5m2": 12}

get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def framework_of(value):
    """The module that a tensor's type is of: "torch", "numpy", "cupy"."""
    return type(value).__module__.partition(".")[0]


class View:
    """A tensor's DLTensor; it and its memory are good as long as the view."""

    def __init__(self, name, value):
        if not hasattr(value, "__dlpack__"):
            raise BadInput(f"tensor '{name}' is a {type(value).__name__}, which DLPack does not know")
        device, _ = value.__dlpack_device__()
        source = value.detach() if getattr(value, "requires_grad", False) else value
        try:
            # -1: the launch is on the caller's stream, which orders it.
            dtype = getattr(source, "dtype", None)
            byte_float = FLOATS_OF_BYTES.get(str(dtype)) if getattr(dtype, "itemsize", 0) == 1 else None
            # Not every PyTorch has DLPack's codes of these: the bytes are the same.
            source = source.view(sys.modules["torch"].uint8) if byte_float else source
            self.capsule = source.__dlpack__(stream=-1) if device in (CUDA, CUDA_MANAGED) else source.__dlpack__()
        except (BufferError, TypeError, ValueError) as error:
            raise BadInput(f"tensor '{name}': {error}") from error
        self.value = value
        self.pointer = get_pointer(self.capsule, b"dltensor")
        self.tensor = DLTensor.from_address(self.pointer)
        if byte_float:
            self.tensor.code = byte_float
        if self.tensor.device_type == CUDA_HOST:
            self.tensor.device_type = HOST

    @property
    def device(self):
        return self.tensor.device_type, self.tensor.device_id


class Described:
    """A DLTensor of memory that somebody else owns; none where only its shape counts. `extents` are of c_int64."""

    def __init__(self, extents, rank, code, bits, data=None, device=(HOST, 0)):
        self.tensor = DLTensor(data, *device, rank, code, bits, 1, extents, None, 0)
        self.pointer = ctypes.addressof(self.tensor)


def empty(like, shape, code, bits, name):
    """A new tensor of `like`'s framework on its device."""
    kind, framework = NAMES[(code, bits)], framework_of(like)
    if framework == "torch" or hasattr(like, "new_empty"):
        torch = sys.modules["torch"]
        return like.new_empty(shape, dtype=getattr(torch, TORCH[kind]))
    if framework in ("numpy", "cupy") and kind not in ("bf16", "e4m3", "e5m2"):
        return sys.modules[framework].empty(shape, TORCH[kind])
    if framework in ("jax", "jaxlib"):
        raise BadInput(f"tensor '{name}': an array of JAX is not written; selvedge.jax.call() returns it")
    raise BadInput(f"tensor '{name}': no new tensor of type {kind} can be made with {framework}; pass one as {name}=")


def current_stream(values, ordinal):
    """The address of the stream that the framework of these tensors uses; 0, the default one, where that is not known."""
    for value in values:
        framework = framework_of(value)
        if framework == "torch" or hasattr(value, "new_empty"):
            return sys.modules["torch"].cuda.current_stream(ordinal).cuda_stream
        if framework == "cupy":
            return sys.modules["cupy"].cuda.get_current_stream().ptr
    return 0


def address_of(stream):
    """The address of a stream: an int, or an object of PyTorch, CuPy or the CUDA bindings."""
    if isinstance(stream, int):
        return stream
    for attribute in ("cuda_stream", "ptr"):
        if isinstance(getattr(stream, attribute, None), int):
            return getattr(stream, attribute)
    if hasattr(stream, "__cuda_stream__"):
        value = stream.__cuda_stream__
        return (value() if callable(value) else value)[1]
    raise Unavailable(f"stream is a {type(stream).__name__}, which has no address")
