#!/usr/bin/env python3
"""Models of transformers, random weights, with attn_implementation="selvedge": prefill, decode with a cache, training steps.

models.py [--only MODEL,...] [--device cuda|ref] [--budget S] [--json table.json] [--csv models.csv] [--list]

Beside ours stands the peer: SDPA, or `eager` where SDPA lacks a feature of the model. Both are compared with the same model in float32 (`eager`), whose weights
are the same numbers. On a GPU models have the layers' sizes of the real ones in bf16; on `ref`, the reference device, they are small and float32. A measure fails
if our error is more than twice the peer's, or if a token differs that is no near tie. tools/bench/tables.py writes the table of docs/python.md from the CSV.
"""
# SPDX-License-Identifier: MIT
import argparse
import csv

import clients

# Layers of Llama 3 8B, Mistral 7B, Gemma 2 9B, Gemma 3 12B and gpt-oss 20B. Windows are shorter, so that they hide keys.
# All experts take part: a choice between equals would hide errors.
SIZES = ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim", "sliding_window")
MODELS = {
    "Llama": ("LlamaConfig", (4096, 14336, 32, 8, 128, None), {}, "sdpa"),
    "Mistral": ("MistralConfig", (4096, 14336, 32, 8, 128, 256), {}, "sdpa"),
    "Gemma 2": ("Gemma2Config", (3584, 14336, 16, 8, 256, 256), {"query_pre_attn_scalar": 256}, "eager"),
    "Gemma 3": ("Gemma3TextConfig", (3840, 15360, 16, 8, 256, 256), {"query_pre_attn_scalar": 256}, "sdpa"),
    "gpt-oss": ("GptOssConfig", (2880, 2880, 64, 8, 64, 128), {"num_local_experts": 4, "num_experts_per_tok": 4}, "eager"),
}
ROWS = []
COLUMNS = ["model", "heads", "kv_heads", "head_dim", "window", "measure", "selvedge", "peer", "peer_name", "reference", "pass"]


class Run:
    """Sizes of a device: of models, of inputs."""

    def __init__(self, device):
        import torch

        self.small = device == "ref"
        self.device = torch.device("cpu" if self.small else "cuda")
        self.dtype = torch.float32 if self.small else torch.bfloat16
        self.vocabulary, self.positions, self.padding = (64, 20, 5) if self.small else (32000, 1000, 300)
        self.prompt, self.tokens, self.steps = (8, 6, 3) if self.small else (200, 64, 20)
        # float32 differs by the order of sums alone.
        self.least = 1e-4 if self.small else 2e-3


def make_model(name, run):
    import torch
    import transformers

    kind, sizes, more, _ = MODELS[name]
    sizes, more = dict(zip(SIZES, sizes)), dict(more)
    if run.small:
        sizes.update(hidden_size=32, intermediate_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=8, sliding_window=sizes["sliding_window"] and 8)
        if "query_pre_attn_scalar" in more:
            more["query_pre_attn_scalar"] = 8
    if not sizes["sliding_window"]:
        del sizes["sliding_window"]
    config = getattr(transformers, kind)(**sizes, **more, vocab_size=run.vocabulary, num_hidden_layers=2, max_position_embeddings=4096,
                                         pad_token_id=None, eos_token_id=None, bos_token_id=None)
    if name == "Gemma 3":
        config.layer_types = ["sliding_attention", "full_attention"]
    torch.manual_seed(0)
    with run.device:
        return transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").to(run.dtype).eval(), config


def decode(model, prompt, tokens):
    """Logits of each of `tokens` but the last, which go through the cache one by one, and of the prompt's last position."""
    import torch

    with torch.no_grad():
        out = model(prompt, use_cache=True)
        found = [out.logits[:, -1].float()]
        for i in range(tokens.shape[1] - 1):
            out = model(tokens[:, i:i + 1], past_key_values=out.past_key_values, use_cache=True)
            found.append(out.logits[:, -1].float())
    return torch.stack(found, 1)


def train(model, ids, steps):
    """The loss of each step on one batch, and the gradients of the first."""
    import torch

    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model.train()
    losses, gradients = [], None
    for _ in range(steps):
        optimiser.zero_grad()
        loss = model(ids, labels=ids).loss
        loss.backward()
        losses.append(loss.item())
        if gradients is None:
            gradients = torch.cat([p.grad.float().flatten() for p in model.parameters() if p.grad is not None])
        optimiser.step()
    model.eval()
    return losses, gradients


