// Files in memory that child processes can open.
// SPDX-License-Identifier: MIT
#include "runtime/src/Process.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace selvedge::inline runtime {

namespace {

Status fileError(const char *what) {
  return Status::failed(std::string("cannot ") + what +
                        " a file in memory: " + std::strerror(errno));
}

} // namespace

Result<MemoryFile> MemoryFile::create(std::string_view content) {
  MemoryFile file(::memfd_create("selvedge", MFD_CLOEXEC));
  if (file.number < 0)
    return fileError("create");
  while (!content.empty()) {
    ssize_t written = ::write(file.number, content.data(), content.size());
    if (written < 0 && errno != EINTR)
      return fileError("write");
    content.remove_prefix(static_cast<size_t>(written < 0 ? 0 : written));
  }
  return file;
}

MemoryFile::MemoryFile(MemoryFile &&other) noexcept
    : number(std::exchange(other.number, -1)) {}

MemoryFile::~MemoryFile() {
  if (number >= 0)
    ::close(number);
}

Result<std::string> MemoryFile::read() const {
  struct stat info = {};
  if (::fstat(number, &info) != 0)
    return fileError("read");
  std::string content(static_cast<size_t>(info.st_size), '\0');
  for (size_t used = 0; used < content.size();) {
    ssize_t got = ::pread(number, content.data() + used, content.size() - used,
                          static_cast<off_t>(used));
    if (got == 0 || (got < 0 && errno != EINTR))
      return fileError("read");
    used += static_cast<size_t>(got < 0 ? 0 : got);
  }
  return content;
}

std::string MemoryFile::path() const {
  // By the number of this process: a child closes what it does not know.
  return "/proc/" + std::to_string(::getpid()) + "/fd/" +
         std::to_string(number);
}

} // namespace selvedge::inline runtime
