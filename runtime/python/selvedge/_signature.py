# What an op takes.
# SPDX-License-Identifier: MIT
import ctypes
from collections import namedtuple

from ._library import IN, INOUT, OUT, TEMP, Arguments, NamedDim, NamedScalar, NamedTensor, ScalarInfo, TensorInfo, array_of, check, library

Tensor = namedtuple("Tensor", "name index role code bits rank optional type")
Scalar = namedtuple("Scalar", "name has_default default")


class Signature:
    """Tensors, scalars, dims and parameters of an op. `handle` stays valid as long as `owner`."""

    def __init__(self, handle, owner=None):
        c, self.handle, self.owner = library(), handle, owner
        self.name, self.arch = c.selvedge_signature_name(handle).decode(), c.selvedge_signature_arch(handle).decode()
        info, scalar = TensorInfo(), ScalarInfo()
        self.tensors, self.scalars, self.params = {}, {}, {}
        for index in range(c.selvedge_tensor_count(handle)):
            check(c.selvedge_get_tensor(handle, index, ctypes.byref(info)))
            name = info.name.decode()
            if info.role != TEMP:
                self.tensors[name] = Tensor(name, index, info.role, info.code, info.bits, info.rank, bool(info.optional), info.type.decode())
        for index in range(c.selvedge_scalar_count(handle)):
            check(c.selvedge_get_scalar(handle, index, ctypes.byref(scalar)))
            name = scalar.name.decode()
            self.scalars[name] = Scalar(name, bool(scalar.has_default), scalar.default_value)
        self.dims = [c.selvedge_get_dim(handle, index).decode() for index in range(c.selvedge_dim_count(handle))]
        for index in range(c.selvedge_param_count(handle)):
            name, value = ctypes.c_char_p(), ctypes.c_char_p()
            check(c.selvedge_get_param(handle, index, ctypes.byref(name), ctypes.byref(value)))
            self.params[name.value.decode()] = value.value.decode()
        self.inputs = [tensor for tensor in self.tensors.values() if tensor.role in (IN, INOUT)]
        self.outputs = [tensor for tensor in self.tensors.values() if tensor.role == OUT]

    def __str__(self):
        words = [f"{'inout ' if t.role == INOUT else ''}{t.name}: {t.type}{'?' if t.optional else ''}" for t in self.inputs]
        words += [s.name + (f" = {s.default:g}" if s.has_default and s.default == s.default else "") for s in self.scalars.values()]
        return f"{self.name}({', '.join(words)}) -> ({', '.join(f'{t.name}: {t.type}' for t in self.outputs)})"


class Call:
    """Arguments in the library's form; owns what they point to."""

    def __init__(self, views, scalars, dims):
        self.views = views
        self.tensors = array_of(NamedTensor, [(name.encode(), view.pointer) for name, view in views.items()])
        self.scalars = array_of(NamedScalar, [(name.encode(), float(value)) for name, value in scalars.items()]) if scalars else None
        self.dims = array_of(NamedDim, [(name.encode(), int(value)) for name, value in dims.items()]) if dims else None
        self.arguments = Arguments(self.tensors, len(views), self.scalars, len(scalars), None, 0, self.dims, len(dims))
        self.pointer = ctypes.byref(self.arguments)
