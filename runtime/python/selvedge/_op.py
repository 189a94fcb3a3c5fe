# Ops: compiled when they are called, or loaded from an artefact.
# SPDX-License-Identifier: MIT
import ctypes
import functools
import hashlib
import os
import sys
import threading
from collections import namedtuple

from . import _tensors
from ._errors import BadInput, Unavailable
from ._library import Binding, CompileRequest, array_of, check, library, not_null
from ._signature import Call, Signature


class Request:
    """A source and its bindings, in the library's form."""

    def __init__(self, source, op, folders, exact_masks, sets, arch=None):
        if op is None and not isinstance(source, os.PathLike) and source.endswith(".tile") and "\n" not in source and not os.path.exists(source):
            # A shipped template, which is imported: its first op has its name.
            op = os.path.basename(source).removesuffix(".tile")
        text, name = read_source(source)
        bindings = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in sets.items()}
        self.identity = text, name, op, [os.fspath(folder) for folder in folders], exact_masks, sorted(bindings.items())
        self.words = array_of(Binding, [(key.encode(), value.encode()) for key, value in bindings.items()])
        folders = [os.fsencode(folder) for folder in folders]
        self.folders = array_of(ctypes.c_char_p, folders)
        self.request = CompileRequest(text.encode(), name.encode(), op.encode() if op else None, arch.encode() if arch else None, self.words, len(bindings),
                                      self.folders, len(folders), int(exact_masks))
        self.pointer = ctypes.byref(self.request)


def read_source(source):
    """Text and name: of a path, of the name of a .tile file that an import would find, or of a text itself."""
    if not isinstance(source, os.PathLike) and (not source.endswith(".tile") or "\n" in source):
        return source, "<text>"
    path = os.fspath(source)
    if not os.path.exists(path) and os.path.basename(path) == path:
        return f'import "{path}";', "<text>"
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(), path
    except OSError as error:
        raise BadInput(f"cannot read '{path}': {error.strerror}") from error


class Op:
    """An op of the tile language. Call it with its inputs in order, or any tensor, scalar and dim by name:

        o, lse = op(q, k, v, scale=0.1)         # new outputs, one or a named tuple
        op(q, k, v, o=o, lse=lse)               # into these
        op(q, k, v, dims={"S": 4}, stream=s)    # a dim that no shape determines; a stream instead of the framework's current one
        op(q, k, v, kv_len=n, validate=True)    # checks what the op requires of integers first, and raises BadInput: waits for the stream

    Tensors are those of one device: a GPU, on which the op is compiled with the first call, or host memory, where it runs on the reference device.
    """

    def __init__(self, signature, load, reference=None, identity=None):
        self.signature, self._load, self._reference = signature, load, reference
        self._identity = identity
        self._loaded, self._lock = {}, threading.Lock()
        self._outputs = namedtuple("Outputs", [tensor.name for tensor in signature.outputs], rename=True)

    def __repr__(self):
        return f"<selvedge.Op {self.signature}>"

    def _on(self, ordinal):
        """The library's op on GPU `ordinal`, made when it is first asked for."""
        if ordinal not in self._loaded:
            with self._lock:
                if ordinal not in self._loaded:
                    self._loaded[ordinal] = Handle(self._load(ordinal))
        return self._loaded[ordinal].value

    @functools.cached_property
    def _key(self):
        """A text that is equal for equal sources and bindings, or artefacts, in every process."""
        identity = self._identity()
        return hashlib.sha256(identity if isinstance(identity, bytes) else repr(identity).encode()).hexdigest()

    def _sort(self, args, named):
        """{name: tensor} and {name: scalar} of the arguments of a call."""
        signature = self.signature
        inputs = signature.inputs
        if len(args) > len(inputs):
            raise BadInput(f"{len(args)} tensors by position, but there are {len(inputs)}: {signature}")
        tensors, scalars = dict(zip((tensor.name for tensor in inputs), args)), {}
        for name, value in named.items():
            if name in tensors:
                raise BadInput(f"tensor '{name}' is given twice")
            if name in signature.tensors:
                tensors[name] = value
            elif name in signature.scalars:
                if value is not None:
                    scalars[name] = value
            else:
                raise BadInput(f"op '{signature.name}' has no tensor or scalar '{name}': {signature}")
        for tensor in inputs:
            if not tensor.optional and tensors.get(tensor.name) is None:
                raise BadInput(f"tensor '{tensor.name}' is missing: {tensor.type}")
        return {name: value for name, value in tensors.items() if value is not None}, scalars

    def _shape(self, tensor, call):
        """The extents of an output that a call has."""
        shape = (ctypes.c_int64 * tensor.rank)()
        check(library().selvedge_tensor_shape(self.signature.handle, call.pointer, tensor.index, shape))
        return tuple(shape)

    def _allocate(self, views, scalars, dims):
        """Outputs that were not given."""
        missing = [tensor for tensor in self.signature.outputs if tensor.name not in views]
        if not missing:
            return
        call, like = Call(views, scalars, dims), next((view.value for view in views.values()), None)
        for tensor in missing:
            if like is None:
                raise BadInput(f"tensor '{tensor.name}' is missing, and there is no other to make one like: {tensor.type}")
            views[tensor.name] = _tensors.View(tensor.name, _tensors.empty(like, self._shape(tensor, call), tensor.code, tensor.bits, tensor.name))

    def _launch(self, ordinal, views, scalars, dims, stream, action):
        handle, c, call = self._on(ordinal), library(), Call(views, scalars, dims)
        size = workspace_size(handle, call)
        like = next(view.value for view in views.values())
        if size:
            workspace = _tensors.View("workspace", _tensors.empty(like, (size,), 1, 8, "workspace"))
            call.arguments.workspace, call.arguments.workspace_bytes = workspace.tensor.data, size
        if action == "prepare":
            return check(c.selvedge_prepare(handle, call.pointer))
        address = _tensors.current_stream([view.value for view in views.values()], ordinal) if stream is None else _tensors.address_of(stream)
        launch = c.selvedge_launch_validated if action == "validate" else c.selvedge_launch
        check(launch(handle, call.pointer, address))

    def _run(self, args, named, dims, stream, action):
        tensors, scalars = self._sort(args, named)
        views = {name: _tensors.View(name, value) for name, value in tensors.items()}
        dims = dims or {}
        self._allocate(views, scalars, dims)
        kinds = {view.device for view in views.values()}
        if len(kinds) > 1:
            places = ", ".join(f"'{name}' is on device {view.device}" for name, view in views.items())
            raise BadInput(f"tensors are on different devices: {places}")
        kind, ordinal = next(iter(kinds), (_tensors.HOST, 0))
        if kind in (_tensors.CUDA, _tensors.CUDA_MANAGED):
            self._launch(ordinal, views, scalars, dims, stream, action)
        elif kind != _tensors.HOST:
            raise BadInput(f"tensors are on device type {kind}: neither host memory nor CUDA")
        elif action != "prepare" or self._reference is None:
            # It checks what the op requires in any case.
            self._run_reference(Call(views, scalars, dims))
        outputs = [views[tensor.name].value for tensor in self.signature.outputs]
        return outputs[0] if len(outputs) == 1 else self._outputs(*outputs)

    def _run_reference(self, call):
        """Executes a call whose tensors are in host memory."""
        if self._reference is None:
            raise Unavailable("tensors are in host memory, and an artefact runs on a GPU only; selvedge.jit() has the reference device")
        self._reference(call)

    def __call__(self, *args, dims=None, stream=None, validate=False, **named):
        """Launches, and returns the outputs: one as it is, several as a named tuple. BadInput, Unavailable, Failed: with the library's message."""
        return self._run(args, named, dims, stream, "validate" if validate else "launch")

    def prepare(self, *args, dims=None, **named):
        """Compiles and loads what a call with such tensors needs, and launches nothing: before a CUDA graph is captured, say. Returns the outputs."""
        return self._run(args, named, dims, None, "prepare")


