"""Random programs against the compiler: `fuzz.py --help`."""
# SPDX-License-Identifier: MIT
import argparse
import collections
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import time

import compiler
import devices
import execute
import generate
import judge
import negative
import printer
import reduce
from specialise import plain


def one(seed, tool, options):
    """What is recorded about the program of a seed."""
    start, spent = time.time(), time.process_time()
    program, cases, prepared = find(seed)
    record = {"seed": seed, "lines": printer.show_program(program).count("\n")}
    if isinstance(prepared, execute.Ambiguous):
        record["skipped"] = str(prepared)
        return record
    record["evaluate_ms"] = round(1000 * (time.process_time() - spent))
    steps = judge.steps_for(cases, seed, options.only, options.ptx_every)
    failures, replies = judge.examine(program, None, tool, steps, prepared)
    if seed % 8 == 0 and depends_on_blocks(plain(program), cases[1]):
        failures.append(judge.Failure("generator", "", "broken", "the program depends on block sizes"))
    if options.negative:
        failures += refused(plain(program), cases, tool, seed)
    for device, archs in (("gpu", options.gpu), ("sim", ["sm_80", "sm_90a"] if options.sim else [])):
        failures += judge.on_device(program, prepared, tool, options.selvedge, device, archs, failures)
    record["failures"] = [{"stage": f.stage, "arch": f.arch, "status": f.status, "message": f.message, "kind": f.kind} for f in failures]
    record["ms"] = round(1000 * (time.time() - start))
    times = record["times"] = collections.Counter()
    for reply in replies:
        step = steps[reply["step"]]
        times[step["form"] if step["do"] == "form" else step["do"]] += round(reply.get("cpu", 0))
    bounds = [r.get("unbounded", 0) for r in replies if steps[r["step"]]["do"] == "ref" and not cases[steps[r["step"]]["case"]].special]
    record["unbounded"] = round(sum(bounds) / max(1, len(bounds)), 4)
    record["ratio"] = round(max([r.get("ratio", 0) for r in replies] + [0]), 4)
    record["executed"], record["once"] = (sum(steps[r["step"]]["do"] == "form" and r["status"] == s for r in replies) for s in ("ok", "once"))
    record["compiled"] = [steps[r["step"]]["arch"] for r in replies if steps[r["step"]]["do"] in ("compile", "lower") and r["status"] == "ok"]
    return record


def depends_on_blocks(program, case):
    """Whether it does; of sizes for which its meaning is not defined nothing is said."""
    try:
        return negative.depends_on_blocks(program, case)
    except execute.Ambiguous:
        return False


def refused(program, cases, tool, seed):
    """Makes results depend on the block size: the front end has to say so."""
    spoilt = negative.spoilt(program, random.Random(seed))
    if not spoilt:
        return []
    what, wrong = spoilt
    try:
        if not any(negative.depends_on_blocks(wrong, c) for c in cases if not c.special):
            return []
    except (execute.Ambiguous, execute.Invalid):
        return []
    reply = tool.ask(printer.show_program(wrong), [], [{"do": "compile", "arch": "sm_80"}])[0]
    if reply["status"] == "declined":
        return []
    return [judge.Failure("negative (" + what + ")", "sm_80", "wrong", "accepted")]


def work(options, number, seeds, results, stop):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cores = sorted(os.sched_getaffinity(0))
    if options.jobs >= len(cores):
        # The compiler's threads would wait for those of the other jobs.
        os.sched_setaffinity(0, {cores[number % len(cores)]})
    if os.nice(0) == 0:
        os.nice(5)
    tool = compiler.Compiler(options.binary, options.cpu)
    while not stop.is_set():
        with seeds.get_lock():
            seed = seeds.value
            seeds.value += 1
        if options.count and seed >= options.seed + options.count:
            break
        try:
            results.put(one(seed, tool, options))
        except Exception as why:  # of the generator or the evaluator: a defect of these files
            results.put({"seed": seed, "failures": [{"stage": "generator", "arch": "", "status": "broken", "message": repr(why),
                                                     "kind": "broken | generator | " + judge.normalise(repr(why))}]})
    tool.close()
    results.put(None)