def measured(model, weights, run, kind, ids, padding, tokens):
    """All results of one kind of attention; `weights` are restored, as training changes them. Without tokens the model chooses them."""
    import torch

    model.load_state_dict(weights)
    model.set_attn_implementation(kind)
    prompt = ids[:1, :run.prompt]
    with torch.no_grad():
        prefill = model(ids).logits.float()
        padded = model(ids, attention_mask=padding).logits[padding.bool()].float()
        greedy = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=run.tokens, do_sample=False)[:, run.prompt:]
    tokens = greedy if tokens is None else tokens
    steps = decode(model, prompt, tokens)
    losses, gradients = train(model, ids, run.steps)
    return {"prefill": prefill, "padded": padded, "greedy": greedy, "decode": steps, "losses": losses, "gradients": gradients, "tokens": tokens}


def error(x, wanted):
    x, wanted = x.double(), wanted.double()
    return ((x - wanted).norm() / wanted.norm()).item()


def equal_first(x, y):
    return (x == y).long().flatten().cumprod(0).sum().item()


def compare(name, run):
    import torch

    model, config = make_model(name, run)
    peer = MODELS[name][3]
    torch.manual_seed(1)
    ids = torch.randint(0, run.vocabulary, (2, run.positions), device=run.device)
    padding = torch.ones_like(ids)
    padding[1, :run.padding] = 0
    weights = {key: value.clone() for key, value in model.state_dict().items()}
    exact = measured(model.float(), weights, run, "eager", ids, padding, None)
    model.to(run.dtype)
    ours, theirs = (measured(model, weights, run, kind, ids, padding, exact["tokens"]) for kind in ("selvedge", peer))

    shape = (config.num_attention_heads, config.num_key_value_heads, config.head_dim, getattr(config, "sliding_window", None) or "")

    def row(measure, mine, own, passed, reference=""):
        ROWS.append(dict(zip(COLUMNS, (name, *shape, measure, mine, own, peer, reference, passed))))
        clients.record(f"{name}: {measure}", passed, selvedge=mine, **{peer: own}, **({"reference": reference} if reference != "" else {}))

    for key, measure in (("prefill", "error of prefill"), ("padded", "error of a padded prefill"), ("decode", "error of decode"), ("gradients", "error of gradients")):
        mine, own = error(ours[key], exact[key]), error(theirs[key], exact[key])
        row(measure, mine, own, mine <= max(2 * own, run.least))
    for key, measure in (("prefill", "tokens of prefill"), ("decode", "tokens of decode")):
        # Random weights leave near ties: a token is wrong where the peer's errors could not have changed it.
        best = exact[key].topk(2, -1)
        is_clear = best.values[..., 0] - best.values[..., 1] > 6 * (theirs[key] - exact[key]).square().mean().sqrt()
        equal = [found[key].argmax(-1) == best.indices[..., 0] for found in (ours, theirs)]
        row(measure, *(same.sum().item() for same in equal), equal[0][is_clear].all().item(), is_clear.numel())
    mine, own = (equal_first(found["greedy"], exact["greedy"]) for found in (ours, theirs))
    row("first tokens of generate", mine, own, mine >= own if run.small else mine > 0, run.tokens)
    for step, (mine, own, wanted) in enumerate(zip(ours["losses"], theirs["losses"], exact["losses"]), 1):
        row(f"loss of step {step}", mine, own, abs(mine - wanted) <= max(2 * abs(own - wanted), 0.02), wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cuda", "ref"], default="cuda")
    parser.add_argument("--csv", help="the measures, written as models end")
    options = clients.parse(parser, MODELS)
    import torch
    import transformers

    clients.find_package()
    import selvedge.torch as st

    st.register_transformers()
    run = Run(options.device)
    facts = {"device": "the reference device" if run.small else torch.cuda.get_device_name(), "torch": torch.__version__, "transformers": transformers.__version__}
    print(" ".join(f"{key} {value}" for key, value in facts.items()), flush=True)

    def case(name):
        compare(name, run)
        if options.csv:
            with open(options.csv, "w", newline="", encoding="utf-8") as file:
                file.writelines(f"# {key}: {value}\n" for key, value in facts.items())
                writer = csv.DictWriter(file, COLUMNS)
                writer.writeheader()
                writer.writerows(ROWS)

    clients.run({name: lambda name=name: case(name) for name in MODELS}, options)


if __name__ == "__main__":
    main()
