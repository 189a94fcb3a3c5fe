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
        if (key == "type") {
          result.type = word.substr(equals + 1);
          continue;
        }
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

LitmusRun runKernel(const Litmus &litmus, const std::string &text,
                    uint64_t schedule, std::vector<uint8_t> given,
                    bool isOutDefined, sim::TensorMap map, bool mapsOutput) {
  LitmusRun result;
  std::string problem;
  auto simulator = sim::Simulator::loadText(text, problem);
  if (!simulator) {
    result.fault = "does not load: " + problem;
    return result;
  }
  sim::GlobalMemory memory;
  sim::Region in{"in", std::move(given),
                 std::vector<sim::State>(litmus.inBytes, sim::State::Defined)};
  sim::Region out{"out", std::vector<uint8_t>(litmus.outBytes),
                  std::vector<sim::State>(
                      litmus.outBytes, isOutDefined ? sim::State::Defined
                                                    : sim::State::Undefined)};
  out.isWritable = true;
  sim::Launch launch;
  launch.kernel = "kernel";
  launch.threads = litmus.threads;
  launch.sharedBytes = litmus.shared;
  uint64_t inAddress = memory.add(std::move(in)),
           outAddress = memory.add(std::move(out));
  launch.arguments = {{inAddress}, {outAddress}};
  if (text.find("%map: ") != std::string::npos) {
    map.address = mapsOutput ? outAddress : inAddress;
    launch.arguments.push_back({0, map});
  }
  result.fault = simulator->run(launch, memory, sim::Schedule(schedule));
  result.bytes = memory.at(outAddress).bytes;
  result.state = memory.at(outAddress).state;
  return result;
}

std::string execute(const Litmus &litmus, const std::string &text,
                    uint64_t schedule) {
  // As many elements as the output has; halves where the input is as long as
  // half of it.
  bool isHalf = litmus.inBytes * 2 == litmus.outBytes;
  std::vector<uint8_t> in(litmus.inBytes), expected(litmus.outBytes);
  for (size_t i = 0; i < litmus.outBytes / 4; ++i) {
    auto value = static_cast<float>(i % 251 + 1);
    std::memcpy(expected.data() + 4 * i, &value, 4);
    if (isHalf)
      std::memcpy(in.data() + 2 * i, expected.data() + 4 * i + 2, 2);
    else
      std::memcpy(in.data() + 4 * i, &value, 4);
  }
  // 64 rows of 64 elements of bf16, in boxes of all of them.
  sim::TensorMap map = {};
  map.type = 9;
  map.rank = 2;
  map.extents = {64, 64};
  map.strides = {128};
  map.box = {64, 64};
  map.steps = {1, 1};
  map.swizzle = 3;
  // What is added to has to be there.
  bool isOutDefined = text.find("cp.reduce") != std::string::npos;
  LitmusRun run = runKernel(litmus, text, schedule, std::move(in), isOutDefined,
                            map, /*mapsOutput=*/false);
  if (!run.fault.empty())
    return run.fault;
  for (size_t i = 0; i < litmus.outBytes; ++i) {
    if (run.state[i] != sim::State::Defined)
      return "byte " + std::to_string(i) + " is never written";
    if (run.bytes[i] != expected[i])
      return "byte " + std::to_string(i) + " is wrong";
  }
  return "";
}

} // namespace selvedge::testing
