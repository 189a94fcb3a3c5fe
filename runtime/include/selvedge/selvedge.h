/* The runtime for C and whatever can call it: load an artefact, launch it.
 * SPDX-License-Identifier: MIT */
#ifndef SELVEDGE_SELVEDGE_H
#define SELVEDGE_SELVEDGE_H

#include "selvedge/Version.h"

#include <stddef.h>
#include <stdint.h>

/** Everything else in the library is hidden. */
#define SELVEDGE_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/** What functions return. */
typedef enum {
  SELVEDGE_OK = 0,
  /** The caller's file, tensor, shape or option is wrong, or a pointer null. */
  SELVEDGE_BAD_INPUT = 1,
  /** This machine lacks what is needed: a driver, a GPU, ptxas. */
  SELVEDGE_UNAVAILABLE = 2,
  /** Everything was in order and the operation failed all the same. */
  SELVEDGE_FAILED = 3,
  /** The caller's buffer is too short for the result. */
  SELVEDGE_SHORT_BUFFER = 4
} selvedge_status;

/** The version of the library, "0.1.0"; SELVEDGE_VERSION_TEXT is that of the
 * header. */
SELVEDGE_EXPORT const char *selvedge_version(void);

/** What the last call of this thread that failed had to say, and its status.
 * Empty and SELVEDGE_OK before the first. The text is good until the next call
 * of this thread. */
SELVEDGE_EXPORT const char *selvedge_last_error(void);
SELVEDGE_EXPORT selvedge_status selvedge_last_status(void);

/** An op, loaded on one GPU. Launches are thread safe. */
typedef struct selvedge_op selvedge_op;

/** What an op takes: names, types and shapes. Does not change, thread safe. */
typedef struct selvedge_signature selvedge_signature;

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

/** A dim by name. */
typedef struct {
  const char *name;
  int64_t value;
} selvedge_dim;

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
  /** Dims that no shape determines; others are compared with the shapes. */
  const selvedge_dim *dims;
  size_t dim_count;
} selvedge_arguments;

/** Loads an artefact on GPU `ordinal`, in its primary context: from a file,
 * or from memory (what --emit header writes), which is not needed afterwards.
 * Null where that fails. */
SELVEDGE_EXPORT selvedge_op *selvedge_load(const char *path, int ordinal);
SELVEDGE_EXPORT selvedge_op *selvedge_load_memory(const void *bytes,
                                                  size_t size, int ordinal);
/** The same in a context (a CUcontext) of the caller's, which has to outlive
 * the op. */
SELVEDGE_EXPORT selvedge_op *
selvedge_load_in_context(const void *bytes, size_t size, void *context);

/** Null is fine. Work that was launched must have ended, and graphs that it was
 * captured into must not be launched again. */
SELVEDGE_EXPORT void selvedge_unload(selvedge_op *op);

/** How the code got onto the GPU, such as "cubin"; lives as long as `op`. */
SELVEDGE_EXPORT const char *selvedge_origin(const selvedge_op *op);

/** Bytes of workspace for these tensors. */
SELVEDGE_EXPORT selvedge_status
selvedge_workspace_size(const selvedge_op *op,
                        const selvedge_arguments *arguments, uint64_t *bytes);

/** Does all that the first launch with such arguments would do before it
 * launches: checks them, compiles where the op comes from selvedge_jit(), and
 * loads the code. Not while a stream of the context is captured. */
SELVEDGE_EXPORT selvedge_status
selvedge_prepare(const selvedge_op *op, const selvedge_arguments *arguments);

/** Launches on `stream` (a CUstream) and does not wait. */
SELVEDGE_EXPORT selvedge_status selvedge_launch(
    const selvedge_op *op, const selvedge_arguments *arguments, void *stream);

/** The same, once the integers that the op requires something of have been
 * checked: SELVEDGE_BAD_INPUT, and nothing is launched, where they break it.
 * Copies them to the host and waits for `stream`, which must not be captured.
 */
