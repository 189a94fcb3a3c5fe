# The handler for GPUs of selvedge.jax, called as XLA does, with a driver that executes axpy on the CPU.
# SPDX-License-Identifier: MIT
import ctypes
import json
import os

os.environ["JAX_PLATFORMS"] = "cpu"
import selvedge  # noqa: E402
from selvedge.jax import _call, _ffi  # noqa: E402

calls, kept = [], []


def function(number, kind=None):
    """One of XLA's table; it notes that it was called."""

    def decorate(action):
        def called(address):
            return action(kind.from_address(address) if kind else None)

        kept.append(_ffi.FUNCTION(called))
        api.functions[number] = ctypes.cast(kept[-1], ctypes.c_void_p).value

    return decorate


api = _ffi.Api(struct_size=ctypes.sizeof(_ffi.Api))


@function(_ffi.ERROR_CREATE, _ffi.ErrorArguments)
def _(arguments):
    print(f"error {arguments.code}: {arguments.message.decode()}")
    return 1


@function(_ffi.STREAM_GET, _ffi.StreamArguments)
def _(arguments):
    calls.append("stream")
    arguments.stream = 0


@function(_ffi.DEVICE_GET, _ffi.DeviceArguments)
def _(arguments):
    calls.append("device")
    arguments.ordinal = ordinal


def buffers(arrays):
    made = [_ffi.Buffer(type=11, data=ctypes.addressof(memory), rank=2, extents=(ctypes.c_int64 * 2)(*shape)) for memory, shape in arrays]
    pointers = (ctypes.POINTER(_ffi.Buffer) * len(made))(*map(ctypes.pointer, made))
    kept.extend((made, pointers))
    return _ffi.Buffers(size=len(made), values=pointers)


def run(work, x, y, stage=_ffi.EXECUTE):
    text = json.dumps(work).encode()
    memory = ctypes.create_string_buffer(text)
    attribute = _ffi.Text(ctypes.addressof(memory), len(text))
    attributes = _ffi.Attributes(size=1, values=(ctypes.POINTER(_ffi.Text) * 1)(ctypes.pointer(attribute)))
    frame = _ffi.Frame(api=ctypes.pointer(api), stage=stage, arguments=buffers([(x, (3, 5))]), results=buffers([(y, (3, 5))]), attributes=attributes)
    return _call.HANDLERS["CUDA"](ctypes.addressof(frame))


metadata = _ffi.Metadata(traits=7)
metadata.version.minor = 9
extension = _ffi.Extension(type=_ffi.METADATA, metadata=ctypes.addressof(metadata))
question = _ffi.Frame(extension=ctypes.addressof(extension))
print("metadata:", _call.HANDLERS["CUDA"](ctypes.addressof(question)), metadata.version.major, metadata.version.minor, metadata.traits)

axpy = selvedge.jit(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/Inputs/axpy.tile"))
_call.ops[axpy._key] = axpy
x, y = (ctypes.c_float * 15)(*range(15)), (ctypes.c_float * 15)()
work = {"key": axpy._key, "op": "axpy", "tensors": ["x", "y"], "scalars": {"a": 3}, "dims": {}}
for ordinal in (0, 1):
    y[:] = [0] * 15
    print("launched:", run(work, x, y), calls, *(f"{value:g}" for value in y))
    calls.clear()
print("another stage:", run(work, x, y, 0), calls)
ordinal = 2
print("third GPU:", run(work, x, y))
ordinal = 0
print("another process:", run({**work, "key": "0"}, x, y))
print("two places:", run({**work, "tensors": ["x", "x"]}, x, y))
api.struct_size = 64
print("old XLA:", run(work, x, y))
