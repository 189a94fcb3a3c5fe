// Reading and atomically replacing files.
// SPDX-License-Identifier: MIT
#include "selvedge/File.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace selvedge::inline runtime {

namespace {

Status fileError(const char *what, const std::string &path, int error) {
  return Status::badInput(
      fmt::format("cannot {} '{}': {}", what, path, std::strerror(error)));
}

/// Closes a file descriptor at the end of the scope.
class FileDescriptor {
public:
  explicit FileDescriptor(int number) : number(number) {}
  ~FileDescriptor() {
    if (number >= 0)
      ::close(number);
  }
  FileDescriptor(const FileDescriptor &) = delete;
  FileDescriptor &operator=(const FileDescriptor &) = delete;
  int get() const { return number; }
  /// Closes now; 0 or the error.
  int close() {
    int result = ::close(number);
    number = -1;
    return result == 0 ? 0 : errno;
  }

private:
  int number;
};

/// 0 or the error.
int writeAll(int file, const std::vector<std::string_view> &parts) {
  for (std::string_view part : parts) {
    while (!part.empty()) {
      ssize_t written = ::write(file, part.data(), part.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        return errno;
      part.remove_prefix(static_cast<size_t>(written));
    }
  }
  return 0;
}

/// The file that a symbolic link leads to, so that the link survives.
std::string followLinks(const std::string &path) {
  char *resolved = ::realpath(path.c_str(), nullptr);
  if (!resolved)
    return path;
  std::string result = resolved;
  std::free(resolved);
  return result;
}

/// What open() would have created; mkstemp() makes files private.
mode_t defaultMode(const struct stat *old) {
  if (old)
    return old->st_mode & 07777;
  mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

} // namespace

Result<std::string> readFile(const std::string &path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0)
    return fileError("open", path, errno);
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0)
    return fileError("read", path, errno);
  if (S_ISDIR(info.st_mode))
    return fileError("read", path, EISDIR);
  auto memory = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (static_cast<uint64_t>(info.st_size) >= memory)
    return fileError("read", path, EFBIG);
  std::string content;
  size_t used = 0;
  // One byte more than the size, so that the end is seen without growing.
  content.resize(static_cast<size_t>(info.st_size) + 1);
  while (true) {
    if (used == content.size())
      content.resize(content.size() * 2 + 65536);
    ssize_t got =
        ::read(file.get(), content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fileError("read", path, errno);
    if (got == 0)
      break;
    used += static_cast<size_t>(got);
  }
  content.resize(used);
  return content;
}

Status writeFileAtomically(const std::string &path,
                           const std::vector<std::string_view> &parts) {
  struct stat info = {};
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return fileError("write", path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0)
      return fileError("open", path, errno);
    int error = writeAll(file.get(), parts);
    return error ? fileError("write", path, error) : Status();
  }
  std::string target = exists ? followLinks(path) : path;
  std::string temporary = target + ".tmp.XXXXXX";
  FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0)
    return fileError("create", path, errno);
  int error = writeAll(file.get(), parts);
  if (!error && ::fchmod(file.get(), defaultMode(exists ? &info : nullptr)))
    error = errno;
  int closeError = file.close();
  error = error ? error : closeError;
  if (!error && ::rename(temporary.c_str(), target.c_str()) != 0)
    error = errno;
  if (!error)
    return Status();
  ::unlink(temporary.c_str());
  return fileError("write", path, error);
}

} // namespace selvedge::inline runtime
