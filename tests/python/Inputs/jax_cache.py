# A program of JAX that XLA keeps on disk: the process that reads it finds the op again.
# SPDX-License-Identifier: MIT
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import selvedge  # noqa: E402
import selvedge.jax as sj  # noqa: E402

for name, value in (("compilation_cache_dir", sys.argv[1]), ("persistent_cache_min_compile_time_secs", 0), ("persistent_cache_min_entry_size_bytes", -1)):
    jax.config.update("jax_" + name, value)
before = {name for name in os.listdir(sys.argv[1]) if name.endswith("-cache")}
axpy = selvedge.jit("op axpy(x: f32[N], a: f32 = 2) -> (y: f32[N] out_init(0)) { kernel main(i in N by BN) { y[i] = a * x[i]; } }")
y = jax.jit(lambda x: sj.call(axpy, x, a=3))(jnp.ones(4, jnp.float32))
print(y.tolist(), "written:", any("lambda" in name for name in {name for name in os.listdir(sys.argv[1]) if name.endswith("-cache")} - before))
