/* A library to preload: programs see a GPU whose thread blocks have no more than
 * SHARED_LIMIT bytes of shared memory. Libraries that choose kernels by that
 * limit, such as FlashAttention-2, then choose those of a smaller GPU.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

enum { maxSharedMemoryPerBlockOptin = 97, unknownError = 999 };

typedef int (*GetAttribute)(int *, int, int);

int cudaDeviceGetAttribute(int *value, int attribute, int device) {
  GetAttribute next =
      (GetAttribute)dlsym(RTLD_NEXT, "cudaDeviceGetAttribute");
  const char *limit = getenv("SHARED_LIMIT");
  int status = next ? next(value, attribute, device) : unknownError;
  if (status == 0 && limit && attribute == maxSharedMemoryPerBlockOptin &&
      *value > atoi(limit))
    *value = atoi(limit);
  return status;
}
