/* What libstdc++ and libgcc, linked statically, ask of the C library that older
 * ones than the one at hand lack. With it a program starts from glibc 2.34 on.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* glibc 2.36; std::random_device. */
HIDDEN uint32_t arc4random(void) {
  uint32_t value = 0;
  if (getrandom(&value, sizeof(value), 0) != sizeof(value))
    abort();
  return value;
}

struct search {
  uintptr_t address;
  struct dl_find_object *result;
};

static int inspect(struct dl_phdr_info *info, size_t size, void *data) {
  const struct search *search = data;
  const ElfW(Phdr) *frames = NULL, *found = NULL;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME)
      frames = header;
    else if (header->p_type == PT_LOAD && search->address >= start &&
             search->address - start < header->p_memsz)
      found = header;
  }
  (void)size;
  if (!found)
    return 0;
  if (!frames)
    return -1;
  *search->result = (struct dl_find_object){
      .dlfo_map_start = (void *)(info->dlpi_addr + found->p_vaddr),
      .dlfo_map_end =
          (void *)(info->dlpi_addr + found->p_vaddr + found->p_memsz),
      .dlfo_eh_frame = (void *)(info->dlpi_addr + frames->p_vaddr)};
  return 1;
}

/* glibc 2.35; the frames of the code at an address, for exceptions. */
HIDDEN int _dl_find_object(void *address, struct dl_find_object *result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(inspect, &search) == 1 ? 0 : -1;
}
