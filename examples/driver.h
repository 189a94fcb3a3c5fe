/* The few functions of the CUDA driver that the C examples need, so that they
 * are built without the toolkit.
 * SPDX-License-Identifier: MIT */
#ifndef SELVEDGE_EXAMPLES_DRIVER_H
#define SELVEDGE_EXAMPLES_DRIVER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/* DLPack's DLTensor. */
typedef struct {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} tensor_t;

/* A contiguous f32 tensor of rank 2 on GPU 0. */
static tensor_t matrix(void *data, int64_t *shape) {
  tensor_t tensor = {data, 2, 0, 2, 2, 32, 1, shape, NULL, 0};
  return tensor;
}

typedef struct {
  int (*alloc)(unsigned long long *, size_t);
  int (*to)(unsigned long long, const void *, size_t);
  int (*from)(void *, unsigned long long, size_t);
  int (*push)(void *);
} driver_t;

/* Makes GPU 0's primary context current; 0 where that fails. */
static int open_driver(driver_t *driver) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned), (*retain)(void **, int);
  void *context = NULL;
  if (!cuda)
    return 0;
  *(void **)&init = dlsym(cuda, "cuInit");
  *(void **)&retain = dlsym(cuda, "cuDevicePrimaryCtxRetain");
  *(void **)&driver->alloc = dlsym(cuda, "cuMemAlloc_v2");
  *(void **)&driver->to = dlsym(cuda, "cuMemcpyHtoD_v2");
  *(void **)&driver->from = dlsym(cuda, "cuMemcpyDtoH_v2");
  *(void **)&driver->push = dlsym(cuda, "cuCtxPushCurrent_v2");
  return init(0) == 0 && retain(&context, 0) == 0 && driver->push(context) == 0;
}

#endif
