# Gradients of attention against fp64, beside those of PyTorch's own backwards, on ordinary and on adversarial data.
# SPDX-License-Identifier: MIT
"""Part of compare_torch.py, which calls `measure`. A process of its own, which that starts, launches the kernels: it may die or hang.

The peer is PyTorch's FlashAttention-2 backward; with a bias, which that does not take, the memory-efficient one. Our backward runs twice. From the o and lse of the
peer's forward, which the peer's backward gets, an error passes that is at most 1.1 times the peer's: it is the backward's own. From those of our forward, as in
training, one passes that is at most twice the peer's, as for forwards. The errors of cuDNN and of PyTorch's own products (`math`, which computes in f32) stand
beside it.
"""
import itertools
import json
import math
import os
import queue
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tools/bench"))
from processes import lines_of  # noqa: E402
from selvedge_op import Build, Library, compile_all  # noqa: E402

# How often the peer's error, by whose forward a gradient is computed from.
BOUNDS = {"theirs": 1.1, "ours": 2.0}
SHAPES = [(2, 8, 8, 1024), (1, 8, 2, 777)]  # B, H, G, positions
KITS = ("normal", "large", "huge_k", "huge_v", "huge_dO", "logits_120")
BIAS_KITS = ("bias", "bias_min", "bias_min_rows", "bias_min_rows_dO")
GRADIENTS = ("dq", "dk", "dv")
PEERS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}
# Seconds for one case, its launches and references; the first one starts a process.
PATIENCE = 120


def cases():
    """(heads' size, causal, shape, kit)"""
    made = [(d, causal, shape, kit) for d in (128, 64, 256) for causal in (False, True) for shape in SHAPES for kit in KITS]
    made += [(d, False, shape, kit) for d in (128, 64) for shape in SHAPES for kit in BIAS_KITS]
    return made


def forward_of(case, arch):
    d, causal, _, kit = case
    if kit in BIAS_KITS:
        return Build("flash_variants.tile", "biased", arch, T="bf16", D=d, DV=d)
    return Build("flash_fwd.tile", "flash_fwd", arch, T="bf16", D=d, DV=d, causal=causal)


def backwards_of(case, arch):
    """Warps of sm_80 hold the gradients of keys and values together; warpgroups of sm_90a not those of long heads, whose gradients are sums in order anyway."""
    d, causal, _, kit = case
    apart = {"apart": False} if arch == "sm_80" else {}
    made = []
    for deterministic in (True, False) if arch == "sm_80" or d <= 128 else (True,):
        if kit in BIAS_KITS:
            made.append(Build("flash_variants.tile", "grad(biased)", arch, T="bf16", D=d, DV=d, deterministic=deterministic, **apart))
        else:
            made.append(Build("flash_bwd.tile", "flash_bwd", arch, T="bf16", D=d, DV=d, causal=causal, deterministic=deterministic, **apart))
    return made


def name_of(case, build):
    d, causal, (b, h, g, n), kit = case
    order = "" if build.params.get("deterministic", "true") == "true" else " any-order"
    return f"{build.op} {build.arch} bf16 D={d} B={b} H={h}/{g} M={n} causal={causal} {kit}{order}"


# In the process that launches ----------------------------------------------------


