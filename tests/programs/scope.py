"""What the generator knows while it writes a kernel: axes, iterations, names, tensors made so far."""
# SPDX-License-Identifier: MIT
import random
from dataclasses import dataclass

from tree import E, Scalar, Tensor, binary, integer, name, number

HALVES = ("bf16", "f16")
TYPES = ("f32", "i32", "bf16", "f16", "e4m3", "e5m2", "i8", "u8", "bool")  # no names
LARGE_D = (1, 3, 16, 24, 32, 40, 64, 64, 72, 100, 128)


@dataclass(frozen=True)
class Axis:
    """A range with a block, or a whole dimension. `of` is the dim it walks along."""
    name: str
    of: str
    full: bool = False

    @property
    def index(self):
        return E("full") if self.full else name(self.name)


@dataclass(frozen=True)
class Iteration:
    """A scalar index, or a pair, with the dimension that it is one of."""
    index: E
    extent: E
    names: tuple
    told: bool = False  # by the index of a range: a store need not name it


class Builder:
    def __init__(self, rng):
        self.rng = rng
        # Of what only a few programs have: the others stay what they are.
        self.aside = random.Random(rng.getstate()[1][1])
        self.params, self.tensors, self.scalars, self.hooks = [], [], [], []
        self.half = rng.choice(HALVES)
        self.dims = {}      # name -> kind: "tile", "scalar"
        self.wanted = []    # dims of temps, which the kernels after them walk along
        self.count = 0
        # Whether NaN and Inf may arise: not ahead of products, where data that a mask removes may reach its neighbours.
        self.raw = False

    def fresh(self, prefix):
        self.count += 1
        made = prefix + str(self.count)
        return self.fresh(prefix) if made in TYPES else made

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, *options):
        """One of (weight, value)."""
        return self.rng.choices([o[1] for o in options], [o[0] for o in options])[0]

    def dim(self, kind="tile"):
        """A run-time extent: often one that exists."""
        known = [d for d, k in self.dims.items() if k == kind]
        wanted = [d for d in self.wanted if d in known]
        if wanted and self.chance(0.6):
            return self.rng.choice(wanted)
        if known and self.chance(0.3):
            return self.rng.choice(known)
        free = [d for d in ("MNKLPQST" if kind == "tile" else "BHGRUW") if d not in self.dims]
        if not free:
            return self.rng.choice(known)
        new = free[0] if self.chance(0.7) else self.rng.choice(free)
        self.dims[new] = kind
        return new

    def parameter(self):
        """A dimension that is bound at compile time."""
        if self.params and (self.chance(0.6) or len(self.params) > 2):
            return self.rng.choice(self.params)[0]
        new = "D" + str(len(self.params))
        self.params.append((new, self.rng.choice(LARGE_D)))
        return new

    def value_of(self, dim):
        return dict(self.params).get(dim)

    def hook(self, parameters, body):
        """A function of the op, called instead of the expression."""
        new = self.fresh("fn")
        self.hooks.append((new, parameters, body))
        return new

    # Tensors -----------------------------------------------------------------

    def indices(self, axes, iterations):
        """Dimensions and indices for some axes and iterations, in any order."""
        parts = []
        ranges = [a for a in axes if not a.full]
        joint = self.rng.sample(ranges, 2) if len(ranges) > 1 and self.chance(0.03) else []
        for axis in axes:
            if axis in joint:
                continue
            parts.append(self.whole(axis, iterations) if axis.full else (name(axis.of), self.vary(axis)))
        if joint:
            parts.append((name(joint[0].of), binary("+", name(joint[0].name), name(joint[1].name))))
        if ranges and self.chance(0.02):  # a diagonal
            axis = self.rng.choice(ranges)
            parts.append((name(axis.of), axis.index))
        for it in iterations:
            parts.append((it.extent, it.index))
        if self.chance(0.35):
            self.rng.shuffle(parts)
        if self.chance(0.05):
            at = self.rng.randrange(len(parts) + 1)
            parts.insert(at, (integer(2), integer(self.rng.randrange(2))))
        return parts or [(integer(2), integer(1))]

    def whole(self, axis, iterations):
        """A dimension that has this whole one, and the index: all of it, or a slice."""
        length = name(axis.of)
        plain = [it for it in iterations if it.index.op == "name" and it.extent.op == "name"]
        kind = self.pick((24, "all"), (1, "half"), (1, "part"), (2 if plain else 0, "number"), (1 if plain else 0, "loaded"))
        slice_ = lambda first: E("slice", axis.of, (first,))
        if kind == "half":
            return binary("*", integer(2), length), slice_(self.rng.choice((integer(0), length)))
        if kind == "part":
            more = self.rng.choice((1, 8, 20))
            return binary("+", length, integer(more)), slice_(integer(self.rng.randrange(more + 4)))
        if kind == "all":
            return length, axis.index
        it = self.rng.choice(plain)
        if kind == "number":
            return binary("*", it.extent, length), slice_(binary("*", it.index, length))
        of = name(self.dim("scalar"))
        number_ = E("load", self.lengths(it.extent.name, of), (it.index,))
        return binary("*", of, length), slice_(binary("*", number_, length))

    def vary(self, axis):
        """The index of a range: itself, shifted, or another function of it."""
        i = axis.index
        shift = integer(self.rng.choice((1, 1, 2, 3, 64)))
        return self.pick((80, i), (6, binary("+", i, shift)), (6, binary("-", i, shift)), (1, binary("/", i, integer(2))),
                         (1, binary("*", i, integer(2))), (1, binary("-", binary("-", name(axis.of), integer(1)), i)),
                         (1, binary("%", i, integer(5))), (3, None)) or E("load", self.lengths(axis.of, name(axis.of)), (i,))

    def load(self, axes, iterations, type_, plain=False):
        """An element of an input, new or known, with these axes."""
        axes, iterations = list(axes), [it for it in iterations if self.chance(0.7)]
        if self.chance(0.8 if self.wanted else 0.3):
            known = self.load_known(axes, type_)
            if known is not None:
                return known
        parts = self.indices(axes, iterations)
        if plain:
            parts = [self.whole(a, iterations) if a.full else (name(a.of), a.index) for a in axes] + [(it.extent, it.index) for it in iterations]
            if self.chance(0.35):
                self.rng.shuffle(parts)
        tensor = self.new_tensor(parts, type_, axes)
        return E("load", tensor.name, tuple(i for _, i in parts))

    def load_known(self, axes, type_):
        """The same with a tensor that is read elsewhere, whose dims the axes walk along."""
        options = []
        temps = [t for t in self.tensors if t.temp] if self.wanted else []
        for t in temps + [t for t in self.tensors if not t.is_output]:
            if t.type != type_:
                continue
            left, indices = list(axes), []
            for dim in t.dims:
                match = next((a for a in left if dim == name(a.of)), None)
                if match is not None:
                    left.remove(match)
                    indices.append(match.index)
                elif dim.op == "int":
                    indices.append(integer(0))
                else:
                    break
            if len(indices) == len(t.dims) and not left:
                options += [E("load", t.name, tuple(indices))] * (4 if t.temp else 1)
        return self.rng.choice(options) if options else None

    def new_tensor(self, parts, type_, axes, **traits):
        dims = tuple(d for d, _ in parts)
        binders, valid, optional, default = (), None, False, None
        loops = [i for i, (d, x) in enumerate(parts) if x.op == "name" and d.op == "name" and d.name in self.dims]
        if loops and not traits and self.chance(0.12):
            at = self.rng.choice(loops)
            binders = tuple("w" if i == at else None for i in range(len(parts)))
            valid = self.validity(parts, at)
            if valid.op == "pairwise":
                binders = tuple("w" if i == at else "r" if i == valid.name else None for i in range(len(parts)))
                valid = valid.args[0]
        elif not traits and self.chance(0.07):
            optional = True
            default = integer(self.rng.choice((0, 1, -2))) if type_ == "i32" else number(self.rng.choice((0, 1, -2, 0.5)))
            if type_ == "bool":
                default = E("bool", self.chance(0.5))
        fill = self.pick((8, "normal"), (1, "sparse"), (1, "steps"), (0.3, "large"))
        tensor = Tensor(self.fresh("x"), type_, dims, binders, valid, optional, default, fill=fill, **traits)
        self.tensors.append(tensor)
        return tensor

    def validity(self, parts, at):
        w, dim = name("w"), parts[at][0]
        kind = self.pick((3, "affine"), (2, "modulo"), (4, "length"), (0.6, "first"))
        if kind == "first":
            return binary("<", w, E("load", self.lengths(self.dim("scalar"), dim), (integer(0),)))
        others = [i for i, (d, x) in enumerate(parts) if i != at and x.op != "pair" and d.op == "name"]
        if kind == "length" and others:
            other = self.rng.choice(others)
            length = self.lengths(parts[other][0].name, dim)
            return E("pairwise", other, (binary("<", w, E("load", length, (name("r"),))),))
        if kind == "modulo":
            m = self.rng.choice((2, 3, 5))
            return binary(self.rng.choice(("==", "!=")), binary("%", w, integer(m)), integer(self.rng.randrange(m)))
        if self.chance(0.5):
            return binary("<", w, binary("-", dim, integer(self.rng.choice((1, 5, 40)))))
        return binary(">=", w, integer(self.rng.choice((1, 7, 17))))

    def lengths(self, of, extent):
        """An i32 tensor over the dim `of` that holds lengths in 0..extent."""
        promise = (integer(0), extent) if self.chance(0.7) else None
        optional = extent.op == "name" and self.chance(0.2)
        for t in self.tensors:
            if t.type == "i32" and t.dims == (name(of),) and t.fill == "bound" and self.chance(0.7):
                return t.name
        tensor = Tensor(self.fresh("len"), "i32", (name(of),), optional=optional, default=extent if optional else None, promise=promise,
                        fill="bound")
        self.tensors.append(tensor)
        return tensor.name

    def scalar(self, type_):
        known = [s for s in self.scalars if s.type == type_]
        if known and self.chance(0.5):
            return name(self.rng.choice(known).name)
        value = integer(self.rng.choice((1, 2, 5, -3))) if type_ == "i32" else number(self.rng.choice((0.5, 1.5, -2, 0.125)))
        self.scalars.append(Scalar(self.fresh("c"), type_, value))
        return name(self.scalars[-1].name)
