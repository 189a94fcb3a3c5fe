"""Programs whose results depend on the block size, which the language refuses: made from valid ones."""
# SPDX-License-Identifier: MIT
import execute
import inputs
import judge
from reduce import change, rebuild
from tree import binary, name, number, replace, statements


def folds(program):
    """Statements of loops over blocks that fold into a variable."""
    return [s for k in program.kernels for loop in statements(k.body) if loop.kind == "for" and loop.range.block
            for s in loop.body if s.kind in ("add", "set")]


def updates(program):
    return [s for k in program.kernels for s in statements(k.body)
            for e in s.expressions() if e.op == "method" and e.name == "update" and len(e.args) > 2]


def spoilt(program, rng):
    """(what is wrong, program), one of the ways that apply; None where none does."""
    options = []
    for s in folds(program):
        value = s.value if s.kind == "add" else s.value.args[-1]
        options.append(("the last block wins", s, replace(s, kind="set", value=value)))
        options.append(("decays by block", s, replace(s, kind="set", value=binary("+", binary("*", name(s.name), number(0.5)), value))))
        options.append(("counts blocks", s, replace(s, kind="add", value=number(1))))
    options = [o for o in options if not (o[0] != "the last block wins" and is_integer(program, o[1].name))]
    for s in updates(program):
        options.append(("forgets an accumulator", s, forget(s)))
    if not options:
        return None
    what, old, new = rng.choice(options)
    return what, change(program, stmt_of=lambda s: new if s == old else s)


def is_integer(program, variable):
    return any(s.kind == "var" and s.name == variable and "i32" in (s.value.name, getattr(s.value, "op", "")) or s.value and s.value.op == "int"
               for k in program.kernels for s in statements(k.body) if s.kind == "var" and s.name == variable)


def forget(stmt):
    def shorter(e):
        return replace(e, args=e.args[:-1]) if e.op == "method" and e.name == "update" else e
    return replace(stmt, value=rebuild(stmt.value, shorter))


def depends_on_blocks(program, case):
    """Whether the evaluator finds other results with other block sizes."""
    arrays, kept = inputs.draw(program, case)
    runs = [execute.run(program, dict(case.dims), arrays, kept, block=b) for b in (None, 2, 16)]
    return any(judge.differs(first.data, first.err + runs[i][n].err, runs[i][n].data).any()
               for n, first in runs[0].items() for i in (1, 2))