def tensors_of(case, device="cuda"):
    import torch

    d, _, (b, h, g, n), kit = case
    generator = torch.Generator(device).manual_seed(cases().index(case))
    make = lambda *shape: torch.randn(*shape, device=device, generator=generator)
    q, k, v, do = make(b, n, h, d), make(b, n, g, d), make(b, n, g, d), make(b, n, h, d)
    made = {"q": q, "k": k, "v": v, "dO": do}
    if kit == "large":
        q *= 5
    elif kit == "huge_k":
        k[0, n // 3, 0, 1] = 1000
    elif kit == "huge_v":
        v[0, n // 2, 0, 3] = 10000
    elif kit == "huge_dO":
        do[0, n // 2, 0, 3] = 10000
    elif kit == "logits_120":
        # A direction in which all rows point, and keys one way or the other.
        size = math.sqrt(120 / math.sqrt(d))
        signs = lambda *shape: 2 * (make(*shape, 1) > 0).float() - 1
        q.add_(size * signs(b, n, h)), k.add_(size * signs(b, n, g))
    if kit in BIAS_KITS:
        least = torch.finfo(torch.bfloat16).min  # what masks of Transformers hold
        bias = make(b, h, n, n)
        if kit != "bias":
            hidden = torch.rand(b, h, n, n, device=device, generator=generator) < 0.3
            hidden[..., 0] = False
            if kit != "bias_min":
                hidden[:, :, ::5] = True
            bias = bias.masked_fill(hidden, least)
        if kit == "bias_min_rows":
            do[:, ::5] = 0  # rows of padding
        # The same numbers for both.
        made["bias"] = bias.to(torch.bfloat16).float()
    return {name: t if name == "bias" else t.to(torch.bfloat16) for name, t in made.items()}


def exact(case, tensors):
    """Gradients in fp64."""
    import torch

    d, causal, (b, h, g, n), _ = case
    q, k, v, do = (tensors[name].double().transpose(1, 2) for name in ("q", "k", "v", "dO"))
    k, v = (t.repeat_interleave(h // g, 1) for t in (k, v))
    s = q @ k.transpose(-1, -2) / math.sqrt(d)
    if "bias" in tensors:
        s += tensors["bias"].double()
    if causal:
        s.masked_fill_(torch.ones(n, n, dtype=torch.bool, device=s.device).triu(1), -math.inf)
    p = torch.softmax(s, -1)
    dp = do @ v.transpose(-1, -2)
    ds = p * (dp - (p * dp).sum(-1, keepdim=True)) / math.sqrt(d)
    shared = lambda t: t.unflatten(1, (g, h // g)).sum(2)
    found = {"dq": ds @ k, "dk": shared(ds.transpose(-1, -2) @ q), "dv": shared(p.transpose(-1, -2) @ do)}
    return {name: t.transpose(1, 2) for name, t in found.items()}


def of_torch(case, tensors, backend):
    """Gradients of one of PyTorch's backwards, in bf16; None where it does not take the case."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    _, causal, (_, h, g, _), _ = case
    for grouped in (True, False) if h != g else (False,):
        inputs = [tensors[name].detach().clone().requires_grad_() for name in "qkv"]
        try:
            q, k, v = (t.transpose(1, 2) for t in inputs)
            if h != g and not grouped:
                k, v = (t.repeat_interleave(h // g, 1) for t in (k, v))
            mask = tensors["bias"].to(q.dtype) if "bias" in tensors else None
            with sdpa_kernel(getattr(SDPBackend, PEERS[backend])):
                o = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, enable_gqa=grouped)
                found = torch.autograd.grad(o, inputs, tensors["dO"].transpose(1, 2))
            if q.is_cuda:
                torch.cuda.synchronize()
            return dict(zip(GRADIENTS, found))
        except RuntimeError as error:
            if "CUDA error" in str(error):
                raise
    return None


def forward_of_torch(case, tensors):
    """What the peer's backward gets of its forward: o, [B, M, H, D], and lse, [B, H, M]."""
    import torch

    _, causal, (_, h, g, n), _ = case
    q, k, v = (tensors[name].transpose(1, 2) for name in "qkv")
    if h != g:
        k, v = (t.repeat_interleave(h // g, 1) for t in (k, v))
    if "bias" in tensors:
        # Its rows begin at multiples of 8 elements.
        bias = torch.nn.functional.pad(tensors["bias"].to(q.dtype), (0, -n % 8))[..., :n]
        o, lse, *_ = torch.ops.aten._scaled_dot_product_efficient_attention(q, k, v, bias, True, 0.0, causal)
    else:
        o, lse, *_ = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False)
    return o.transpose(1, 2).contiguous(), lse[:, :, :n].float().contiguous()


def relative(x, wanted):
    """In the Frobenius norm; None where one is finite and the other is not."""
    import torch

    x, finite = x.double(), torch.isfinite(wanted)
    if not torch.equal(torch.isfinite(x), finite):
        return None
    return ((x - wanted)[finite].norm() / wanted[finite].norm().clamp_min(1e-300)).item()


def forward_of_ours(library, forward, tensors):
    import torch

    b, n, h, _ = tensors["q"].shape
    o, lse = torch.full_like(tensors["q"], math.nan), torch.full((b, h, n), math.nan, device=tensors["q"].device)
    library.bind(forward, {**{name: t for name, t in tensors.items() if name != "dO"}, "o": o, "lse": lse})()
    return o, lse


def ours(library, backward, tensors, o, lse):
    """Gradients of our backward."""
    import torch

    like = {"dq": tensors["q"], "dk": tensors["k"], "dv": tensors["v"], "d_bias": tensors.get("bias")}
    grads = {name: torch.full_like(t, math.nan) for name, t in like.items() if t is not None}
    library.bind(backward, {**tensors, "o": o, "lse": lse, **grads})()
    if o.is_cuda:
        torch.cuda.synchronize()
    return grads


def rows_of(case, builds, library):
    tensors = tensors_of(case)
    wanted = exact(case, tensors)
    errors = {}
    for backend in ("efficient", "math") if "bias" in tensors else ("flash", "cudnn", "math"):
        found = of_torch(case, tensors, backend)
        if found:
            errors[backend] = {name: relative(found[name], wanted[name]) for name in GRADIENTS}
    peer = next(iter(errors))
    for (forward, backward), whose in itertools.product(builds, BOUNDS):
        try:
            given = forward_of_torch(case, tensors) if whose == "theirs" else forward_of_ours(library, forward, tensors)
            found = ours(library, backward, tensors, *given)
        except RuntimeError as error:
            if "CUDA error" in str(error):
                raise
            yield {"case": f"{name_of(case, backward)} from {whose}", "op": backward.op, "arch": backward.arch, "kit": case[3], "forward": whose, "error": None, "pass": False,
                   "message": str(error)[:1000]}
            continue
        for name in GRADIENTS:
            error, theirs = relative(found[name], wanted[name]), errors[peer][name]
            # Where the peer's is not finite ours only has to be.
            passed = error is not None and (theirs is None or error <= BOUNDS[whose] * theirs + 1e-7)
            yield {"case": f"{name_of(case, backward)} from {whose} {name}", "op": backward.op, "arch": backward.arch, "kit": case[3], "forward": whose, "tensor": name,
                   "ours": error, "theirs": theirs, "ratio": error / theirs if error is not None and theirs else None, "peer": peer,
                   **{other: e[name] for other, e in errors.items() if other != peer}, "error": error, "torch": theirs, "bound": BOUNDS[whose], "pass": passed}


def work():
    """Cases by number from a line of stdin; JSON lines on stdout."""
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # libraries print
    job = json.loads(sys.stdin.readline())
    library, every = Library(job["folder"]), cases()
    for index in job["cases"]:
        pipe.write(json.dumps({"begin": index}) + "\n")
        builds = [(forward_of(every[index], arch), backward) for arch in job["arch"] for backward in backwards_of(every[index], arch)]
        builds = [pair for pair in builds if not any(build.file() in job["failures"] for build in pair)]
        for row in rows_of(every[index], builds, library):
            pipe.write(json.dumps(row) + "\n")
        pipe.write(json.dumps({"end": index}) + "\n")


# In the process that waits ---------------------------------------------------------


def selected(options):
    """Numbers of the cases of which any kernel's name matches the filter."""
    matches = lambda case: any(re.search(options.filter, name_of(case, backward)) for arch in options.arch for backward in backwards_of(case, arch))
    return [index for index, case in enumerate(cases()) if matches(case)]


def measure(options, add, deadline):
    """Calls `add(row)` for every gradient. Returns how many cases were left out for want of time."""
    left, every = selected(options), cases()
    builds = {build.file(): build for index in left for arch in options.arch for build in (forward_of(every[index], arch), *backwards_of(every[index], arch))}
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        failures = compile_all(builds.values(), options.selvedge, options.templates, folder)
        print(f"gradients: compiled {len(builds)} kernels in {time.monotonic() - start:.0f} s, {len(failures)} failed", flush=True)
        for name, message in failures.items():
            add({"case": f"{builds[name].op} {builds[name].arch} {name}", "error": None, "pass": False, "message": message[:1000]})
        while left and time.monotonic() < deadline:
            job = {"folder": folder, "cases": left, "arch": options.arch, "failures": list(failures)}
            done, reason = follow(job, add, deadline)
            left = left[done:]
            if reason and left and time.monotonic() < deadline:
                case = every[left.pop(0)]
                name = f"gradients D={case[0]} causal={case[1]} {case[2]} {case[3]}"
                add({"case": name, "op": "gradients", "arch": " ".join(options.arch), "kit": case[3], "error": None, "pass": False, "message": reason})
    return len(left)


def follow(job, add, deadline):
    """How many cases a process finished, and why it did not finish them all."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([sys.executable, os.path.abspath(__file__)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        lines, done, reason = lines_of(process.stdout), 0, None
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.close()
        while True:
            try:
                line = lines.get(timeout=max(0.01, min(PATIENCE, deadline - time.monotonic())))
            except queue.Empty:
                reason = f"no answer for {PATIENCE} s"
                process.kill()
                break
            if line is None:
                break
            message = json.loads(line)
            if "end" in message:
                done += 1
            elif "case" in message:
                add(message)
        status = process.wait()
        errors.seek(0)
        said = " / ".join(errors.read().strip().splitlines()[-3:])
    if reason is None and status:
        reason = f"the process ended with status {status}: {said[-800:]}"
    return done, reason


if __name__ == "__main__":
    work()
