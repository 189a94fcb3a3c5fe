// Options of a case, on the command line and in files of many cases.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Cases.h"

#include "tools/selvedge/SourceFlags.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

/// The parser takes an open quote for one that is closed at the end, and leaves
/// out what follows `--`.
Status checkWords(std::string_view line) {
  char quote = 0;
  for (char c : line)
    if (c == quote)
      quote = 0;
    else if (!quote && (c == '"' || c == '\'' || c == '`'))
      quote = c;
  if (quote)
    return Status::badInput(fmt::format("the quote {} is not closed", quote));
  for (size_t begin = 0; begin < line.size();) {
    size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    if (line.substr(begin, end - begin) == "--")
      return Status::badInput("expects options, but got '--'");
    begin = end + 1;
  }
  return Status();
}

Result<Case> parseLine(const std::string &line, CaseOptions options) {
  if (Status s = checkWords(line); !s.ok())
    return s;
  CLI::App parser;
  parser.set_help_flag();
  addCaseFlags(parser, options);
  try {
    parser.parse(line);
  } catch (const CLI::ParseError &error) {
    return Status::badInput(error.what());
  }
  return parseCase(options);
}

} // namespace

void addCaseFlags(CLI::App &command, CaseOptions &options) {
  auto repeated = [&](const char *name, std::vector<std::string> &values,
                      const char *help) {
    addRepeated(command, name, values, help);
  };
  repeated(
      "--shape", options.problem.shapes,
      "dims: B=2,M=1024,... (default: those of the tensors of -i; without -i "
      "no default)");
  repeated("--omit", options.problem.omitted,
           "leave an optional tensor out of random inputs; may be repeated (no "
           "default)");
  repeated(
      "--fill", options.problem.fills,
      "NAME=VALUE[,VALUE...]: values of an input, repeated (default: random "
      "ones)");
  repeated("--plant", options.problem.plants,
           "NAME=VALUE@DIM:FROM[..TO]: a value, such as nan, in the elements "
           "of an input whose index along DIM (0, 1, ...) is at least FROM and "
           "below TO (no default)");
  repeated("--layout", options.layouts,
           "[NAME=]KIND, how a tensor, or each one, lies in GPU memory: "
           "contiguous, padded, transposed, permuted, unaligned or broadcast "
           "(default: contiguous)");
  command.add_option("-i", options.problem.inputFile,
                     "inputs (safetensors; default: random)");
  command.add_option("--seed", options.seed,
                     "seed of random inputs (default: 0)");
  command.add_option(
      "--poison", options.poison,
      "what everything holds that results must not depend on: none, nan, inf, "
      "ninf, max, random, subnormal or ff; KIND,KIND... or all for several "
      "runs (default: nan)");
  command.add_flag("--break-requires", options.problem.breaksRequires,
                   "take inputs that break what the op requires: results may "
                   "be anything, memory outside of tensors is not touched");
  command.add_option(
      "--repeat", options.repeat,
      "launch N times in a row; results must be equal (default: 1)");
  command.add_option(
      "--compare", options.compare,
      "ref: with the reference and its error bounds; mask: so, but rows may "
      "be NaN that share a tile with NaN or Inf that a mask removes; clean: "
      "bit for bit with a run that is not poisoned; ref,clean: both (default: "
      "nothing is compared)");
}

Result<std::vector<Case>> readCases(const std::string &path,
                                    const CaseOptions &defaults) {
  Result<std::string> text = readNamedFile(path);
  if (!text.ok())
    return text.status();
  std::vector<Case> cases;
  int number = 0;
  for (size_t begin = 0; begin < text->size();) {
    size_t end = std::min(text->find('\n', begin), text->size());
    std::string line = text->substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos || line[0] == '#')
      continue;
    Result<Case> parsed = parseLine(line, defaults);
    if (!parsed.ok())
      return Status::badInput(
          fmt::format("{}:{}: {}", path, number, parsed.status().message()));
    cases.push_back(std::move(*parsed));
  }
  if (cases.empty())
    return Status::badInput(fmt::format("'{}' has no case", path));
  return cases;
}

} // namespace selvedge::cli
