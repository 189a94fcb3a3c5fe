# Gradients on the reference device: numerical ones of float64 tensors, those of masks and a variant's own inputs, checkpoints, and what the compiler sees.
# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import selvedge.torch as st
from selvedge.torch._transformers import attention_forward

torch.manual_seed(0)


def leaf(*shape, dtype=torch.float64):
    return torch.randn(shape, dtype=torch.float64).to(dtype).requires_grad_()


def check(what, function, *inputs):
    """torch.autograd.gradcheck; the tolerances are those of f32, in which results are stored."""
    print(f"{what}: {torch.autograd.gradcheck(function, inputs, eps=1e-3, atol=1e-3, rtol=1e-3)}", flush=True)


def swapped(*tensors):
    return [t.transpose(1, 2) for t in tensors]


q, k, v = leaf(1, 2, 3, 4), leaf(1, 1, 4, 4), leaf(1, 1, 4, 4)
check("o and lse", lambda *t: st.attention(*t, return_lse=True), q, k, v)
check("bias", lambda b, *t: st.attention(*t, attn_mask=b), leaf(3, 4), q, k, v)
check("slopes", lambda s, *t: st.flash_attn_func(*swapped(*t), alibi_slopes=s, causal=True), leaf(2), q, k, v)
check("sinks", lambda s, *t: attention_forward(None, *t, None, is_causal=True, s_aux=s)[0], leaf(2), q, k, v)
cu, cu_k = torch.tensor([0, 1, 1, 3], dtype=torch.int32), torch.tensor([0, 2, 3, 4], dtype=torch.int32)
check("packed slopes", lambda s, *t: st.flash_attn_varlen_func(*(x[0] for x in swapped(*t)), cu, cu_k, alibi_slopes=s, causal=True), leaf(2), q, k, v)
own = st.variant("score(s, ...) = cap * tanh(s / cap) + (table[h, j] as f32); keep(...) = j <= i + W", "cap: f32 = 50, W: i32, table: f32[G*R, N]")
check("variant", lambda c, t, *x: own(*x, cap=c, table=t, W=torch.tensor(1)), torch.tensor(1.5, dtype=torch.float64).requires_grad_(), leaf(2, 4), q, k, v)
norm = st.variant("fn unit(x) = x * rsqrt(sum(x * x, D) / D + 0.000001); query(x, ...) = (unit(x as f32) * wq[:]) as T; key(x, ...) = (unit(x as f32) * wk[:]) as T",
                  "wq: f32[D], wk: f32[D]", causal=True)
check("norms of rows", lambda wq, wk, *x: norm(*x, wq=wq, wk=wk), leaf(4), leaf(4), q, k, v)


def gradients(function, inputs):
    leaves = [t.detach().clone().requires_grad_() for t in inputs]
    torch.manual_seed(1)
    o = function(*leaves)
    o.backward(torch.randn(o.shape).to(o.dtype))
    return [o.detach(), *(t.grad for t in leaves)]


def compare(what, found, wanted, limit=8e-3):
    worst = max(((x.double() - y.double()).norm() / y.double().norm()).item() for x, y in zip(found, wanted))
    same = all(x.dtype == y.dtype and x.shape == y.shape for x, y in zip(found, wanted))
    print(f"{what}: {'equal' if worst <= limit and same else worst}", flush=True)


# Biases that stand for rows, heads and batches, in the type of the queries and in f32; summed by PyTorch where the order matters.
q, k, v = leaf(2, 4, 12, 16, dtype=torch.bfloat16), leaf(2, 2, 12, 16, dtype=torch.bfloat16), leaf(2, 2, 12, 16, dtype=torch.bfloat16)


def sdpa(q, k, v, bias):
    return F.scaled_dot_product_attention(q.float(), k.float(), v.float(), bias.float(), enable_gqa=True).to(q.dtype)


def ours(q, k, v, bias):
    return st.attention(q, k, v, attn_mask=bias)


for shape, dtype in (((2, 4, 12, 12), torch.bfloat16), ((1, 4, 1, 12), torch.float32), ((2, 1, 12, 12), torch.float32), ((12,), torch.bfloat16)):
    inputs = q, k, v, leaf(*shape, dtype=dtype)
    compare(f"bias {list(shape)}", gradients(ours, inputs), gradients(sdpa, inputs))