def collect(options, on_record):
    """Runs workers until enough is done; every record goes to `on_record`."""
    context = multiprocessing.get_context("fork")
    seeds, results, stop = context.Value("q", options.seed), context.Queue(), context.Event()
    workers = [context.Process(target=work, args=(options, number, seeds, results, stop)) for number in range(options.jobs)]
    for w in workers:
        w.start()
    deadline = time.time() + options.seconds if options.seconds else None
    running = len(workers)
    while running:
        try:
            record = results.get(timeout=1)
        except Exception:
            record = {}
        except KeyboardInterrupt:
            stop.set()
            continue
        if record is None:
            running -= 1
        elif record:
            on_record(record)
        if deadline and time.time() > deadline:
            stop.set()
    for w in workers:
        w.join()


class Tally:
    """What was found, by kind. The worst statuses first; `tight`: an error is up to twice its bound, which
    may be the bound's fault; `slow`: executing a form took longer than a step may."""
    ORDER = ("wrong", "broken", "crash", "timeout", "internal", "declined", "tight", "slow")

    def __init__(self):
        self.programs = self.skipped = self.clean = self.executed = self.once = 0
        self.compiled = collections.Counter()
        self.kinds = collections.defaultdict(list)
        self.times = collections.Counter()
        self.milliseconds, self.unbounded, self.ratio = [], 0.0, 0.0

    def add(self, record):
        if "skipped" in record:
            self.skipped += 1
            return
        self.programs += 1
        self.compiled.update(record.get("compiled", ()))
        self.executed += record.get("executed", 0)
        self.once += record.get("once", 0)
        self.clean += not record["failures"]
        self.milliseconds.append(record.get("ms", 0))
        self.unbounded += record.get("unbounded", 0)
        self.ratio = max(self.ratio, record.get("ratio", 0))
        self.times.update(record.get("times", {}))
        self.times["evaluate"] += record.get("evaluate_ms", 0)
        for f in record["failures"]:
            self.kinds[f["kind"]].append((record["lines"] if "lines" in record else 0, record["seed"], f))

    def ordered(self):
        """Kinds with what was found, the worst first."""
        return sorted(self.kinds.items(), key=lambda x: (self.ORDER.index(x[0].split(" ")[0]), -len({s for _, s, _ in x[1]})))

    def failing(self, statuses):
        """Kinds that fail."""
        return [k for k in self.kinds if k.split(" ")[0] in statuses]

    def table(self):
        lines = ["%d programs, %d without any failure, %d skipped (ambiguous)" % (self.programs, self.clean, self.skipped)]
        lines += ["compiled: " + ", ".join("%s %d" % x for x in sorted(self.compiled.items()))]
        if self.executed:
            lines += ["forms executed: %d times, left out %d kinds of poison where the first one took long" % (self.executed, self.once)]
        if self.milliseconds:
            ms = sorted(self.milliseconds)
            lines += ["per program: mean %.0f ms, median %.0f, longest %.0f" % (sum(ms) / len(ms), ms[len(ms) // 2], ms[-1])]
            lines += ["CPU: " + ", ".join("%s %.0f ms" % (k, v / self.programs) for k, v in self.times.most_common())]
        lines += ["elements that ref has no bound for: %.1f %%; largest error of a form over its bound: %.2f" % (
            100 * self.unbounded / max(1, self.programs), self.ratio)]
        lines += ["", "programs  targets         kind (smallest seed's program first)"]
        for kind, found in self.ordered():
            seeds = sorted({(n, s) for n, s, _ in found})
            archs = sorted({f["arch"] for _, _, f in found if f["arch"]})
            lines.append("%8d  %-14s  %s   [seeds %s]" % (len(seeds), ",".join(archs), kind, " ".join(str(s) for _, s in seeds[:3])))
        return "\n".join(lines)


def find(seed):
    """The program of a seed, its cases, and what they give, or why that is ambiguous."""
    program = generate.program(seed)
    for attempt in range(5):
        cases = generate.cases(plain(program), seed + attempt * 1000003)
        try:
            return program, cases, judge.prepare(program, cases)
        except execute.Ambiguous as why:
            prepared = why
    return program, cases, prepared


def reduce_all(tally, options):
    """Prints a small program for each kind of failure."""
    tool = compiler.Compiler(options.binary, options.cpu)
    for kind, found in tally.ordered():
        if kind.startswith("broken"):
            continue
        _, seed, record = min(found, key=lambda f: f[:2])
        program, cases, _ = find(seed)
        failures, _ = judge.examine(program, cases, tool)
        failure = next((f for f in failures if f.kind == kind and f.arch == record["arch"]), None)
        print("\n// %s (%s, seed %d, %d programs)" % (kind, ", ".join(sorted({f["arch"] for _, _, f in found})), seed, len(found)))
        if failure is None:
            print("// did not happen again")
            continue
        program, cases = reduce.Reducer(tool, failure, options.reduce).run(program, cases)
        for c in cases if failure.stage not in ("compile", "again", "renamed") else ():
            print("// " + ", ".join("%s=%d" % d for d in c.dims) + (", without " + ", ".join(c.absent) if c.absent else ""))
        print(printer.show_program(program), end="", flush=True)
    tool.close()


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # Of a build here, or of an archive that was unpacked.
    programs = next((p for p in (os.path.join(root, "build", "bin"), os.path.join(root, "bin")) if os.path.isdir(p)), "")
    parser.add_argument("--binary", default=os.path.join(programs, "selvedge-fuzz"))
    parser.add_argument("--selvedge", default=os.path.join(programs, "selvedge"), help="for runs on a GPU or on sim")
    parser.add_argument("--sim", action="store_true", help="execute what is emitted on device sim, too")
    parser.add_argument("--no-gpu", action="store_true", help="leave out the GPU that is here")
    parser.add_argument("--fail-on", type=lambda text: text.split(","), default=list(Tally.ORDER[:-2]), help="kinds that fail, of " + ",".join(Tally.ORDER))
    parser.add_argument("--negative", action="store_true", help="also programs that depend on block sizes, which must be refused")
    parser.add_argument("--count", type=int, default=0, help="programs to run")
    parser.add_argument("--seconds", "--budget", type=float, default=0, help="time after which no program begins")
    parser.add_argument("--ptx-every", type=int, default=1, metavar="N", help="with --only ref: to PTX every N-th program, the others to LLVM IR")
    parser.add_argument("--seed", type=int, default=None, help="of the first program (default: a fresh one, which is printed)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cpu", type=int, default=40, help="seconds that one step may take")
    parser.add_argument("--only", type=lambda text: text.split(","), default=judge.ALL, help="stages besides ref and compile: " + ",".join(judge.ALL[2:]))
    parser.add_argument("--report", help="file for one line of JSON per program")
    parser.add_argument("--show", type=int, help="print the program of this seed, and stop")
    parser.add_argument("--reduce", type=float, default=0, metavar="SECONDS", help="shrink one program of each kind of failure, this long each")
    parser.add_argument("--check", type=int, help="run the program of this seed, print what it fails at, and stop")
    options = parser.parse_args(arguments)
    options.gpu = [] if options.no_gpu else devices.archs(options.selvedge)
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 40)
    if not options.count and not options.seconds:
        options.count = 100
    return options


def main(arguments):
    options = parse(arguments)
    if options.show is not None:
        print(printer.show_program(generate.program(options.show)), end="")
        return 0
    if options.check is not None:
        program = generate.program(options.check)
        print(printer.show_program(program))
        tool = compiler.Compiler(options.binary, options.cpu)
        record = one(options.check, tool, options)
        tool.close()
        print(json.dumps({k: v for k, v in record.items() if k != "failures"}))
        for f in record.get("failures", ()):
            print(f["arch"] or "-", f["status"], f["stage"], f["message"])
        return 1 if record.get("failures") else 0
    print("programs from seed %d" % options.seed, flush=True)
    tally = Tally()
    report = open(options.report, "w") if options.report else None

    def on_record(record):
        tally.add(record)
        if report:
            report.write(json.dumps(record) + "\n")
            report.flush()
    collect(options, on_record)
    print(tally.table(), flush=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("\nCPU per program: %.2f s" % ((used.ru_utime + used.ru_stime) / max(1, tally.programs)), flush=True)
    print("programs per core and minute: %.1f" % (60 * tally.programs / max(1e-9, used.ru_utime + used.ru_stime)), flush=True)
    failing = tally.failing(options.fail_on)
    for kind in failing:
        print("FAILED: %s [seeds %s]" % (kind[:120], " ".join(str(s) for s in sorted({s for _, s, _ in tally.kinds[kind]}))), flush=True)
    if options.reduce:
        reduce_all(tally, options)
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
