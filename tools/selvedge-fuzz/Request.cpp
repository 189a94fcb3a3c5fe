// Requests and replies as JSON.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-fuzz/Request.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

namespace selvedge::fuzz {

using Json = nlohmann::json;

namespace {

HostTensor readInput(const Json &json, std::ifstream &data) {
  HostTensor tensor;
  tensor.name = json.at("name");
  tensor.shape = json.at("shape").get<std::vector<int64_t>>();
  int64_t count = std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                  int64_t(1), std::multiplies<>());
  tensor.values.resize(static_cast<size_t>(count));
  data.seekg(json.at("offset").get<std::streamoff>());
  data.read(reinterpret_cast<char *>(tensor.values.data()),
            static_cast<std::streamsize>(count * 8));
  if (!data)
    throw std::runtime_error("the values of '" + tensor.name + "' are missing");
  tensor.bounds.assign(tensor.values.size(), 0);
  return tensor;
}

RunCase readCase(const Json &json, std::ifstream &data) {
  RunCase result;
  result.dims = json.at("dims").get<std::map<std::string, int64_t>>();
  result.scalars = json.at("scalars").get<std::map<std::string, double>>();
  for (const Json &input : json.at("inputs"))
    result.inputs.push_back(readInput(input, data));
  return result;
}

Step readStep(const Json &json) {
  Step step;
  step.action = json.at("do");
  step.arch = json.value("arch", "");
  step.plan = json.value("plan", "");
  step.form = json.value("form", "");
  step.poison = json.value("poison", "nan");
  step.theCase = json.value("case", size_t(0));
  step.choice = json.value("choice", size_t(0));
  if (json.contains("after"))
    step.after = json.at("after").get<size_t>();
  if (json.contains("repeats"))
    step.repeats = json.at("repeats").get<size_t>();
  return step;
}

} // namespace

Request parseRequest(const std::string &line) {
  Json json = Json::parse(line);
  Request request;
  request.source = json.at("source");
  request.renamed = json.value("renamed", "");
  request.names = json.value("names", request.names);
  request.outPrefix = json.at("out");
  request.cpuSeconds = json.value("cpu", request.cpuSeconds);
  request.memoryBytes = json.value("memory", request.memoryBytes);
  std::ifstream data(json.at("data").get<std::string>(), std::ios::binary);
  for (const Json &one : json.at("cases"))
    request.cases.push_back(readCase(one, data));
  for (const Json &step : json.at("steps"))
    request.steps.push_back(readStep(step));
  for (const Step &step : request.steps)
    if ((step.action == "ref" || step.action == "form" ||
         step.action == "plans") &&
        step.theCase >= request.cases.size())
      throw std::runtime_error("a step names a case that is not there");
  for (const Step &step : request.steps)
    for (std::optional<size_t> other : {step.after, step.repeats})
      if (other >= request.steps.size() && other)
        throw std::runtime_error("a step rests on one that is not there");
  return request;
}

std::string printReply(size_t index, const Reply &reply) {
  Json json = {{"step", index},
               {"status", reply.status},
               {"message", reply.message},
               {"ms", reply.milliseconds},
               {"cpu", reply.processorMilliseconds}};
  if (!reply.outputs.empty())
    json["outputs"] = reply.outputs;
  if (reply.ratio > 0)
    json["ratio"] = reply.ratio;
  if (reply.unbounded > 0)
    json["unbounded"] = reply.unbounded;
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

} // namespace selvedge::fuzz
