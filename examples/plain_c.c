/* Launches an artefact of axpy from C, and prints what it takes.
 * SPDX-License-Identifier: MIT */
#include "driver.h"
#include "selvedge/selvedge.h"

#include <stdio.h>

static int fail(void) {
  fprintf(stderr, "plain_c: %s (status %d)\n", selvedge_last_error(),
          (int)selvedge_last_status());
  return 1;
}

int main(int argc, char **argv) {
  float host[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape[2] = {2, 3};
  unsigned long long x = 0, y = 0;
  uint64_t bytes = 0;
  driver_t driver;
  selvedge_op *op = selvedge_load(argc == 2 ? argv[1] : NULL, 0);
  if (!op || !open_driver(&driver))
    return fail();
  const selvedge_signature *signature = selvedge_op_signature(op);
  printf("%s %s %s\n", selvedge_version(), selvedge_signature_name(signature),
         selvedge_origin(op));
  for (size_t i = 0; i < selvedge_tensor_count(signature); ++i) {
    selvedge_tensor_info info;
    if (selvedge_get_tensor(signature, i, &info) != SELVEDGE_OK)
      return fail();
    printf("%s: %s%s\n", info.name, info.type, info.optional ? "?" : "");
  }
  if (driver.alloc(&x, sizeof(host)) || driver.alloc(&y, sizeof(host)) ||
      driver.to(x, host, sizeof(host)))
    return 1;
  tensor_t tensors[2] = {matrix((void *)(uintptr_t)x, shape),
                         matrix((void *)(uintptr_t)y, shape)};
  selvedge_tensor names[2] = {{"x", &tensors[0]}, {"y", &tensors[1]}};
  selvedge_scalar scalars[1] = {{"a", 10}};
  selvedge_arguments arguments = {names, 2, scalars, 1, NULL, 0, NULL, 0};
  if (selvedge_workspace_size(op, &arguments, &bytes) != SELVEDGE_OK ||
      selvedge_launch(op, &arguments, NULL) != SELVEDGE_OK)
    return fail();
  if (driver.from(host, y, sizeof(host)))
    return 1;
  for (int i = 0; i < 6; ++i)
    printf("%g ", (double)host[i]);
  printf("\n");
  selvedge_unload(op);
  return 0;
}
