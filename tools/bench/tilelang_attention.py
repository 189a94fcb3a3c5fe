# Forward attention in TileLang: the schedule of its own Hopper example.
# SPDX-License-Identifier: MIT
import functools
import math

import tilelang
import tilelang.language as T

# Rows, keys, stages and threads by head size.
PLANS = {64: (128, 128, 2, 256), 96: (128, 128, 2, 256), 128: (128, 128, 2, 256), 256: (128, 64, 2, 256)}


@tilelang.jit(out_idx=[3], pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True}, target={"kind": "cuda", "arch": "sm_90a"})
def kernel(batch, heads, length, dim, causal, rows, keys, stages, threads):
    shape = [batch, length, heads, dim]
    scale = math.log2(math.e) / math.sqrt(dim)
    bf16, f32 = T.bfloat16, T.float32

    @T.prim_func
    def main(q: T.Tensor(shape, bf16), k: T.Tensor(shape, bf16), v: T.Tensor(shape, bf16), o: T.Tensor(shape, bf16)):
        with T.Kernel(T.ceildiv(length, rows), heads, batch, threads=threads) as (tile, head, item):
            q_tile = T.alloc_shared([rows, dim], bf16)
            k_tile = T.alloc_shared([keys, dim], bf16)
            v_tile = T.alloc_shared([keys, dim], bf16)
            o_tile = T.alloc_shared([rows, dim], bf16)
            score = T.alloc_fragment([rows, keys], f32)
            weight = T.alloc_fragment([rows, keys], bf16)
            acc = T.alloc_fragment([rows, dim], f32)
            top = T.alloc_fragment([rows], f32)
            old_top = T.alloc_fragment([rows], f32)
            rescale = T.alloc_fragment([rows], f32)
            part = T.alloc_fragment([rows], f32)
            total = T.alloc_fragment([rows], f32)
            T.copy(q[item, tile * rows : (tile + 1) * rows, head, :], q_tile)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity(f32))
            steps = T.min(T.ceildiv(length, keys), T.ceildiv((tile + 1) * rows, keys)) if causal else T.ceildiv(length, keys)
            for step in T.Pipelined(steps, num_stages=stages):
                T.copy(k[item, step * keys : (step + 1) * keys, head, :], k_tile)
                if causal:
                    for i, j in T.Parallel(rows, keys):
                        score[i, j] = T.if_then_else(tile * rows + i >= step * keys + j, 0, -T.infinity(score.dtype))
                else:
                    for i, j in T.Parallel(rows, keys):
                        score[i, j] = T.if_then_else(step * keys + j >= length, -T.infinity(score.dtype), 0)
                T.gemm(q_tile, k_tile, score, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, old_top)
                T.fill(top, -T.infinity(f32))
                T.reduce_max(score, top, dim=1, clear=False)
                for i in T.Parallel(rows):
                    top[i] = T.max(top[i], old_top[i])
                for i in T.Parallel(rows):
                    rescale[i] = T.exp2(old_top[i] * scale - top[i] * scale)
                for i, j in T.Parallel(rows, keys):
                    score[i, j] = T.exp2(score[i, j] * scale - top[i] * scale)
                T.reduce_sum(score, part, dim=1)
                for i in T.Parallel(rows):
                    total[i] = total[i] * rescale[i] + part[i]
                T.copy(score, weight)
                for i, j in T.Parallel(rows, dim):
                    acc[i, j] *= rescale[i]
                T.copy(v[item, step * keys : (step + 1) * keys, head, :], v_tile)
                T.gemm(weight, v_tile, acc, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(rows, dim):
                acc[i, j] /= total[i]
            T.copy(acc, o_tile)
            T.copy(o_tile, o[item, tile * rows : (tile + 1) * rows, head, :])

    return main


@functools.cache
def forward(batch, heads, length, dim, causal):
    return kernel(batch, heads, length, dim, causal, *PLANS[dim])
