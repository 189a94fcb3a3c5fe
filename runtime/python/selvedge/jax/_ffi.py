# A handler of XLA's typed FFI: structures of xla/ffi/api/c_api.h, and what XLA calls on its threads.
# SPDX-License-Identifier: MIT
import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p

from .._errors import BadInput, Unavailable
from .._library import check, library
from .._op import workspace_size
from .._signature import Call
from .._tensors import CUDA, HOST, Described

# What is used here has been in the interface since version 0.1, but for the number of the device, whose presence is checked.
VERSION = 0, 1
METADATA, EXECUTE = 1, 3
# Codes and bits of DLPack by XLA_FFI_DataType.
TYPES = {1: (6, 8), 2: (0, 8), 4: (0, 32), 5: (0, 64), 6: (1, 8), 10: (2, 16), 11: (2, 32), 12: (2, 64), 16: (4, 16), 19: (12, 8), 20: (10, 8)}
INVALID_ARGUMENT, INTERNAL, UNAVAILABLE = 3, 13, 14
# Bytes: of a workspace, and the most that XLA promises.
ALIGNMENT, MOST_ALIGNMENT = 256, 16


class Base(ctypes.Structure):
    """How each structure begins; of an extension also its type."""

    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p)]


class Extension(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("type", c_int32), ("next", c_void_p), ("metadata", c_void_p)]


class Version(Base):
    _fields_ = [("major", c_int32), ("minor", c_int32)]


class Metadata(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("version", Version), ("traits", c_uint32), ("state_type", c_int64)]


class Buffer(Base):
    _fields_ = [("type", c_int32), ("data", c_void_p), ("rank", c_int64), ("extents", POINTER(c_int64))]


class Buffers(Base):
    _fields_ = [("size", c_int64), ("types", c_void_p), ("values", POINTER(POINTER(Buffer)))]


class Text(ctypes.Structure):
    _fields_ = [("address", c_void_p), ("size", c_size_t)]


class Attributes(Base):
    _fields_ = [("size", c_int64), ("types", c_void_p), ("names", POINTER(POINTER(Text))), ("values", POINTER(POINTER(Text)))]


class Api(Base):
    _fields_ = [("version", Version), ("internal", c_void_p), ("functions", c_void_p * 18)]


# Positions in Api.functions.
ERROR_CREATE, STREAM_GET, ALLOCATE, FREE, DEVICE_GET = 0, 4, 9, 10, 17


class Frame(Base):
    _fields_ = [("api", POINTER(Api)), ("context", c_void_p), ("stage", c_int32), ("arguments", Buffers), ("results", Buffers), ("attributes", Attributes)]


class ErrorArguments(Base):
    _fields_ = [("message", c_char_p), ("code", c_int32)]


class StreamArguments(Base):
    _fields_ = [("context", c_void_p), ("stream", c_void_p)]


class DeviceArguments(Base):
    _fields_ = [("context", c_void_p), ("ordinal", c_int32)]


class AllocateArguments(Base):
    _fields_ = [("context", c_void_p), ("size", c_size_t), ("alignment", c_size_t), ("data", c_void_p)]


class FreeArguments(Base):
    _fields_ = [("context", c_void_p), ("size", c_size_t), ("data", c_void_p)]


FUNCTION = ctypes.CFUNCTYPE(c_void_p, c_void_p)


class XlaError(Exception):
    """An XLA_FFI_Error, which goes back to XLA."""

    def __init__(self, pointer):
        self.pointer = pointer


def ask(frame, function, arguments):
    """Calls a function of XLA's table, and returns its arguments, which hold results."""
    api = frame.api.contents
    if api.struct_size < Api.functions.offset + (function + 1) * ctypes.sizeof(c_void_p):
        raise Unavailable("this version of JAX does not tell on which GPU an op runs; 0.6.2 does")
    arguments.struct_size = size_of(arguments)
    if error := FUNCTION(api.functions[function])(ctypes.addressof(arguments)):
        raise XlaError(error)
    return arguments


def size_of(arguments):
    """The size as XLA counts it: to the end of the last field, without padding."""
    last = getattr(type(arguments), type(arguments)._fields_[-1][0])
    return last.offset + last.size


def describe(frame):
    """Tells XLA the version; nothing else is asked of a handler that keeps no state and is in no command buffer."""
    extension = Extension.from_address(frame.extension)
    if extension.type != METADATA:
        return False
    metadata = Metadata.from_address(extension.metadata)
    metadata.version.major, metadata.version.minor = VERSION
    metadata.traits = 0
    return True


def views_of(frame, names, device):
    """Tensors by name. One that is an argument and a result, too, has one memory."""
    views, places = {}, [buffers.values[index].contents for buffers in (frame.arguments, frame.results) for index in range(buffers.size)]
    for name, buffer in zip(names, places):
        if name in views and views[name].tensor.data != buffer.data:
            raise BadInput(f"tensor '{name}' is written in place, and XLA has two places for it")
        views[name] = Described(buffer.extents, buffer.rank, *TYPES[buffer.type], buffer.data, device)
    return views


def run_on_host(frame, work):
    work.op._run_reference(Call(views_of(frame, work.tensors, (HOST, 0)), work.scalars, work.dims))


def run_on_gpu(frame, work):
    ordinal = ask(frame, DEVICE_GET, DeviceArguments(context=frame.context)).ordinal
    stream = ask(frame, STREAM_GET, StreamArguments(context=frame.context)).stream
    call = Call(views_of(frame, work.tensors, (CUDA, ordinal)), work.scalars, work.dims)
    handle, c = work.op._on(ordinal), library()
    size = workspace_size(handle, call)
    if not size:
        return check(c.selvedge_launch(handle, call.pointer, stream))
    whole = size + ALIGNMENT - MOST_ALIGNMENT
    memory = ask(frame, ALLOCATE, AllocateArguments(context=frame.context, size=whole, alignment=MOST_ALIGNMENT)).data
    try:
        call.arguments.workspace, call.arguments.workspace_bytes = memory + -memory % ALIGNMENT, size
        check(c.selvedge_launch(handle, call.pointer, stream))
    finally:
        # XLA gives it to work that comes later on this stream.
        ask(frame, FREE, FreeArguments(context=frame.context, size=whole, data=memory))


def error_of(frame, error):
    """Its message as an XLA_FFI_Error."""
    code = INVALID_ARGUMENT if isinstance(error, BadInput) else UNAVAILABLE if isinstance(error, Unavailable) else INTERNAL
    text = str(error) if type(error).__module__.startswith("selvedge") else f"{type(error).__name__}: {error}"
    arguments = ErrorArguments(message=text.encode(), code=code)
    arguments.struct_size = size_of(arguments)
    return FUNCTION(frame.api.contents.functions[ERROR_CREATE])(ctypes.addressof(arguments))


def handler(find, run):
    """A function for XLA: `find` gives the work that an attribute's text names, `run` does it."""

    def handle(address):
        frame = Frame.from_address(address)
        try:
            if frame.extension and describe(frame) or frame.stage != EXECUTE:
                return None
            text = frame.attributes.values[0].contents
            run(frame, find(ctypes.string_at(text.address, text.size)))
        except XlaError as error:
            return error.pointer
        except BaseException as error:  # noqa: BLE001 nothing may pass through XLA
            return error_of(frame, error)
        return None

    return FUNCTION(handle)
