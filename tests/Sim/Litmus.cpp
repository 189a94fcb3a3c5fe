// Small kernels for device `sim`.
// SPDX-License-Identifier: MIT
#include "Litmus.h"

#include <cstring>
#include <fstream>
#include <sstream>

namespace selvedge::testing {

Litmus Litmus::read(const std::string &path) {
  Litmus result;
  std::ifstream file(path);
  std::string line;
  for (size_t number = 0; std::getline(file, line); ++number) {
    result.text += line + "\n";
    if (number == 1) {
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        size_t equals = word.find('=');
        if (equals == std::string::npos)
          continue;
        std::string key = word.substr(0, equals);
        size_t value = std::stoul(word.substr(equals + 1));
        if (key == "threads")
          result.threads = static_cast<uint32_t>(value);
        else if (key == "shared")
          result.shared = static_cast<uint32_t>(value);
        else
          (key == "in" ? result.inBytes : result.outBytes) = value;
      }
    }
    // What follows the line, part by part.
    for (size_t at = line.find(" // "); at != std::string::npos;) {
      size_t next = line.find(" // ", at + 1);
      std::string part = line.substr(at + 4, next - at - 4);
      constexpr std::string_view wrong = "wrong: ";
      if (part == "guard")
        result.mutants.push_back({number, ""});
      else if (part.rfind(wrong, 0) == 0)
        result.mutants.push_back({number, part.substr(wrong.size())});
      at = next;
    }
  }
  return result;
}

std::string Litmus::apply(const Mutant &mutant) const {
  std::istringstream lines(text);
  std::string result, line;
  for (size_t number = 0; std::getline(lines, line); ++number)
    result += (number == mutant.line ? mutant.text : line) + "\n";
  return result;
}

std::string execute(const Litmus &litmus, const std::string &text,
                    uint64_t schedule) {
  std::string problem;
  auto simulator = sim::Simulator::loadText(text, problem);
  if (!simulator)
    return "does not load: " + problem;
  sim::GlobalMemory memory;
  // As many elements as the output has; halves where the input is as long as
  // half of it.
  bool isHalf = litmus.inBytes * 2 == litmus.outBytes;
  sim::Region in{"in", std::vector<uint8_t>(litmus.inBytes),
                 std::vector<sim::State>(litmus.inBytes, sim::State::Defined)};
  std::vector<uint8_t> expected(litmus.outBytes);
  for (size_t i = 0; i < litmus.outBytes / 4; ++i) {
    auto value = static_cast<float>(i % 251 + 1);
    std::memcpy(expected.data() + 4 * i, &value, 4);
    if (isHalf)
      std::memcpy(in.bytes.data() + 2 * i, expected.data() + 4 * i + 2, 2);
    else
      std::memcpy(in.bytes.data() + 4 * i, &value, 4);
  }
  sim::Region out{
      "out", std::vector<uint8_t>(litmus.outBytes),
      std::vector<sim::State>(litmus.outBytes, sim::State::Undefined)};
  out.isWritable = true;
  // What is added to has to be there.
  if (text.find("cp.reduce") != std::string::npos)
    out.state.assign(litmus.outBytes, sim::State::Defined);
  sim::Launch launch;
  launch.kernel = "kernel";
  launch.threads = litmus.threads;
  launch.sharedBytes = litmus.shared;
  uint64_t inAddress = memory.add(std::move(in)),
           outAddress = memory.add(std::move(out));
  launch.arguments = {{inAddress}, {outAddress}};
  if (text.find("%map: ") != std::string::npos) {
    // 64 rows of 64 elements of bf16, in boxes of all of them.
    sim::TensorMap map = {};
    map.type = 9;
    map.rank = 2;
    map.address = inAddress;
    map.extents = {64, 64};
    map.strides = {128};
    map.box = {64, 64};
    map.steps = {1, 1};
    map.swizzle = 3;
    launch.arguments.push_back({0, map});
  }
  std::string fault = simulator->run(launch, memory, sim::Schedule(schedule));
  if (!fault.empty())
    return fault;
  const sim::Region &result = memory.at(outAddress);
  for (size_t i = 0; i < litmus.outBytes; ++i) {
    if (result.state[i] != sim::State::Defined)
      return "byte " + std::to_string(i) + " is never written";
    if (result.bytes[i] != expected[i])
      return "byte " + std::to_string(i) + " is wrong";
  }
  return "";
}

} // namespace selvedge::testing
