# The process that measures: one CUDA context, told what to do on stdin, reports JSON lines on stdout.
# SPDX-License-Identifier: MIT
import importlib
import json
import os
import sys
import time

WORKLOADS = ("attention", "backward", "backward_varlen", "varlen", "decode", "blocksparse", "matmul", "softmax", "softcap", "bias")
# After an error that ends the CUDA context.
LOST = 3


def versions(torch):
    import platform
    from importlib import metadata

    found = {"gpu": torch.cuda.get_device_name(), "multiprocessors": torch.cuda.get_device_properties(0).multi_processor_count,
             "python": platform.python_version(), "torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}
    for package in ("triton", "tokenspeed-fa3", "flash-attn-4", "nvidia-cutlass-dsl", "tilelang"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "missing"
    return found


def one_line(error):
    text = " ".join(str(error).split()) or type(error).__name__
    return f"{type(error).__name__}: {text}"[:300]


class Worker:
    def __init__(self, job, say):
        import torch

        import selvedge_op
        from timing import Monitor
        from workload import Context

        self.torch, self.job, self.say = torch, job, say
        self.monitor = Monitor()
        self.context = Context(library=selvedge_op.Library(job["artefacts"]), arch=job["arch"], failures=job["failures"])

    def run(self):
        for name, cells in self.job["cells"].items():
            workload = importlib.import_module(name)
            every = {cell.name: cell for cell in workload.cells(self.job["quick"])}
            for cell in cells:
                if time.time() > self.job["deadline"]:
                    self.say(kind="end", workload=name, cell=cell, rows=[dict(candidate="", status="skipped", note="the time was over")])
                    continue
                self.say(kind="end", workload=name, cell=cell, rows=self.run_cell(workload, every[cell]))
                self.torch.cuda.empty_cache()

    def run_cell(self, workload, cell):
        """Rows of a cell; a candidate that breaks has one that says so."""
        from timing import measure
        from workload import Missing, Unsupported

        rows, launches, errors = [], {}, {}
        self.torch.manual_seed(sum(map(ord, cell.name)))
        self.say(kind="begin", workload=workload.NAME, cell=cell.name, candidate="")
        data = workload.data(cell)
        expected = workload.reference(cell, data)
        for candidate in self.candidates(workload, cell):
            if reason := self.job["excluded"].get(f"{workload.NAME} {cell.name} {candidate.name}"):
                rows.append(dict(candidate=candidate.name, status="failed", note=reason))
                continue
            self.say(kind="begin", workload=workload.NAME, cell=cell.name, candidate=candidate.name)
            try:
                launch, read = candidate.make(cell, data, self.context)
                with self.torch.no_grad():
                    result = read(launch())
                self.torch.cuda.synchronize()
                errors[candidate.name] = error = None if candidate.roof else self.error(result, expected)
                if not candidate.roof and not error <= workload.LIMIT:
                    rows.append(dict(candidate=candidate.name, status="wrong", error=error, note=f"limit {workload.LIMIT:g}"))
                    continue
                launches[candidate.name] = launch
            except (Missing, Unsupported) as reason:
                rows.append(dict(candidate=candidate.name, status=type(reason).__name__.lower(), note=str(reason)))
            except Exception as problem:
                rows.append(self.failure(workload, cell, candidate.name, problem))
        del expected
        begin = lambda name: self.say(kind="begin", workload=workload.NAME, cell=cell.name, candidate=name)
        broken = lambda name, problem: rows.append(self.failure(workload, cell, name, problem))
        with self.torch.no_grad():
            samples = measure(launches, self.job, self.monitor, begin, broken)
        for name, sample in samples.items():
            roof = any(c.roof and c.name == name for c in workload.CANDIDATES)
            rows.append(dict(candidate=name, status="roof" if roof else "ok", error=errors[name], **sample.row(cell, self.monitor)))
        for row in rows:
            row.update(family=cell.family, x=cell.x, unit=cell.unit)
        return rows

    def candidates(self, workload, cell):
        wanted = self.job["candidates"]
        for candidate in workload.CANDIDATES:
            if candidate.name in wanted if wanted else self.job["every"] or candidate.sampled(cell):
                yield candidate

    def error(self, result, expected):
        """Relative, in the Frobenius norm; NaN or Inf anywhere makes it so."""
        return ((result.float() - expected).norm() / expected.norm()).item()

    def failure(self, workload, cell, candidate, problem):
        """A row; ends the process where the CUDA context is lost, so that the next candidates get a new one."""
        try:
            self.torch.cuda.synchronize()
        except Exception:
            self.say(kind="lost", workload=workload.NAME, cell=cell.name, candidate=candidate, reason=one_line(problem))
            os._exit(LOST)
        return dict(candidate=candidate, status="failed", note=one_line(problem))


def main():
    # Libraries print; only `say` writes to the pipe.
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    say = lambda **message: pipe.write(json.dumps(message) + "\n")
    job = json.load(sys.stdin)
    import torch

    import attention_peers

    attention_peers.find_packages(job["peers"])
    if not torch.cuda.is_available():
        say(kind="unusable", reason="PyTorch sees no GPU")
        return 1
    say(kind="environment", values=versions(torch))
    Worker(job, say).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
