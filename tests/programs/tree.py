"""Programs as trees: what the generator makes, and everything else reads."""
# SPDX-License-Identifier: MIT
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class E:
    """An expression.

    op       name            args               axes
    int      value
    float    value
    bool     value
    name     the name
    load     tensor          indices
    view     the view           indices
    full                                        (index only) a whole dimension
    slice    parameter       start              (index only) as many elements as the parameter says
    pair                     two indices        (index only)
    neg, not                 operand
    bin      + - * / % < <= > >= == != && ||    operands
    call     exp max select rel ...             operands
    reduce   sum max min count                  operand, axes
    dot      precision       two operands
    where                    value, condition
    else                     value, otherwise
    cast     element type    operand
    zeros    element type                       axes
    method   update include merge normalize weight lse; args[0] names the softmax
    any                         condition       (of a loop's `when` only)
    present  tensor             two values      the first where the caller passes the tensor
    softmax                                     axes: a new state for these rows
    choose                   condition, two values of which it takes one at compile time
    """
    op: str
    name: object = None
    args: tuple = ()
    axes: tuple = ()

    def walk(self):
        yield self
        for arg in self.args:
            yield from arg.walk()


@dataclass(frozen=True)
class Range:
    """`name in lo..hi by block`; with `block` the name is an axis. A pair of
    names ranges over a pair of extents; with `fused` the pair is one axis of
    that name, `name = (fused, pair) in (hi, extent)`. With `part`, a number and
    how many there are, the range of a kernel is split."""
    name: str
    hi: E
    lo: E = None
    block: str = None
    pair: tuple = None  # (name, extent) of the second part
    part: tuple = None  # (number, count), the count an integer
    fused: str = None   # name of the first part


@dataclass(frozen=True)
class Stmt:
    """kind: let var set add store gather for do if. `store` and `gather`, which adds to memory, have a load as target; `if` has a condition on parameters as value,
    `for` one of the steps that are not left out, without axes or `any` of lanes."""
    kind: str
    name: str = None
    value: E = None
    target: E = None
    range: Range = None
    body: tuple = ()
    orelse: tuple = ()

    def expressions(self):
        for e in (self.value, self.target):
            if e is not None:
                yield e
        if self.range:
            yield from (e for e in (self.range.lo, self.range.hi) if e is not None)


@dataclass(frozen=True)
class Tensor:
    name: str
    type: str
    dims: tuple                 # expressions over dims and parameters
    binders: tuple = ()         # a name or None per dim
    valid: E = None
    optional: bool = False
    default: E = None
    promise: tuple = None       # (lo, hi), expressions over dims
    init: object = None         # outputs: a number or "keep"; a temp may have none
    overflow: str = None        # outputs: "sat", "inf" or None
    fill: str = "normal"        # how inputs are drawn (inputs.py)
    temp: bool = False          # stored by kernels, loaded by later ones
    deterministic: bool = False # outputs: additions are made in order
    ones: tuple = ()            # dimensions in which the caller may give one element for all (`~`)
    segments: E = None          # an extent: bounds of segments of so many rows
    inout: bool = False         # loaded and stored: an output whose init is "keep"

    @property
    def is_output(self):
        return self.init is not None or self.temp


@dataclass(frozen=True)
class Scalar:
    name: str
    type: str
    default: E


@dataclass(frozen=True)
class Kernel:
    name: str
    ranges: tuple
    body: tuple


@dataclass(frozen=True)
class Extension:
    """An op that extends the rest of its program."""
    bound: tuple                # names of parameters that it binds
    hooks: tuple                # (name, parameters, expression) that it overrides
    own: tuple = ()             # names of inputs of its own


@dataclass(frozen=True)
class Program:
    name: str
    params: tuple               # (name, integer, flag or element type)
    tensors: tuple
    scalars: tuple
    kernels: tuple
    hooks: tuple = ()           # (name, parameters, expression)
    extends: Extension = None
    views: tuple = ()           # (name, parameters, load, condition or None)
    launches: tuple = ()        # (dim, lo, hi): sizes that each launch chooses


@dataclass(frozen=True)
class Case:
    """Values of a run: extents, tensors left out, and a seed for the rest."""
    dims: tuple                 # (name, integer)
    absent: tuple = ()
    scalars: tuple = ()         # (name, value) where not the default
    seed: int = 0
    special: bool = False       # some inputs hold NaN and Inf


def integer(value):
    return E("int", int(value))


def number(value):
    return E("float", float(value))


def name(text):
    return E("name", text)


def binary(op, a, b):
    return E("bin", op, (a, b))


def call(function, *args):
    if function in ("max", "min") and args[1].op == "name":
        # `max(t, j)` with an axis j is a reduction.
        args = (args[0], E("bin", "+", (args[1], E("int", 0))))
    return E("call", function, tuple(args))


def statements(body):
    """All statements, those in loops included."""
    for stmt in body:
        yield stmt
        yield from statements(stmt.body)
        yield from statements(stmt.orelse)


def expressions(program):
    """All expressions of kernels and signature."""
    for kernel in program.kernels:
        for r in kernel.ranges:
            yield from r.hi.walk()
            if r.lo is not None:
                yield from r.lo.walk()
            for e in r.part or ():
                yield from e.walk()
        for stmt in statements(kernel.body):
            for e in stmt.expressions():
                yield from e.walk()
    for _, _, load, valid in program.views:
        yield from load.walk()
        if valid is not None:
            yield from valid.walk()
    for tensor in program.tensors:
        for e in tensor.dims + (tensor.promise or ()) + (() if tensor.segments is None else (tensor.segments,)) + tuple(x for x in (tensor.valid, tensor.default) if x is not None):
            yield from e.walk()


__all__ = ["E", "Range", "Stmt", "Tensor", "Scalar", "Kernel", "Extension", "Program", "Case", "integer", "number", "name", "binary",
           "call", "statements", "expressions", "replace", "field"]
