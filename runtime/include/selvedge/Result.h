// Errors as values: Status and Result<T>.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RESULT_H
#define SELVEDGE_RESULT_H

#include <string>
#include <utility>
#include <variant>

/// The inline namespace keeps the runtime's symbols apart from those of the
/// compiler libraries that are linked into the same program.
namespace selvedge::inline runtime {

/// Who has to act on an error.
enum class ErrorCode {
  /// No error.
  Ok,
  /// The caller's file, tensor, shape or option is wrong.
  BadInput,
  /// This machine lacks what is needed: a driver, a GPU, ptxas.
  Unavailable,
  /// Everything was in order and the operation failed all the same.
  Failed
};

/// Success, or an error code with a message for people.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  /// An error; `code` is not Ok.
  Status(ErrorCode code, std::string message)
      : errorCode(code), text(std::move(message)) {}

  /// The caller's input is wrong.
  static Status badInput(std::string message) {
    return {ErrorCode::BadInput, std::move(message)};
  }
  /// Something this machine lacks.
  static Status unavailable(std::string message) {
    return {ErrorCode::Unavailable, std::move(message)};
  }
  /// The operation itself failed.
  static Status failed(std::string message) {
    return {ErrorCode::Failed, std::move(message)};
  }

  /// True for success.
  bool ok() const { return errorCode == ErrorCode::Ok; }
  /// The code, Ok for success.
  ErrorCode code() const { return errorCode; }
  /// The message, empty for success; lower case, without a final period.
  const std::string &message() const { return text; }

private:
  ErrorCode errorCode = ErrorCode::Ok;
  std::string text;
};

/// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
public:
  /// Success.
  Result(T value) : state(std::move(value)) {}
  /// An error; `status` is not ok.
  Result(Status status) : state(std::move(status)) {}

  /// True when there is a value.
  bool ok() const { return state.index() == 0; }
  /// The error, or an ok Status when there is a value.
  Status status() const { return ok() ? Status() : std::get<1>(state); }
  /// The value; only where ok().
  T &value() { return *std::get_if<0>(&state); }
  /// The value; only where ok().
  const T &value() const { return *std::get_if<0>(&state); }
  /// The value; only where ok().
  T &operator*() { return value(); }
  /// The value; only where ok().
  const T &operator*() const { return value(); }
  /// The value's members; only where ok().
  T *operator->() { return &value(); }
  /// The value's members; only where ok().
  const T *operator->() const { return &value(); }

private:
  std::variant<T, Status> state;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RESULT_H
