// What is compiled for sm_80 has a plan for each GPU that runs it.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Session.h"
#include "selvedge/File.h"
#include "selvedge/Op.h"
#include "tests/runtime/Fake.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

using namespace selvedge;

namespace {

/// The host program of an op. Verifiers are tested elsewhere.
std::string hostProgram(const CompileRequest &request) {
  driver::Session session(request, driver::Proofs::Elsewhere);
  EXPECT_TRUE(session.checkArch() && session.parse() && session.choosePlans() &&
              session.runPasses(Emit::SmFinal) && session.writeManifest())
      << session.result.diagnostics;
  return session.result.manifest;
}

CompileRequest requestOf(const std::string &path) {
  CompileRequest request;
  request.fileName = path;
  request.source = *readFile(path);
  request.arch = "sm_80";
  return request;
}

/// Loads all of it on every GPU that runs code for sm_80: the driver refuses a
/// kernel that takes too much.
void loadOnAll(const std::string &manifest, const std::string &what) {
  for (const FakeCudaGpu &gpu : fakeCudaGpus) {
    ::setenv("FAKE_CUDA_GPU", gpu.name, 1);
    Result<Device> device = Device::open();
    ASSERT_TRUE(device.ok()) << device.status().message();
    ASSERT_EQ(device->name(), gpu.name) << "libcuda.so.1 is not the fake one";
    Result<Op> op = Op::load({manifest, "// PTX", "\177ELF"}, *device);
    ASSERT_TRUE(op.ok()) << what << ": " << op.status().message();
    EXPECT_TRUE(op->manifest().variants.back().when.empty()) << what;
  }
}

struct TemplateDevices : testing::Test {
  // The driver takes any image.
  TemplateDevices() { ::setenv("SELVEDGE_PTXAS", "/bin/true", 1); }
  ~TemplateDevices() override {
    ::unsetenv("SELVEDGE_PTXAS");
    ::unsetenv("FAKE_CUDA_GPU");
  }
};

} // namespace

TEST_F(TemplateDevices, everyTemplateRunsOnAll) {
  std::error_code error;
  int count = 0;
  for (llvm::sys::fs::directory_iterator it(SELVEDGE_TEMPLATE_FOLDER, error),
       end;
       it != end && !error; it.increment(error)) {
    if (llvm::sys::path::extension(it->path()) != ".tile")
      continue;
    loadOnAll(hostProgram(requestOf(it->path())), it->path());
    ++count;
  }
  EXPECT_GE(count, 15);
}

// The names of variants, with those for 99 KB behind the ones that take more.
static std::vector<std::string> variantsOf(const std::string &manifest) {
  Manifest parsed = *parseManifest(manifest);
  std::vector<std::string> names;
  for (const ManifestVariant &variant : parsed.variants)
    names.push_back(variant.name);
  return names;
}

TEST_F(TemplateDevices, onlyWhatDoesNotFitIsThereTwice) {
  using Names = std::vector<std::string>;
  CompileRequest request =
      requestOf(SELVEDGE_TEMPLATE_FOLDER "/flash_fwd.tile");
  request.op = "flash_fwd";
  // The model expects more of heads of 256 than they take.
  for (const char *heads : {"128", "256"}) {
    request.bindings["D"] = heads;
    EXPECT_EQ(variantsOf(hostProgram(request)),
              (Names{"packed", "aligned", "universal"}));
  }
  request.bindings["D"] = "192";
  EXPECT_EQ(variantsOf(hostProgram(request)),
            (Names{"packed", "aligned", "aligned_99k", "universal",
                   "universal_99k"}));
  // For one device once is enough.
  for (int64_t bytes : {101376, 166912, 232448}) {
    request.sharedMemory = bytes;
    std::string manifest = hostProgram(request);
    EXPECT_EQ(variantsOf(manifest), (Names{"packed", "aligned", "universal"}));
    Manifest parsed = *parseManifest(manifest);
    for (const ManifestVariant &variant : parsed.variants)
      for (const ManifestLaunch &launch : variant.launches)
        EXPECT_LE(launch.smemBytes, bytes);
  }
}
