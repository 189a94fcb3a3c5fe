#!/usr/bin/env python3
# Builds the hand-written kernels of tests/Sm/SM90, compares them with fp32 PyTorch on a GPU and times them against cuDNN.
# SPDX-License-Identifier: MIT
"""usage: run_sm_text.py build --out DIR [--opt selvedge-opt] [--ptxas ptxas] [KERNEL...]
       run_sm_text.py check --cubins DIR [KERNEL...]
       run_sm_text.py time --cubins DIR [KERNEL...]

`build` verifies and compiles, and needs no GPU: it leaves KERNEL.cubin and KERNEL.json. `check` fills outputs and workspaces with NaN and launches three times.
`time` prints TFLOP/s, medians of alternating bursts in one process, for 16384 rows and 16 heads.
"""
import argparse
import ctypes
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time

KERNELS = {"flash_full_d128": "flash", "flash_causal_d128": "flash_causal", "flash_bwd_d128": "flash_bwd"}
SIZES = (1024, 2048, 4096, 8192, 16384)


def build(args):
    texts = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Sm/SM90")
    os.makedirs(args.out, exist_ok=True)
    for name in args.kernels:
        text, base = os.path.join(texts, name + ".mlir"), os.path.join(args.out, name)
        run = lambda *command: subprocess.run(command, check=True, capture_output=True, text=True)
        run(args.opt, text, "-pass-pipeline=builtin.module(sm.kernel(verify-sm-async{nonempty=true}))", "-o", os.devnull)
        lanes = run(args.opt, text, "--sm-roles-to-lanes", "--canonicalize", "--cse").stdout
        ptx = run(args.opt, text, "--sm-roles-to-lanes", "--canonicalize", "--cse", "--emit-ptx=arch=sm_90a", "-o", os.devnull).stdout
        with open(base + ".ptx", "w") as file:
            file.write(ptx)
        print(run(args.ptxas, "-arch=sm_90a", "-v", base + ".ptx", "-o", base + ".cubin").stderr.strip())
        smem = int(re.search(rf"sm.launch @{KERNELS[name]} .* smem (\d+)", lanes).group(1))
        with open(base + ".json", "w") as file:
            json.dump({"smem": smem}, file)


def checked(result, what):
    if result:
        text = ctypes.c_char_p()
        cu.cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value}")


def tensor_map(t, rows):
    """The descriptor of a [B, S, H, D] view: boxes of `rows` rows and 64 columns, swizzled by 128 bytes."""
    raw = ctypes.create_string_buffer(128 + 64)
    at = (ctypes.addressof(raw) + 63) // 64 * 64
    b, s, h, d = t.shape
    strides = [2 * t.stride(i) for i in (2, 1, 0)]
    checked(cu.cuTensorMapEncodeTiled(ctypes.c_void_p(at), 9, 4, ctypes.c_void_p(t.data_ptr()), (ctypes.c_uint64 * 4)(d, h, s, b), (ctypes.c_uint64 * 3)(*strides),
                                      (ctypes.c_uint32 * 4)(64, 1, rows, 1), (ctypes.c_uint32 * 4)(1, 1, 1, 1), 0, 3, 2, 0), "cuTensorMapEncodeTiled")
    return raw, at


class Kernel:
    def __init__(self, folder, name):
        with open(os.path.join(folder, name + ".json")) as file:
            self.smem = json.load(file)["smem"]
        with open(os.path.join(folder, name + ".cubin"), "rb") as file:
            image = file.read()
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        checked(cu.cuModuleLoadData(ctypes.byref(module), image), "cuModuleLoadData")
        checked(cu.cuModuleGetFunction(ctypes.byref(self.function), module, KERNELS[name].encode()), "cuModuleGetFunction")
        checked(cu.cuFuncSetAttribute(self.function, 8, self.smem), "cuFuncSetAttribute")

    def launcher(self, grid, arguments):
        """`arguments`: integers, floats, descriptors, counters (one i32), and tensors with as many strides as they have dimensions."""
        values = []
        for argument in arguments:
            if isinstance(argument, int):
                values.append(ctypes.c_int(argument))
            elif isinstance(argument, float):
                values.append(ctypes.c_float(argument))
            elif isinstance(argument, tuple):
                values.append(argument)
            elif argument.dtype == torch.int32:
                values.append(ctypes.c_uint64(argument.data_ptr()))
            else:
                values += [ctypes.c_uint64(argument.data_ptr())] + [ctypes.c_int64(stride) for stride in argument.stride()]
        pointers = [ctypes.c_void_p(v[1]) if isinstance(v, tuple) else ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values]
        array = (ctypes.c_void_p * len(pointers))(*pointers)

        def launch(keep=(values, arguments)):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            checked(cu.cuLaunchKernel(self.function, grid, 1, 1, 384, 1, 1, self.smem, stream, array, None), "cuLaunchKernel")
        return launch