SELVEDGE_EXPORT selvedge_status selvedge_launch_validated(
    const selvedge_op *op, const selvedge_arguments *arguments, void *stream);

/** Writes what a launch of the artefact at `path` would do, one kernel per
 * line, into `text` of `size` bytes, the final zero included; as much as fits
 * where that is too little. Needs no GPU and does not use the addresses, which
 * decide about alignment only. */
SELVEDGE_EXPORT selvedge_status
selvedge_describe(const char *path, const selvedge_arguments *arguments,
                  char *text, size_t size);

/** How an op uses a tensor. */
typedef enum {
  SELVEDGE_IN = 0,
  SELVEDGE_OUT = 1,
  SELVEDGE_INOUT = 2,
  /** In the workspace: never an argument. */
  SELVEDGE_TEMP = 3
} selvedge_role;

/** A tensor of a signature. Texts live as long as the signature. */
typedef struct {
  const char *name;
  selvedge_role role;
  /** DLPack's code and bits of the element type. */
  uint8_t code;
  uint8_t bits;
  size_t rank;
  /** Whether it may be missing. */
  int optional;
  /** "bf16[B, M, G*R, 128]". */
  const char *type;
} selvedge_tensor_info;

/** A scalar of a signature. */
typedef struct {
  const char *name;
  uint8_t code;
  uint8_t bits;
  int has_default;
  /** NaN where it depends on dims. */
  double default_value;
} selvedge_scalar_info;

/** The signature of an artefact in a file or in memory, without a GPU; null
 * where that fails. */
SELVEDGE_EXPORT selvedge_signature *selvedge_read_signature(const char *path);
SELVEDGE_EXPORT selvedge_signature *selvedge_decode_signature(const void *bytes,
                                                              size_t size);
/** Null is fine. */
SELVEDGE_EXPORT void selvedge_free_signature(selvedge_signature *signature);
/** That of a loaded op, with which it ends. */
SELVEDGE_EXPORT const selvedge_signature *
selvedge_op_signature(const selvedge_op *op);

/** Name and architecture ("sm_90a"); empty for null. */
SELVEDGE_EXPORT const char *
selvedge_signature_name(const selvedge_signature *signature);
SELVEDGE_EXPORT const char *
selvedge_signature_arch(const selvedge_signature *signature);

/** How many there are; 0 for null. */
SELVEDGE_EXPORT size_t
selvedge_tensor_count(const selvedge_signature *signature);
SELVEDGE_EXPORT size_t
selvedge_scalar_count(const selvedge_signature *signature);
SELVEDGE_EXPORT size_t selvedge_dim_count(const selvedge_signature *signature);
SELVEDGE_EXPORT size_t
selvedge_param_count(const selvedge_signature *signature);

/** The one at `index`. */
SELVEDGE_EXPORT selvedge_status
selvedge_get_tensor(const selvedge_signature *signature, size_t index,
                    selvedge_tensor_info *info);
SELVEDGE_EXPORT selvedge_status
selvedge_get_scalar(const selvedge_signature *signature, size_t index,
                    selvedge_scalar_info *info);
/** The extents of tensor `index` in a launch with these arguments: what an
 * output has to be. `shape` takes the tensor's rank of them. Addresses are not
 * used, tensors may be on any device, and the one asked for may be missing. */
SELVEDGE_EXPORT selvedge_status selvedge_tensor_shape(
    const selvedge_signature *signature, const selvedge_arguments *arguments,
    size_t index, int64_t *shape);
/** Name of a dim, null where there is none. */
SELVEDGE_EXPORT const char *
selvedge_get_dim(const selvedge_signature *signature, size_t index);
/** Name and value of what was bound when the op was compiled. */
SELVEDGE_EXPORT selvedge_status
selvedge_get_param(const selvedge_signature *signature, size_t index,
                   const char **name, const char **value);

#ifdef __cplusplus
}
#endif

#endif
