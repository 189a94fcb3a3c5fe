"""The compiler under test: talks to selvedge-fuzz, which carries out steps and survives what crashes in them."""
# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import tempfile

import numpy as np

from tree import E, replace

ARCHS = ("sm_80", "sm_90a")
# The last form first: it is there once the program is compiled.
FORMS = ("sm:final", "tile:bound", "sm:seq")
POISONS = ("nan", "max", "inf", "random")


class Compiler:
    def __init__(self, binary, cpu=40, memory=6 << 30):
        self.binary, self.cpu, self.memory = binary, cpu, memory
        self.folder = tempfile.mkdtemp(prefix="programs-")
        self.process = None

    def start(self):
        self.process = subprocess.Popen([self.binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None
        for file in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, file))
        os.rmdir(self.folder)

    def ask(self, source, cases, steps, renamed=("", [])):
        """`cases`: (dims, scalars, arrays by name). Replies by step; those of "ref" get `values` and `bounds`."""
        if self.process is None:
            self.start()
        request = {"source": source, "renamed": renamed[0], "names": renamed[1], "steps": steps, "cpu": self.cpu,
                   "memory": self.memory, "out": os.path.join(self.folder, "out"), "data": os.path.join(self.folder, "data"),
                   "cases": self.write(cases)}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        replies, error = [], None
        while True:
            line = self.process.stdout.readline()
            if not line:
                self.process = None
                raise RuntimeError("selvedge-fuzz itself has ended")
            reply = json.loads(line)
            if "error" in reply:
                error = reply["error"]
                continue
            if "done" in reply:
                if error:
                    raise RuntimeError("selvedge-fuzz: " + error)
                return replies
            step = steps[reply["step"]]
            if step["do"] == "ref" and reply["status"] == "ok":
                self.read(reply, step["case"])
            replies.append(reply)

    def write(self, cases):
        result, offset = [], 0
        with open(os.path.join(self.folder, "data"), "wb") as file:
            for dims, scalars, arrays in cases:
                inputs = []
                for name, array in arrays.items():
                    data = np.ascontiguousarray(array, np.float64)
                    inputs.append({"name": name, "shape": list(array.shape), "offset": offset})
                    file.write(data.tobytes())
                    offset += data.nbytes
                result.append({"dims": dims, "scalars": scalars, "inputs": inputs})
        return result

    def read(self, reply, case):
        flat = np.fromfile(os.path.join(self.folder, "out." + str(case)), np.float64)
        reply["values"], reply["bounds"], at = {}, {}, 0
        for name, shape in reply.pop("outputs", []):
            count = int(np.prod(shape))
            reply["values"][name] = flat[at:at + count].reshape(shape)
            reply["bounds"][name] = flat[at + count:at + 2 * count].reshape(shape)
            at += 2 * count


def rename(program):
    """The program with other names for everything, in another order of the alphabet, and pairs (new, old)."""
    import printer
    from tree import statements
    old = {program.name} | {n for n, _ in program.params}
    old |= {x.name for part in (program.tensors, program.scalars, program.kernels) for x in part}
    old |= {b for t in program.tensors for b in t.binders if b} | {h[0] for h in program.hooks} | {p for h in program.hooks for p in h[1]}
    old |= {n for v in program.views for n in (v[0], *v[1])}
    for t in program.tensors:
        old |= {e.name for d in t.dims for e in d.walk() if e.op == "name"}
    for k in program.kernels:
        ranges = list(k.ranges) + [s.range for s in statements(k.body) if s.range]
        for r in ranges:
            old |= {r.name} | ({r.block} if r.block else set()) | ({r.pair[0]} if r.pair else set()) | ({r.fused} if r.fused else set())
        old |= {s.name for s in statements(k.body) if s.kind in ("let", "var")}
    new = {o: "zq" + format(9999 - i, "d") + "Q" for i, o in enumerate(sorted(old))}
    return printer.show_program(Renamer(new).program(program)), [(n, o) for o, n in new.items()]


class Renamer:
    def __init__(self, names):
        self.names = names

    def name(self, text):
        return self.names.get(text, text) if isinstance(text, str) else text

    def e(self, e):
        if e is None:
            return None
        named = e.op in ("name", "load", "view", "slice", "present") or (e.op in ("call", "cast") and e.name in self.names)
        return E(e.op, self.name(e.name) if named else e.name, tuple(self.e(a) for a in e.args), tuple(map(self.name, e.axes)))

    def range(self, r):
        if r is None:
            return None
        pair = (self.name(r.pair[0]), self.e(r.pair[1])) if r.pair else None
        part = r.part and tuple(self.e(x) for x in r.part)
        return replace(r, name=self.name(r.name), fused=self.name(r.fused), hi=self.e(r.hi), lo=self.e(r.lo), block=self.name(r.block), pair=pair, part=part)

    def stmt(self, s):
        return replace(s, name=self.name(s.name), value=self.e(s.value), target=self.e(s.target), range=self.range(s.range),
                       body=tuple(map(self.stmt, s.body)), orelse=tuple(map(self.stmt, s.orelse)))

    def tensor(self, t):
        return replace(t, name=self.name(t.name), type=self.name(t.type), dims=tuple(map(self.e, t.dims)), binders=tuple(map(self.name, t.binders)),
                       valid=self.e(t.valid), default=self.e(t.default), segments=self.e(t.segments), promise=t.promise and tuple(map(self.e, t.promise)))

    def program(self, p):
        return replace(p, name=self.name(p.name), params=tuple((self.name(n), v) for n, v in p.params),
                       tensors=tuple(map(self.tensor, p.tensors)),
                       scalars=tuple(replace(s, name=self.name(s.name), default=self.e(s.default)) for s in p.scalars),
                       kernels=tuple(replace(k, name=self.name(k.name), ranges=tuple(map(self.range, k.ranges)),
                                             body=tuple(map(self.stmt, k.body))) for k in p.kernels),
                       views=tuple((self.name(n), tuple(map(self.name, parameters)), self.e(load), self.e(valid)) for n, parameters, load, valid in p.views),
                       launches=tuple((self.name(n), lo, hi) for n, lo, hi in p.launches), hooks=self.hooks(p.hooks), extends=self.extension(p.extends))

    def hooks(self, hooks):
        return tuple((self.name(n), tuple(map(self.name, parameters)), self.e(body)) for n, parameters, body in hooks)

    def extension(self, x):
        return x and replace(x, bound=tuple(map(self.name, x.bound)), hooks=self.hooks(x.hooks), own=tuple(map(self.name, x.own)))
