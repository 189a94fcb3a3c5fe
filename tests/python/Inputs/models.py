# Small models of transformers with random weights, in float32 on the reference device, beside their own attention: logits, padding, generation, a training step.
# SPDX-License-Identifier: MIT
import torch
from transformers import AutoModelForCausalLM, Gemma2Config, GptOssConfig, LlamaConfig, MistralConfig

import selvedge.torch as st

st.register_transformers()
COMMON = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
          "max_position_embeddings": 128, "pad_token_id": 0, "eos_token_id": None, "bos_token_id": None}
CONFIGS = {"Llama": LlamaConfig(**COMMON), "Mistral": MistralConfig(**COMMON, sliding_window=8), "Gemma 2": Gemma2Config(**COMMON, sliding_window=8, query_pre_attn_scalar=8),
           "gpt-oss": GptOssConfig(**COMMON, sliding_window=8, num_local_experts=2, num_experts_per_tok=1)}


def results(model, ids, padding):
    with torch.no_grad():
        logits, padded = model(ids).logits, model(ids, attention_mask=padding).logits[padding.bool()]
        tokens = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=5, do_sample=False)
    model.zero_grad()
    loss = model(ids, labels=ids).loss
    loss.backward()
    return [logits, padded, loss.detach(), *(p.grad for p in model.parameters() if p.grad is not None)], tokens


for name, config in CONFIGS.items():
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    ids = torch.randint(1, 64, (2, 20))
    padding = torch.ones_like(ids)
    padding[1, :5] = 0
    wanted, tokens = results(model, ids, padding)
    model.set_attn_implementation("selvedge")
    found, own = results(model, ids, padding)
    worst = max((x - y).abs().max().item() / max(y.abs().max().item(), 1e-3) for x, y in zip(found, wanted))
    print(f"{name}: {'equal' if worst < 1e-4 and len(found) == len(wanted) else worst} {torch.equal(own, tokens)}", flush=True)
