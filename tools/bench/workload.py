# What the harness asks of a workload, and what a candidate may answer.
# SPDX-License-Identifier: MIT
from dataclasses import dataclass, field


class Missing(Exception):
    """The candidate's package is not there."""


class Unsupported(Exception):
    """The candidate does not compute this cell, or is left out of it."""


@dataclass
class Cell:
    """One problem that all candidates solve.

    Cells of a family share a table and a plot, over `x`. `work` is what one launch does, in FLOP or bytes.
    """

    family: str
    x: str
    work: float
    unit: str
    shape: dict = field(default_factory=dict)

    @property
    def name(self):
        return f"{self.family} {self.x}"

    def __getattr__(self, key):
        try:
            return self.__dict__["shape"][key]
        except KeyError:
            raise AttributeError(key) from None

    def rate(self, milliseconds):
        """TFLOP/s or TB/s."""
        return self.work / milliseconds / 1e9


@dataclass
class Candidate:
    """A way to compute a cell.

    `make(cell, data, context)` returns a function that launches once and returns its raw result, and one that makes of a raw result
    what `reference` returns. It raises Missing or Unsupported.
    """

    name: str
    make: object
    # Not an implementation but a bound, such as a copy of the same bytes: not verified, no peer.
    roof: bool = False
    # Whether the candidate takes part in this cell unless --every asks for it.
    sampled: object = lambda cell: True


@dataclass
class Context:
    """What candidates share: the compiled kernels and the target."""

    library: object = None
    arch: str = "sm_90a"
    failures: dict = field(default_factory=dict)

    def bind(self, build, tensors):
        if build.file() in self.failures:
            raise RuntimeError("selvedge compile: " + self.failures[build.file()])
        return self.library.bind(build, tensors)