def workspace_size(handle, call):
    """Bytes of memory that a call needs beside its tensors."""
    size = ctypes.c_uint64()
    check(library().selvedge_workspace_size(handle, call.pointer, ctypes.byref(size)))
    return size.value


class Handle:
    """The library's op, unloaded at the end."""

    def __init__(self, pointer):
        self.value = pointer
        self.unload, self.ends = library().selvedge_unload, sys.is_finalizing

    def __del__(self):
        # At the end of the program the driver may be gone before its modules are.
        if not self.ends():
            self.unload(self.value)


def jit(source, op=None, *, folders=(), exact_masks=False, **sets):
    """The op of a source, compiled when it is called: for each GPU, and each class of strides and alignments, with its first call.

    source: text, path of a .tile file, or name of a shipped template ("flash_fwd.tile").
    op: its name, `grad(NAME)` for gradients; default the first one. folders: where imported files are looked for.
    exact_masks: what a mask removes has no influence even where it is NaN. sets: parameters (D=64, causal=True).
    """
    request = Request(source, op, folders, exact_masks, sets)
    c = library()
    handle = not_null(c.selvedge_source_signature(request.pointer))
    owner = SignatureHandle(handle)
    return Op(Signature(handle, owner), lambda ordinal: not_null(c.selvedge_jit(request.pointer, ordinal)),
              lambda call: check(c.selvedge_run_reference(request.pointer, call.pointer)), lambda: request.identity)


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


class SignatureHandle:
    def __init__(self, handle):
        self.handle, self.free = handle, library().selvedge_free_signature

    def __del__(self):
        self.free(self.handle)


def load(artefact):
    """The op of an artefact: a path, or its bytes. It is loaded on each GPU whose tensors it is called with."""
    c = library()
    if isinstance(artefact, (bytes, bytearray, memoryview)):
        content = bytes(artefact)
        handle = not_null(c.selvedge_decode_signature(content, len(content)))
        return Op(Signature(handle, SignatureHandle(handle)), lambda ordinal: not_null(c.selvedge_load_memory(content, len(content), ordinal)),
                  identity=lambda: content)
    path = os.fsencode(artefact)
    handle = not_null(c.selvedge_read_signature(path))
    return Op(Signature(handle, SignatureHandle(handle)), lambda ordinal: not_null(c.selvedge_load(path, ordinal)), identity=lambda: read_bytes(path))


def compile(source, op=None, *, arch, folders=(), exact_masks=False, **sets):
    """The artefact of a source for `arch` ("sm_80" or "sm_90a"), as bytes for a file or for load(); arguments as those of jit()."""
    request, c, compiled, size = Request(source, op, folders, exact_masks, sets, arch), library(), ctypes.c_void_p(), ctypes.c_size_t()
    check(c.selvedge_compile(request.pointer, ctypes.byref(compiled)))
    try:
        return ctypes.string_at(c.selvedge_compiled_bytes(compiled, ctypes.byref(size)), size.value)
    finally:
        c.selvedge_free_compiled(compiled)
