# Compiles templates and launches them from Python, through libselvedge.
# SPDX-License-Identifier: MIT
import ctypes
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Build:
    """One compiled variant of a template: an artefact in a folder."""

    def __init__(self, template, op, arch, **params):
        self.template, self.op, self.arch = template, op, arch
        self.params = {key: str(value).lower() for key, value in params.items()}

    def file(self):
        return "-".join([self.op, self.arch] + [f"{key}.{value}" for key, value in sorted(self.params.items())]) + ".selv"

    def compile(self, program, templates, folder):
        """None, or what the compiler said."""
        target = os.path.join(folder, self.file())
        if os.path.exists(target):
            os.remove(target)
        command = [program, "compile", os.path.join(templates, self.template), "--op", self.op, "--arch", self.arch, "-o", target]
        for key, value in self.params.items():
            command += ["--set", f"{key}={value}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        return None if done.returncode == 0 else (done.stderr.strip() or f"status {done.returncode}")


def compile_all(builds, program, templates, folder):
    """Compiles into `folder`, with the library beside the artefacts; failures as {file: message}."""
    os.makedirs(folder, exist_ok=True)
    program = shutil.which(program) or program
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(program))), "lib", "libselvedge.so")
    shutil.copy(library, folder)
    unique = {build.file(): build for build in builds}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        messages = pool.map(lambda build: build.compile(program, templates, folder), unique.values())
        return {name: message for name, message in zip(unique, messages) if message}


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Named(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", ctypes.c_void_p)]


class Arguments(ctypes.Structure):
    _fields_ = [("tensors", ctypes.POINTER(Named)), ("tensor_count", ctypes.c_size_t), ("scalars", ctypes.c_void_p), ("scalar_count", ctypes.c_size_t),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_uint64), ("dims", ctypes.c_void_p), ("dim_count", ctypes.c_size_t)]


TYPES = {"bf16": (4, 16), "f16": (2, 16), "f32": (2, 32), "i32": (0, 32), "bool": (6, 8)}


class Layout:
    """A tensor that is only described; torch tensors are converted by `of`."""

    def __init__(self, dtype, shape, strides=None, address=1 << 20, ordinal=0):
        self.dtype, self.shape, self.address, self.ordinal = dtype, tuple(shape), address, ordinal
        self.strides = tuple(strides) if strides else tuple(contiguous(self.shape))

    @staticmethod
    def of(tensor):
        names = {"torch.bfloat16": "bf16", "torch.float16": "f16", "torch.float32": "f32", "torch.int32": "i32", "torch.bool": "bool"}
        return Layout(names[str(tensor.dtype)], tensor.shape, tensor.stride(), tensor.data_ptr(), tensor.device.index or 0)


def contiguous(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return strides


class Call:
    """Arguments in the library's form; owns the memory that they point to."""

    def __init__(self, layouts):
        self.tensors, self.names = [], (Named * len(layouts))()
        for index, (name, layout) in enumerate(layouts.items()):
            rank = len(layout.shape)
            extents = ctypes.c_int64 * rank
            tensor = DLTensor(layout.address, 2, layout.ordinal, rank, *TYPES[layout.dtype], 1, extents(*layout.shape), extents(*layout.strides), 0)
            self.tensors.append(tensor)
            self.names[index] = Named(name.encode(), ctypes.addressof(tensor))
        self.arguments = Arguments(self.names, len(layouts), None, 0, None, 0, None, 0)


class Binding(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class CompileRequest(ctypes.Structure):
    _fields_ = [("source", ctypes.c_char_p), ("file_name", ctypes.c_char_p), ("op", ctypes.c_char_p), ("arch", ctypes.c_char_p), ("bindings", ctypes.POINTER(Binding)),
                ("binding_count", ctypes.c_size_t), ("import_folders", ctypes.POINTER(ctypes.c_char_p)), ("import_folder_count", ctypes.c_size_t), ("exact_masks", ctypes.c_int)]


class Library:
    file = "libselvedge.so"

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.c = ctypes.CDLL(os.path.join(self.folder, self.file))
        for name, result in (("last_error", ctypes.c_char_p), ("load", ctypes.c_void_p), ("origin", ctypes.c_char_p)):
            getattr(self.c, "selvedge_" + name).restype = result
        self.loaded = {}

    def check(self, status):
        if status:
            raise RuntimeError(self.c.selvedge_last_error().decode())

    def describe(self, build, layouts):
        """What a launch would do, as text; needs no GPU."""
        text, call = ctypes.create_string_buffer(1 << 14), Call(layouts)
        path = os.path.join(self.folder, build.file()).encode()
        self.check(self.c.selvedge_describe(path, ctypes.byref(call.arguments), text, ctypes.c_size_t(len(text))))
        return text.value.decode().splitlines()

    def load(self, build):
        path = os.path.join(self.folder, build.file())
        if path not in self.loaded:
            handle = self.c.selvedge_load(path.encode(), 0)
            if not handle:
                raise RuntimeError(self.c.selvedge_last_error().decode())
            self.loaded[path] = ctypes.c_void_p(handle)
        return self.loaded[path]

    def bind(self, build, tensors):
        """A function that launches on PyTorch's current stream."""
        import torch

        op, call, size = self.load(build), Call({name: Layout.of(t) for name, t in tensors.items()}), ctypes.c_uint64()
        self.check(self.c.selvedge_workspace_size(op, ctypes.byref(call.arguments), ctypes.byref(size)))
        workspace = torch.empty(size.value, dtype=torch.uint8, device="cuda")
        if size.value:
            call.arguments.workspace, call.arguments.workspace_bytes = workspace.data_ptr(), size.value
        pointer, stream = ctypes.byref(call.arguments), torch.cuda.current_stream

        def launch(keep=(call, tensors, workspace)):
            self.check(self.c.selvedge_launch(op, pointer, ctypes.c_void_p(stream().cuda_stream)))

        return launch


class Jit(Library):
    """Ops of templates, compiled when they are launched. `folder` is that of the library."""

    file = "libselvedge_jit.so"

    def __init__(self, folder, templates):
        super().__init__(folder)
        self.templates = templates
        self.c.selvedge_jit.restype = ctypes.c_void_p

    def load(self, build):
        if build.file() not in self.loaded:
            path = os.path.join(self.templates, build.template)
            with open(path, "rb") as file:
                source = file.read()
            bindings = (Binding * len(build.params))(*((name.encode(), value.encode()) for name, value in build.params.items()))
            request = CompileRequest(source, path.encode(), build.op.encode(), build.arch.encode(), bindings, len(bindings))
            handle = self.c.selvedge_jit(ctypes.byref(request), 0)
            if not handle:
                raise RuntimeError(self.c.selvedge_last_error().decode())
            self.loaded[build.file()] = ctypes.c_void_p(handle)
        return self.loaded[build.file()]
