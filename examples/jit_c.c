/* Compiles a source and launches it from C.
 * SPDX-License-Identifier: MIT */
#include "selvedge/jit.h"

#include <stdio.h>

static const char *source =
    "op axpy<K: int = 1>(x: f32[M, N], a: f32 = 2)\n"
    "-> (y: f32[M, N] out_init(0)) {\n"
    "  kernel main(i in M by BM) { for j in N by BN { y[i, j] = a * x[i, j]; } "
    "}\n"
    "}\n";

static int fail(void) {
  fprintf(stderr, "jit_c: %s (status %d)\n", selvedge_last_error(),
          (int)selvedge_last_status());
  return 1;
}

int main(void) {
  selvedge_binding bindings[1] = {{"K", "2"}};
  selvedge_compile_request request = {0};
  selvedge_compiled *compiled = NULL;
  size_t size = 0;
  request.source = source;
  request.arch = "sm_80";
  request.bindings = bindings;
  request.binding_count = 1;
  if (selvedge_compile(&request, &compiled) != SELVEDGE_OK)
    return fail();
  const void *bytes = selvedge_compiled_bytes(compiled, &size);
  selvedge_op *op = selvedge_load_memory(bytes, size, 0);
  selvedge_free_compiled(compiled);
  if (!op)
    return fail();
  const char *name = NULL, *value = NULL;
  if (selvedge_get_param(selvedge_op_signature(op), 0, &name, &value))
    return fail();
  printf("%s = %s\n", name, value);
  selvedge_unload(op);

  /* What is wrong is said with its place. */
  request.binding_count = 0;
  request.source = "op axpy(x: f32[N]) -> (y: f32[N] out_init(0)) {}";
  if (selvedge_compile(&request, &compiled) != SELVEDGE_BAD_INPUT)
    return 1;
  printf("%s", selvedge_last_error());
  return 0;
}
