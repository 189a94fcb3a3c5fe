/* The runtime for C and whatever can call it: load an artefact, launch it.
 * SPDX-License-Identifier: MIT */
#ifndef SELVEDGE_SELVEDGE_H
#define SELVEDGE_SELVEDGE_H

#include <stddef.h>
#include <stdint.h>

/** Everything else in the library is hidden. */
#define SELVEDGE_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/** An op, loaded on one GPU. Launches are thread safe. */
typedef struct selvedge_op selvedge_op;

/** A tensor by name; `tensor` points to a DLTensor of DLPack. */
typedef struct {
  const char *name;
  const void *tensor;
} selvedge_tensor;

/** A scalar by name. */
typedef struct {
  const char *name;
  double value;
} selvedge_scalar;

/** What a launch takes. Optional tensors and scalars with a default may be
 * missing. */
typedef struct {
  const selvedge_tensor *tensors;
  size_t tensor_count;
  const selvedge_scalar *scalars;
  size_t scalar_count;
  /** GPU memory, aligned to 256 bytes, of selvedge_workspace_size() bytes. */
  void *workspace;
  uint64_t workspace_bytes;
} selvedge_arguments;

/** What the last call of this thread that failed had to say. */
SELVEDGE_EXPORT const char *selvedge_last_error(void);

/** Loads an artefact on GPU `ordinal`; null where that fails. */
SELVEDGE_EXPORT selvedge_op *selvedge_load(const char *path, int ordinal);

/** Null is fine. Work that was launched must have ended. */
SELVEDGE_EXPORT void selvedge_unload(selvedge_op *op);

/** How the code got onto the GPU, such as "cubin"; lives as long as `op`. */
SELVEDGE_EXPORT const char *selvedge_origin(const selvedge_op *op);

/** Bytes of workspace for these tensors. Like all below: 0, or -1 and an
 * error. */
SELVEDGE_EXPORT int selvedge_workspace_size(const selvedge_op *op,
                                            const selvedge_arguments *arguments,
                                            uint64_t *bytes);

/** Launches on `stream` (a CUstream) and does not wait. */
SELVEDGE_EXPORT int selvedge_launch(const selvedge_op *op,
                                    const selvedge_arguments *arguments,
                                    void *stream);

/** Writes what a launch of the artefact at `path` would do, one kernel per
 * line, into `text` of `size` bytes, the final zero included. Needs no GPU and
 * does not use the addresses, which decide about alignment only. */
SELVEDGE_EXPORT int selvedge_describe(const char *path,
                                      const selvedge_arguments *arguments,
                                      char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
