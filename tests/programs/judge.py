"""What the steps of a program say: failures, each with a kind that similar ones share."""
# SPDX-License-Identifier: MIT
import re

import numpy as np

import compiler
import devices
import execute
import inputs
import printer
from specialise import plain

# An evaluation in float64 may be off by this many times the error that the other one counted.
SLACK = 16


class Failure:
    """stage: compile, again, renamed, ref, a form, ...; status: wrong, crash, timeout, internal, declined."""

    def __init__(self, stage, arch, status, message, step=None):
        self.stage, self.arch, self.status, self.message, self.step = stage, arch, status, message, step

    @property
    def kind(self):
        return self.status + " | " + self.stage + " | " + normalise(self.message)

    def __repr__(self):
        return (self.arch or "-") + ": " + self.status + " | " + self.stage + " | " + self.message


def normalise(message):
    text = re.sub(r"^(Aborted: ).*?(/[A-Za-z]+\.(h|cpp)):.*(Assertion .*)", r"\1\2: \4", message)
    text = re.sub(r"'([a-z]+)\d+'", r"'\1#'", message)
    text = re.sub(r"\b([a-zA-Z])\d+\b", r"\1#", text)
    text = re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "#", text)
    text = re.sub(r"expects as many of '.*?' as", "expects as many of '...' as", text)
    text = re.sub(r"(is|or) -?(nan|inf)\b", r"\1 #", text)
    text = re.sub(r"variant [a-z0-9_#]+:", "variant:", text)
    text = re.sub(r" \[plan [^]]*\]", "", text)
    text = re.sub(r'"[a-zA-Z]+#?"', '"#"', text)
    text = re.sub(r"but got %.*", "but got ...", text)
    return text[:200]


ALL = ("ref", "compile", "again", "renamed", *compiler.FORMS, "plans")


def steps_for(cases, seed=0, only=ALL, ptx_every=1):
    """What is asked of one program. What does not compile for a target is executed as a bound program only; a case with NaN
    and Inf is for `ref`, since data that a mask removes may reach its neighbours in a lowered form. Where nobody compares PTX
    all seeds but every `ptx_every`-th stop at LLVM IR. A form that takes long is executed with the first kind of poison alone."""
    # Other names show most of what a second compilation would.
    repeats = [do for do in ("again", "renamed") if do in only and (do == "renamed" or seed % 4 == 0)]
    steps = [{"do": "ref", "case": c} for c in range(len(cases))]
    forms = [c for c, case in enumerate(cases) if not case.special]
    for arch in compiler.ARCHS:
        compiles = len(steps)
        steps.append({"do": "compile" if repeats or seed % ptx_every == 0 else "lower", "arch": arch})
        steps += [{"do": do, "arch": arch, "after": compiles} for do in repeats]
        for form in compiler.FORMS:
            for c in forms if form in only else ():
                first = len(steps)
                for poison in compiler.POISONS[:1 if c else 2 if form != "sm:final" else 4]:
                    step = {"do": "form", "arch": arch, "form": form, "case": c, "poison": poison, "after": compiles}
                    if form == "tile:bound" and arch == "sm_80" and c == 0 and poison == "nan":
                        step["after"] = 0
                    if len(steps) > first:
                        step["repeats"] = first
                    steps.append(step)
        if "plans" in only and forms:
            steps += [{"do": "plans", "arch": arch, "form": "sm:final", "case": forms[0], "poison": "nan", "choice": seed + i,
                       "after": compiles} for i in range(2)]
    return steps


def prepare(program, cases):
    """(case, arrays, expected outputs) per case; raises Ambiguous or Invalid."""
    result = []
    program = plain(program)
    for case in cases:
        arrays, kept = inputs.draw(program, case)
        expected = execute.run(program, dict(case.dims), arrays, kept, dict(case.scalars))
        result.append((case, {**arrays, **kept}, expected))
    return result


def scalars_of(program, case):
    values = {s.name: float(np.float32(s.default.name)) if s.type == "f32" else s.default.name for s in program.scalars}
    return {**values, **dict(case.scalars)}


def examine(program, cases, tool, steps=None, prepared=None):
    """(failures, replies). A stage that fails hides what rests on it."""
    prepared = prepare(program, cases) if prepared is None else prepared
    steps = steps or steps_for([c for c, _, _ in prepared])
    asked = [(dict(c.dims), scalars_of(program, c), {n: inputs.whole(program, n, a, c) for n, a in arrays.items()}) for c, arrays, _ in prepared]
    replies = tool.ask(printer.show_program(program), asked, steps, compiler.rename(program))
    failures, seen = [], set()
    for reply in replies:
        step = steps[reply["step"]]
        arch, status = step.get("arch", ""), reply["status"]
        stage = step["form"] if step["do"] == "form" else "compile" if step["do"] == "lower" else step["do"]
        if step["do"] == "ref" and status == "ok":
            failures += compare(prepared[step["case"]][2], reply, step)
        # One failure of a stage says enough, and a form that cannot be made has been counted as a compilation.
        if status in ("ok", "skipped", "once") or (arch, stage) in seen:
            continue
        if (stage in compiler.FORMS or stage == "plans") and status in ("internal", "declined") and (arch, "compile") in seen:
            continue
        if step["do"] in ("form", "plans") and (status == "timeout" or "bad_alloc" in reply["message"]):
            status = "slow"  # it is the interpreter that takes long
        seen.add((arch, stage))
        failures.append(Failure(stage, arch, status, reply["message"], step))
    return failures, replies


def on_device(program, prepared, tool, selvedge, device, archs, failures):
    """Failures of the compiled program on a device, for the targets that it compiles for."""
    refused = {f.arch for f in failures if f.stage == "compile"} | ({"sm_80", "sm_90a"} if any(f.stage == "ref" for f in failures) else set())
    found = []
    for arch in archs:
        if arch not in refused:
            message = devices.run(selvedge, program, printer.show_program(program), prepared, arch, tool.folder, device)
            if message:
                found.append(Failure(device, arch, "slow" if message.startswith(devices.LATE) else "wrong", message))
    return found


def compare(expected, reply, step):
    for name, output in expected.items():
        values = reply["values"].get(name)
        if values is None or values.shape != output.data.shape:
            return [Failure("ref", "", "wrong", "no output " + name, step)]
        bad = differs(output.data, output.err, values)
        # Where a rounding decides about an overflow `ref` keeps the value and lets it, and what is made of it, be anything.
        bad &= np.isfinite(output.data) | ~np.isinf(reply["bounds"][name])
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            text = "%s%s is %r, expected %r +- %.1e (%d of %d)" % (
                name, list(at), float(values[at]), float(output.data[at]), output.err[at], bad.sum(), bad.size)
            return [Failure("ref", "", "wrong", text, step)]
    return []


def differs(data, err, values):
    free = np.isinf(err)
    with np.errstate(invalid="ignore"):
        near = np.abs(values - data) <= SLACK * err + 1e-300
        close = np.where(np.isfinite(data), near & np.isfinite(values), ~np.isfinite(values))
    return ~(free | close)
