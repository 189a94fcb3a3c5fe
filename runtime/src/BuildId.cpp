// Which build of a program or library holds some code.
// SPDX-License-Identifier: MIT
#include "selvedge/DiskCache.h"

#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <optional>

namespace selvedge::inline runtime {

namespace {

struct Search {
  uintptr_t address;
  /// Found: its path, and the build id where the linker wrote one.
  std::optional<std::string> path;
  std::string id;
};

/// The GNU build id among the notes of a segment, in hexadecimal digits.
std::string findBuildId(const char *notes, size_t size) {
  auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
  ElfW(Nhdr) note;
  while (size >= sizeof(note)) {
    std::memcpy(&note, notes, sizeof(note));
    size_t name = padded(note.n_namesz), content = padded(note.n_descsz);
    if (name > size - sizeof(note) || content > size - sizeof(note) - name)
      break;
    const char *text = notes + sizeof(note);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(text, "GNU", 4) == 0) {
      std::string digits;
      for (size_t i = 0; i < note.n_descsz; ++i)
        digits +=
            fmt::format("{:02x}", static_cast<unsigned char>(text[name + i]));
      return digits;
    }
    notes += sizeof(note) + name + content;
    size -= sizeof(note) + name + content;
  }
  return "";
}

int inspect(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  auto *begin = info->dlpi_phdr, *end = begin + info->dlpi_phnum;
  for (auto *header = begin; header != end; ++header) {
    uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_LOAD && search.address >= start &&
        search.address - start < header->p_memsz)
      search.path = info->dlpi_name;
  }
  if (!search.path)
    return 0;
  for (auto *header = begin; header != end && search.id.empty(); ++header)
    if (header->p_type == PT_NOTE)
      search.id = findBuildId(
          reinterpret_cast<const char *>(info->dlpi_addr + header->p_vaddr),
          header->p_memsz);
  return 1;
}

} // namespace

std::string identifyCode(const void *inside) {
  Search search{reinterpret_cast<uintptr_t>(inside), std::nullopt, ""};
  ::dl_iterate_phdr(inspect, &search);
  if (!search.id.empty())
    return "build " + search.id;
  // The program itself has no name here.
  bool isLibrary = search.path && !search.path->empty();
  return identifyFile(isLibrary ? *search.path : "/proc/self/exe");
}

} // namespace selvedge::inline runtime
