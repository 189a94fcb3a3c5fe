// Reading and atomically replacing files.
// SPDX-License-Identifier: MIT
#include "selvedge/File.h"

#include <atomic>
#include <cerrno>
#include <chrono>
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

/// A name beside `target` that no other writer chooses at the same time.
std::string temporaryName(const std::string &target) {
  static std::atomic<unsigned> count = 0;
  return fmt::format("{}.tmp.{}.{}.{:x}", target, ::getpid(), ++count,
                     std::chrono::steady_clock::now().time_since_epoch() /
                         std::chrono::nanoseconds(1));
}

/// A new file in the folder of `target`, with the mode that open() gives it.
/// It has a name only where the file system knows no files without one, so
/// that nothing is left of a process that is killed.
class NewFile {
public:
  explicit NewFile(const std::string &target)
      : name(temporaryName(target)), file(open(target)) {}
  ~NewFile() {
    if (isNamed)
      ::unlink(name.c_str());
  }
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  int get() const { return file.get(); }

  /// Puts the file in the place of `target`; 0 or the error.
  int moveTo(const std::string &target) {
    // What writing failed to say, closing does. A copy of the descriptor keeps
    // the file, which gets a name for as short a time as there is.
    FileDescriptor kept(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    if (kept.get() < 0)
      return errno;
    if (int error = file.close())
      return error;
    if (!isNamed) {
      std::string self = fmt::format("/proc/self/fd/{}", kept.get());
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(),
                   AT_SYMLINK_FOLLOW) != 0)
        return errno;
      isNamed = true;
    }
    if (::rename(name.c_str(), target.c_str()) != 0)
      return errno;
    isNamed = false;
    return 0;
  }

private:
  int open(const std::string &target) {
    size_t slash = target.rfind('/');
    std::string folder = slash == std::string::npos ? "."
                         : slash == 0               ? "/"
                                                    : target.substr(0, slash);
    int number = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (number >= 0 && ::access("/proc/self/fd", X_OK) == 0)
      return number;
    if (number >= 0)
      ::close(number);
    number =
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    isNamed = number >= 0;
    return number;
  }

  std::string name;
  bool isNamed = false;
  FileDescriptor file;
};

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
  NewFile file(target);
  if (file.get() < 0)
    return fileError("create", path, errno);
  int error = writeAll(file.get(), parts);
  if (!error && exists && ::fchmod(file.get(), info.st_mode & 07777) != 0)
    error = errno;
  if (!error)
    error = file.moveTo(target);
  return error ? fileError("write", path, error) : Status();
}

} // namespace selvedge::inline runtime