def parts_of(x, absent):
    """Rows of x as the sum of three bf16 columns of eight, rounded up to 64 rows; `absent` in the others."""
    b, h, m = x.shape
    out = torch.zeros(b, h, -(-m // 64) * 64, 8, device=x.device, dtype=torch.bfloat16)
    out[:, :, m:, 0] = absent
    rest = x
    for column in range(3):
        out[:, :, :m, column] = rest.bfloat16()
        rest = rest - out[:, :, :m, column].float()
    return out


def from_fragments(gq, m):
    """The [B, M, H, 128] that a workspace in the order of fragments holds (sm.stage_fragment)."""
    b, h, tiles = gq.shape[:3]
    t = gq.view(b, h, tiles, 2, 8, 4, 8, 4, 2, 2)  # column half, column block, warp, row, column pair, row half, column
    return t.permute(0, 1, 2, 5, 8, 6, 3, 4, 7, 9).reshape(b, h, tiles * 64, 128)[:, :, :m].transpose(1, 2)


def forward(kernel, q, k, v, out, lse, causal):
    """A causal launch takes its tiles from a counter, which must be 0 again when it is over."""
    b, m, h, _ = q.shape
    grid = min(torch.cuda.get_device_properties(0).multi_processor_count, -(-m // 128) * h * b)
    dims = [b, m, h] if causal else [b, m, h, k.shape[1]]
    taken = [torch.zeros(1, dtype=torch.int32, device="cuda")] if causal else []
    maps = [tensor_map(q, 64), tensor_map(k, 128), tensor_map(v, 128), tensor_map(out, 64)]
    return kernel.launcher(grid, dims + maps + [lse] + taken + [q.shape[-1] ** -0.5])


class Backward:
    """One backward: what the main kernel needs beside it is done by PyTorch, and not timed."""

    def __init__(self, kernel, q, k, v, go, o, lse):
        b, m, h, d = q.shape
        n = k.shape[1]
        self.m, self.scale = m, d ** -0.5
        delta = (o.float() * go.float()).sum(-1).transpose(1, 2)
        self.lse = parts_of(-lse / self.scale, -1e30)
        self.delta = parts_of(-delta, 0)
        self.gq = torch.zeros(b, h, -(-m // 64), 2, 4096, device=q.device)
        self.gk, self.gv = torch.empty_like(k), torch.empty_like(v)
        self.launch = kernel.launcher(-(-n // 128) * h * b, [
            b, m, h, n, tensor_map(q, 64), tensor_map(k, 64), tensor_map(v, 64), tensor_map(go, 64), tensor_map(self.gk, 64), tensor_map(self.gv, 64),
            self.lse, self.delta, self.gq, self.scale])

    def run(self):
        self.gq.zero_()
        self.gk.fill_(math.nan)
        self.gv.fill_(math.nan)
        self.launch()
        torch.cuda.synchronize()
        return from_fragments(self.gq, self.m) * self.scale, self.gk, self.gv


def reference(q, k, v, go, causal):
    """fp32: O, LSE and the gradients; [B, S, H, D]."""
    q, k, v = (t.float().transpose(1, 2) for t in (q, k, v))
    scale = q.shape[-1] ** -0.5
    s = q @ k.transpose(2, 3) * scale
    if causal:
        s = s.masked_fill(torch.ones(s.shape[2:], dtype=torch.bool, device=s.device).triu(1), -math.inf)
    lse = torch.logsumexp(s, -1)
    p = torch.exp(s - lse[..., None])
    o = p @ v
    go = go.float().transpose(1, 2)
    ds = p * (go @ v.transpose(2, 3) - (go * o).sum(-1, keepdim=True))
    return [o.transpose(1, 2), lse] + [t.transpose(1, 2) for t in (ds @ k * scale, ds.transpose(2, 3) @ q * scale, p.transpose(2, 3) @ go)]


def relative(x, expected):
    return ((x.float() - expected).norm() / expected.norm()).item()


def randn(*shape, factor=1):
    return (torch.randn(*shape, device="cuda") * factor).bfloat16()


def check(args):
    shapes = [(1, 128, 3, 128, 1), (1, 512, 2, 512, 1), (1, 1000, 5, 1000, 1), (2, 77, 3, 333, 1), (1, 1, 2, 1, 1), (5, 1024, 8, 1024, 1), (1, 1536, 4, 1536, 4),
              (1, 1000, 2, 1000, 30)]
    failed = 0
    for name in args.kernels:
        kernel, causal = Kernel(args.cubins, name), "causal" in name
        for b, m, h, n, factor in shapes:
            n = m if causal else n
            torch.manual_seed(m + n)
            q, k, v, go = randn(b, m, h, 128, factor=factor), randn(b, n, h, 128), randn(b, n, h, 128), randn(b, m, h, 128)
            o, lse, *gradients = reference(q, k, v, go, causal)
            if name == "flash_bwd_d128":
                backward = Backward(kernel, q, k, v, go, o.bfloat16(), lse)
                # The order of the sums in dQ is not fixed; all else must repeat bit for bit.
                runs = [[t.clone() for t in backward.run()] for _ in range(3)]
                same = all(torch.equal(x, y) for run in runs[1:] for x, y in zip(run[1:], runs[0][1:]))
                # One key: dQ and dK are differences of equal numbers.
                errors = [relative(x, e) if e.norm() > 1e-3 else (x.float() - e).abs().max().item() for x, e in zip(runs[0], gradients)]
            else:
                out, sums = torch.full_like(q, math.nan), torch.full_like(lse, math.nan)
                launch, runs = forward(kernel, q, k, v, out, sums, causal), []
                for _ in range(3):
                    out.fill_(math.nan)
                    launch()
                    torch.cuda.synchronize()
                    runs.append(out.clone())
                same = all(torch.equal(run, runs[0]) for run in runs)
                errors = [relative(out, o), (sums - lse).abs().max().item()]
            good = same and all(e < 1.2e-2 for e in errors)
            failed += not good
            print(f"{name} B {b} M {m} H {h} N {n} Q*{factor}:", " ".join(f"{e:.2e}" for e in errors), "" if same else "runs differ", "ok" if good else "FAILED", flush=True)
    return failed


def measure(candidates, flops, rounds=8):
    times = {name: [] for name in candidates}
    for turn in range(rounds):
        for name, run in list(candidates.items())[:: 1 if turn % 2 == 0 else -1]:
            time.sleep(0.02)
            run()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            run()
            run()
            end.record()
            end.synchronize()
            times[name].append(start.elapsed_time(end) / 2)
    return {name: flops / statistics.median(t) / 1e9 for name, t in times.items()}


def timed(args):
    h, aten = 16, torch.ops.aten
    for name in args.kernels:
        kernel, causal = Kernel(args.cubins, name), "causal" in name
        for s in SIZES:
            b = 16384 // s
            torch.manual_seed(1)
            q, k, v, go = (randn(b, h, s, 128) for _ in range(4))
            saved = aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal, False)
            rows = lambda t: t.transpose(1, 2)
            if name == "flash_bwd_d128":
                backward = Backward(kernel, rows(q), rows(k), rows(v), rows(go), rows(saved[0]), saved[1].reshape(b, h, s))
                cudnn = lambda: aten._scaled_dot_product_cudnn_attention_backward(go, q, k, v, saved[0], saved[1], saved[6], saved[7], None, saved[2], saved[3], saved[4],
                                                                                  saved[5], 0.0, causal)
                distance = max(relative(x, rows(e).float()) for x, e in zip(backward.run(), cudnn()))
                candidates, flops = {"selvedge": backward.launch, "cudnn": cudnn}, 10 * b * h * s * s * 128
            else:
                out, lse = torch.empty_like(q), torch.empty(b, h, s, device="cuda")
                launch = forward(kernel, rows(q), rows(k), rows(v), rows(out), lse, causal)
                cudnn = lambda: aten._scaled_dot_product_cudnn_attention(q, k, v, None, False, 0.0, causal, False)
                launch()
                distance = relative(out, cudnn()[0].float())
                candidates, flops = {"selvedge": launch, "cudnn": cudnn}, 4 * b * h * s * s * 128 // (2 if causal else 1)
            rates = measure(candidates, flops)
            print(f"{name} S {s}:", " ".join(f"{c} {r:.0f}" for c, r in rates.items()), f"TFLOP/s, apart {distance:.1e}", flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mode", choices=["build", "check", "time"])
    parser.add_argument("kernels", nargs="*", default=list(KERNELS))
    parser.add_argument("--out", default="cubins")
    parser.add_argument("--cubins", default="cubins")
    parser.add_argument("--opt", default="selvedge-opt")
    parser.add_argument("--ptxas", default="ptxas")
    args = parser.parse_args()
    if args.mode == "build":
        return build(args)
    global torch, cu
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.zeros(1, device="cuda")
    cu = ctypes.CDLL("libcuda.so.1")
    return check(args) if args.mode == "check" else timed(args)


if __name__ == "__main__":
    sys.exit(main())
