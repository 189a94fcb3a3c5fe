/* The compiler for C: a source to an artefact, in this process. Part of the
 * library selvedge_jit, which has all of selvedge.h as well.
 * SPDX-License-Identifier: MIT */
#ifndef SELVEDGE_JIT_H
#define SELVEDGE_JIT_H

#include "selvedge/selvedge.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A parameter of an op and its value as text. */
typedef struct {
  const char *name;
  const char *value;
} selvedge_binding;

/** What to compile. What is zero takes its default, but for the source. */
typedef struct {
  /** The text of a .tile file. */
  const char *source;
  /** Its name in messages; files that it imports are looked for beside it. */
  const char *file_name;
  /** Default: the first op of the file. */
  const char *op;
  /** "sm_80" or "sm_90a"; null is for functions that say so. */
  const char *arch;
  const selvedge_binding *bindings;
  size_t binding_count;
  /** Further folders of imported files. */
  const char *const *import_folders;
  size_t import_folder_count;
  /** Not zero: what a mask removes has no influence even where it is NaN. */
  int exact_masks;
} selvedge_compile_request;

/** The outcome of a compilation. */
typedef struct selvedge_compiled selvedge_compiled;

/** Compiles, or takes the result from the cache on disk. SELVEDGE_BAD_INPUT:
 * the source or a binding is wrong, and selvedge_last_error() says where;
 * SELVEDGE_FAILED: a defect of the compiler. `*compiled` is null then. Thread
 * safe. */
SELVEDGE_EXPORT selvedge_status selvedge_compile(
    const selvedge_compile_request *request, selvedge_compiled **compiled);
/** Null is fine. */
SELVEDGE_EXPORT void selvedge_free_compiled(selvedge_compiled *compiled);

/** The artefact, for selvedge_load_memory(); lives as long as `compiled`. */
SELVEDGE_EXPORT const void *
selvedge_compiled_bytes(const selvedge_compiled *compiled, size_t *size);
/** Warnings, or nothing. */
SELVEDGE_EXPORT const char *
selvedge_compiled_warnings(const selvedge_compiled *compiled);

/** The signature of a source, without a GPU; `arch` may be null. The caller
 * frees it. Null where that fails. */
SELVEDGE_EXPORT selvedge_signature *
selvedge_source_signature(const selvedge_compile_request *request);

/** Executes on the reference device, in fp64 and rounded once, with tensors in
 * host memory: slow, for tests and for machines without a GPU. `arch` may be
 * null, and there is no workspace. What the op requires is checked. */
SELVEDGE_EXPORT selvedge_status
selvedge_run_reference(const selvedge_compile_request *request,
                       const selvedge_arguments *arguments);

/** Compiles for launches on GPU `ordinal`, for its architecture where `arch` is
 * null: at once the host program, the code
 * of a class of strides and alignments with the first launch that takes it,
 * which waits, or with selvedge_prepare(). What no verifier has agreed to is
 * never launched. Parts come from the cache on disk where it has them. Null
 * where it fails, as selvedge_compile() does; what is wrong with a class alone
 * its first launch says. The op belongs to the caller, and is unloaded as any
 * other. Thread safe. */
SELVEDGE_EXPORT selvedge_op *
selvedge_jit(const selvedge_compile_request *request, int ordinal);

#ifdef __cplusplus
}
#endif

#endif
