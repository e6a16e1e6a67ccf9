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

struct Functions : Symbols {
  using Symbols::Symbols;
  int (*version)(int* major, int* minor) = find("nvrtcVersion");
  const char* (*error_text)(int result) = find("nvrtcGetErrorString");
  int (*architecture_count)(int* count) = find("nvrtcGetNumSupportedArchs");
  int (*architectures)(int* list) = find("nvrtcGetSupportedArchs");
  int (*create)(Program* program, const char* source, const char* name, int headers,
                const char* const* texts, const char* const* names) = find("nvrtcCreateProgram");
  int (*destroy)(Program* program) = find("nvrtcDestroyProgram");
  int (*compile)(Program program, int options,
                 const char* const* list) = find("nvrtcCompileProgram");
  int (*log_size)(Program program, size_t* bytes) = find("nvrtcGetProgramLogSize");
  int (*log)(Program program, char* out) = find("nvrtcGetProgramLog");
  int (*machine_code_size)(Program program, size_t* bytes) = find("nvrtcGetCUBINSize");
  int (*machine_code)(Program program, char* out) = find("nvrtcGetCUBIN");
  int (*assembly_size)(Program program, size_t* bytes) = find("nvrtcGetPTXSize");
  int (*assembly)(Program program, char* out) = find("nvrtcGetPTX");
};

struct Nvrtc : Opened<Functions> {
  using Opened::Opened;
  std::vector<int> architectures;
};

Nvrtc open_nvrtc() {
  // Code of a compiler for CUDA 13 does not load with a driver for CUDA 12; the reverse does.
  const bool newest = driver_state().version >= 13000;
  Wanted wanted{.name = "NVRTC",
                .variable = "FLAMBEAU_LIBNVRTC",
                .package = newest ? "nvidia-cuda-nvrtc" : "nvidia-cuda-nvrtc-cu12",
                .files = {"libnvrtc.so.12"},
                .folders = {"nvidia/cu13/lib", "nvidia/cu12/lib", "nvidia/cuda_nvrtc/lib"}};
  if (newest) wanted.files.insert(wanted.files.begin(), "libnvrtc.so.13");
  Nvrtc nvrtc(wanted);
  if (!nvrtc.library.handle) return nvrtc;
  open_parts(nvrtc.library, "libnvrtc-builtins.so");
  int major = 0, minor = 0, count = 0;
  nvrtc.f.version(&major, &minor);
  nvrtc.library.version = static_cast<size_t>(1000 * major + 10 * minor);
  nvrtc.f.architecture_count(&count);
  nvrtc.architectures.resize(static_cast<size_t>(std::max(count, 0)));
  if (count > 0) nvrtc.f.architectures(nvrtc.architectures.data());
  return nvrtc;
}

const Nvrtc& nvrtc() { return made_once<open_nvrtc>(); }

// The newest architecture that the compiler knows and whose code runs there; whether it is the very
// one.
std::pair<int, bool> known_architecture(int wanted) {
  const Library& library = nvrtc().library;
  FB_CHECK(library.handle, "cannot compile a kernel for the GPU: ", library.missing);
  int best = 0;
  for (const int each : nvrtc().architectures) {
    if (each == wanted) return {wanted, true};
    if (each < wanted) best = std::max(best, each);
  }
  FB_CHECK(best != 0, "NVRTC ", version_text(library.version), " at ", library.path,
           " no longer knows GPUs of compute capability ", wanted / 10, ".", wanted % 10);
  return {best, false};
}

std::vector<std::string> options_for(int architecture) {
  const auto [known, exact] = known_architecture(architecture);
  return {message_of("--gpu-architecture=", exact ? "sm_" : "compute_", known), "--std=c++20",
          "-default-device", "-D__builtin_fabsf=fabsf", "-D__builtin_fabs=fabs"};
}

void check_compiler(int result, const char* what) {
  FB_CHECK(result == 0, "NVRTC: ", what, ": ", nvrtc().f.error_text(result));
}

}  // namespace

const Library& compiler() { return nvrtc().library; }

std::string compiler_options(int architecture) {
  std::string text = version_text(nvrtc().library.version);
  for (const std::string& option : options_for(architecture)) text += ' ' + option;
  return text;
}

Compiled compile(const std::string& source, int architecture) {
  const Functions& f = nvrtc().f;
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
