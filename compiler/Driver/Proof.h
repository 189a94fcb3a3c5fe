// What verifiers have agreed to, and what waits for that.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_PROOF_H
#define SELVEDGE_COMPILER_DRIVER_PROOF_H

#include <optional>
#include <string>
#include <utility>

namespace selvedge::driver {

/// That all verifiers have agreed to a program. Only a session that has run
/// them makes one (Session::getProof()).
class Proof {
private:
  friend class Session;
  template <typename T>
  friend class Unproved;
  explicit Proof(std::string program) : program(std::move(program)) {}

  /// The program as text, all that matters for its code in it.
  std::string program;
};

/// What was made of a program that no verifier has seen. Nobody reads it but
/// with a proof of that very program, compared letter by letter.
template <typename T>
class Unproved {
public:
  Unproved(std::string program, T value)
      : program(std::move(program)), value(std::move(value)) {}

  /// The value; nothing where the proof is of another program.
  std::optional<T> claim(const Proof &proof) && {
    if (program != proof.program)
      return std::nullopt;
    return std::move(value);
  }

private:
  std::string program;
  T value;
};

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_PROOF_H