bias = leaf(1, 4, 1, 12, dtype=torch.float32)
torch.use_deterministic_algorithms(True)
inputs = q, k, v, bias
compare("bias, deterministic", gradients(ours, inputs), gradients(sdpa, inputs))
torch.use_deterministic_algorithms(False)
eager = gradients(ours, inputs)
compare("compiled", gradients(torch.compile(ours, fullgraph=True, backend="aot_eager"), inputs), eager, 0.0)
for reentrant in (False, True):
    compare(f"checkpoint {reentrant}", gradients(lambda *t, way=reentrant: checkpoint(ours, *t, use_reentrant=way), inputs), eager, 0.0)

# Without other gradients, and with none wanted.
bias.grad = None
ours(*(t.detach() for t in (q, k, v)), bias).float().square().sum().backward()
print("alone:", tuple(bias.grad.shape), bool(bias.grad.abs().sum() > 0))
with torch.no_grad():
    print("none:", ours(q, k, v, bias).requires_grad)
text = 'import "flash_fwd.tile";\nop attention(diff bias: f32[~B, ~G*R, ~M, ~N]) extends flash_fwd { score(s, b, h, i, j) = s + bias[b, h, i, j]; }\n'
arguments = (*(t.transpose(1, 2) for t in (q, k, v)), [bias], "q,k,v,bias", [], "", text, "attention", True)
tests = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static")
print("opcheck:", set(torch.library.opcheck(torch.ops.selvedge.attention.default, arguments, test_utils=tests).values()))

# Gradients of k and v are sums in any order where long causal heads share keys, and none else; here by force, for the values.
from selvedge.torch import _ops, _text  # noqa: E402

causal, full = (_ops.on_one_line(_text.Text("flash_fwd", **params).source()[0]) for params in ({"causal": True}, {}))
q, k = torch.empty(1, 1024, 4, 128), torch.empty(1, 1024, 2, 128)
print("by head:", _ops.gains_by_head(q, k, k, causal), _ops.gains_by_head(q, q, q, causal), _ops.gains_by_head(q[:, 1:], k, k, causal),
      _ops.gains_by_head(q[..., :64], k[..., :64], k[..., :64], causal), _ops.gains_by_head(q, k, k, full))
# Of packed sequences where they are longer, and then sums have no order.
from selvedge.torch import _attention  # noqa: E402

packed = _ops.on_one_line(_text.Text("flash_varlen", causal=True).source()[0])
q, k = torch.empty(4096, 4, 128), torch.empty(4096, 2, 128)
print("packed by head:", *(_ops.gains_by_head(q, k, k, packed, sequences) for sequences in (1, 4, 8)))
_attention.hands_out_bulk_copies = lambda tensor: True
print("packed in order:", *(_attention.gains_in_order(q, keys, 4096, causal, sequences) for keys in (q, k) for causal in (False, True) for sequences in (4, 8, 16)))
dense, shared = torch.empty(1, 1, 4, 128), torch.empty(1, 1, 2, 128)
print("dense in order:", *(_attention.gains_in_order(dense[..., :head], keys[..., :head], rows, causal)
                           for head in (128, 64) for keys in (dense, shared) for causal in (False, True) for rows in (400, 800, 1100)))
_ops.gains_by_head = lambda *inputs: True
q, k, v = (leaf(1, 12, heads, 8, dtype=torch.float32) for heads in (4, 2, 2))
found = torch.autograd.grad(st.flash_attn_func(q, k, v, causal=True).square().sum(), (q, k, v))
wide = [t.repeat_interleave(2, 2) for t in (k, v)]
wanted = torch.autograd.grad(F.scaled_dot_product_attention(*swapped(q, *wide), is_causal=True).square().sum(), (q, k, v))
print("heads that share keys:", "equal" if all(torch.allclose(a, b, atol=1e-4, rtol=1e-4) for a, b in zip(found, wanted)) else "differ")
q, k, v = (t.detach()[0].requires_grad_() for t in (q, k, v))
_attention.hands_out_bulk_copies = lambda tensor: False
ends = torch.tensor([0, 5, 12], dtype=torch.int32)
found = torch.autograd.grad(st.flash_attn_varlen_func(q, k, v, ends, ends, causal=True).square().sum(), (q, k, v))
wanted = torch.autograd.grad(sum(st.flash_attn_func(*(t[None, a:b] for t in (q, k, v)), causal=True, deterministic=True).square().sum() for a, b in ((0, 5), (5, 12))),
                             (q, k, v))
print("packed heads that share keys:", "equal" if all(torch.allclose(a, b, atol=1e-4, rtol=1e-4) for a, b in zip(found, wanted)) else "differ")
