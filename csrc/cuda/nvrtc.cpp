// Opening NVRTC and compiling with it.
#include "cuda/nvrtc.h"

#include <algorithm>

#include "core/error.h"
#include "cuda/driver.h"
#include "cuda/library.h"
#include "cuda/sources.h"

namespace fb::cuda {
namespace {

struct ProgramTag;
using Program = ProgramTag*;

struct Functions {
  int (*version)(int* major, int* minor);
  const char* (*error_text)(int result);
  int (*architecture_count)(int* count);
  int (*architectures)(int* list);
  int (*create)(Program* program, const char* source, const char* name, int headers,
                const char* const* texts, const char* const* names);
  int (*destroy)(Program* program);
  int (*compile)(Program program, int options, const char* const* list);
  int (*log_size)(Program program, size_t* bytes);
  int (*log)(Program program, char* out);
  int (*machine_code_size)(Program program, size_t* bytes);
  int (*machine_code)(Program program, char* out);
  int (*assembly_size)(Program program, size_t* bytes);
  int (*assembly)(Program program, char* out);
};

struct Nvrtc {
  Compiler found;
  Functions functions{};
  std::vector<int> architectures;
};

bool load(const Library& library, Functions& f) {
  bool complete = true;
  const auto symbol = [&](auto& function, const char* name) {
    void* const address = find_symbol(library, name);
    complete &= address != nullptr;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  symbol(f.version, "nvrtcVersion");
  symbol(f.error_text, "nvrtcGetErrorString");
  symbol(f.architecture_count, "nvrtcGetNumSupportedArchs");
  symbol(f.architectures, "nvrtcGetSupportedArchs");
  symbol(f.create, "nvrtcCreateProgram");
  symbol(f.destroy, "nvrtcDestroyProgram");
  symbol(f.compile, "nvrtcCompileProgram");
  symbol(f.log_size, "nvrtcGetProgramLogSize");
  symbol(f.log, "nvrtcGetProgramLog");
  symbol(f.machine_code_size, "nvrtcGetCUBINSize");
  symbol(f.machine_code, "nvrtcGetCUBIN");
  symbol(f.assembly_size, "nvrtcGetPTXSize");
  symbol(f.assembly, "nvrtcGetPTX");
  return complete;
}

Nvrtc open_nvrtc() {
  Nvrtc nvrtc;
  // Code of a compiler for CUDA 13 does not load with a driver for CUDA 12; the reverse does.
  const int driver_major = driver_state().version / 1000;
  const char* const package = driver_major >= 13 ? "nvidia-cuda-nvrtc" : "nvidia-cuda-nvrtc-cu12";
  std::vector<const char*> files;
  if (driver_major >= 13) files.push_back("libnvrtc.so.13");
  files.push_back("libnvrtc.so.12");
  const char* const folders[] = {"nvidia/cu13/lib", "nvidia/cu12/lib", "nvidia/cuda_nvrtc/lib"};
  const Library library = open_library("FLAMBEAU_LIBNVRTC", files, folders);
  if (!library.handle) {
    nvrtc.found.missing =
        message_of("no NVRTC: ", files[0], " was not found (python -m pip install ", package, ")");
    return nvrtc;
  }
  nvrtc.found.path = library.path;
  open_parts(library, "libnvrtc-builtins.so");
  if (!load(library, nvrtc.functions)) {
    nvrtc.found.missing = message_of("NVRTC is too old: ", library.path,
                                     " (python -m pip install --upgrade ", package, ")");
    return nvrtc;
  }
  nvrtc.functions.version(&nvrtc.found.major, &nvrtc.found.minor);
  int count = 0;
  nvrtc.functions.architecture_count(&count);
  nvrtc.architectures.resize(static_cast<size_t>(std::max(count, 0)));
  if (count > 0) nvrtc.functions.architectures(nvrtc.architectures.data());
  return nvrtc;
}

const Nvrtc& nvrtc() {
  static const Nvrtc opened = open_nvrtc();
  return opened;
}

// The newest architecture that the compiler knows and whose code runs there; whether it is the very
// one.
std::pair<int, bool> known_architecture(int wanted) {
  FB_CHECK(nvrtc().found.major != 0,
           "cannot compile a kernel for the GPU: ", nvrtc().found.missing);
  int best = 0;
  for (const int each : nvrtc().architectures) {
    if (each == wanted) return {wanted, true};
    if (each < wanted) best = std::max(best, each);
  }
  FB_CHECK(best != 0, "NVRTC ", nvrtc().found.major, ".", nvrtc().found.minor, " at ",
           nvrtc().found.path, " no longer knows GPUs of compute capability ", wanted / 10, ".",
           wanted % 10);
  return {best, false};
}

std::vector<std::string> options_for(int architecture) {
  const auto [known, exact] = known_architecture(architecture);
  return {message_of("--gpu-architecture=", exact ? "sm_" : "compute_", known), "--std=c++20",
          "-default-device", "-D__builtin_fabsf=fabsf", "-D__builtin_fabs=fabs"};
}

void check_compiler(int result, const char* what) {
  FB_CHECK(result == 0, "NVRTC: ", what, ": ", nvrtc().functions.error_text(result));
}

}  // namespace

const Compiler& compiler() { return nvrtc().found; }

std::string compiler_options(int architecture) {
  std::string text = message_of(nvrtc().found.major, ".", nvrtc().found.minor);
  for (const std::string& option : options_for(architecture)) text += ' ' + option;
  return text;
}

Compiled compile(const std::string& source, int architecture) {
  const Functions& f = nvrtc().functions;
  const std::vector<std::string> options = options_for(architecture);
  std::vector<const char*> given;
  for (const std::string& option : options) given.push_back(option.c_str());
  std::vector<const char*> texts, names;
  for (const Source* each = kSources; each->name; ++each) {
    texts.push_back(each->text);
    names.push_back(each->name);
  }
  Program program = nullptr;
  check_compiler(f.create(&program, source.c_str(), "flambeau.cu", static_cast<int>(names.size()),
                          texts.data(), names.data()),
                 "creating a program");
  const struct Destroyed {
    const Functions& f;
    Program program;
    ~Destroyed() { f.destroy(&program); }
  } destroyed{f, program};
  if (const int result = f.compile(program, static_cast<int>(given.size()), given.data())) {
    size_t bytes = 0;
    f.log_size(program, &bytes);
    std::string log(bytes, '\0');
    if (bytes) f.log(program, log.data());
    fail(ErrorKind::kRuntime, "NVRTC refused a kernel (", f.error_text(result), "):\n", log.c_str(),
         "\nof the program\n", source);
  }
  const bool exact = known_architecture(architecture).second;
  size_t bytes = 0;
  Compiled made;
  check_compiler((exact ? f.machine_code_size : f.assembly_size)(program, &bytes), "reading code");
  made.code.resize(bytes);
  check_compiler((exact ? f.machine_code : f.assembly)(program, made.code.data()), "reading code");
  return made;
}

}  // namespace fb::cuda
