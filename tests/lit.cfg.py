# The lit suite. Features: `ptxas`, `nvdisasm`, `chromium`, `torch`, `transformers`, `jax`, `tree-sitter` and `gpu` where there is one, `plain` without sanitizers.
import ctypes
import os
import shutil
import subprocess

import lit.formats

config.name = "selvedge"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".tile", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.excludes = ["Inputs", "fuzz", "gpu", "inference.tile"]


def cuda_tool(name):
    """A CUDA program: named, on PATH, of the toolkit, or of `tools/dev setup`."""
    named = os.environ.get("SELVEDGE_" + name.upper())
    deps = os.path.join(config.selvedge_build, ".deps")
    places = [os.path.join(deps, "nvidia/cu13/bin"), os.path.join(deps, "bin")]
    if home := os.environ.get("CUDA_HOME"):
        places.insert(0, os.path.join(home, "bin"))
    places.insert(0, "/usr/local/cuda/bin")
    path = os.pathsep.join([os.environ["PATH"]] + places)
    return shutil.which(named or name, path=path)


def has_gpu():
    """Whether the driver loads and lists a GPU."""
    try:
        ctypes.CDLL("libcuda.so.1")
        listed = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return listed.returncode == 0 and "GPU" in listed.stdout


def has_package(name):
    """Whether the python3 on PATH has a package; without importing it."""
    words = f"import importlib.util as u, sys; sys.exit(u.find_spec('{name}') is None)"
    return subprocess.run(["python3", "-c", words], capture_output=True).returncode == 0


path = [config.selvedge_bin, config.llvm_tools]
for tool in ["ptxas", "nvdisasm"]:
    if found := cuda_tool(tool):
        config.available_features.add(tool)
        config.environment["SELVEDGE_" + tool.upper()] = found
        config.substitutions.append(("%" + tool, found))
        path.append(os.path.dirname(found))
if "sanitize" not in config.cxx_flags:
    # Programs of others can link our libraries.
    config.available_features.add("plain")
if shutil.which("chromium"):
    config.available_features.add("chromium")
for name in ["torch", "transformers", "jax"]:
    if has_package(name):
        config.available_features.add(name)
if has_package("tree_sitter") and shutil.which("cc"):
    config.available_features.add("tree-sitter")
if has_gpu():
    config.available_features.add("gpu")
    config.excludes.remove("gpu")

config.environment["PATH"] = os.pathsep.join(path + [os.environ["PATH"]])
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
# Roles that a verifier refuses are lost quietly, which no test may overlook.
config.environment["SELVEDGE_STRICT"] = "1"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
# LLVM poisons its arenas by hand, which a library built without ASan undoes.
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0:detect_leaks=0"
for name in ["HOME", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

root = os.path.dirname(config.test_source_root)
fake = os.path.join(config.selvedge_build, "tests/tools/fake-cuda")
config.substitutions.append(("%fakecuda", fake))
config.substitutions.append(("%build", config.selvedge_build))
config.substitutions.append(("%llvmtools", config.llvm_tools))
config.substitutions.append(("%examples", os.path.join(root, "examples")))
config.substitutions.append(("%python", os.path.join(root, "runtime/python")))
config.substitutions.append(("%kernels", os.path.join(root, "runtime/kernels")))
config.substitutions.append(("%templates", os.path.join(root, "templates")))
