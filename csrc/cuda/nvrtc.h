// NVRTC, NVIDIA's compiler as a library: opened when the first kernel is needed that no cache has.
#pragma once

#include <string>

namespace fb::cuda {

struct Library;

// Opens it, once, which takes Python's lock. Never raises.
const Library& compiler();

// The code of a program for an architecture (90 is that of compute capability 9.0): for the machine
// if the compiler knows the architecture, else for the driver to compile further. Raises with the
// compiler's messages.
struct Compiled {
  std::string code;
};
Compiled compile(const std::string& source, int architecture);

// What the code depends on besides source and architecture.
std::string compiler_options(int architecture);

}  // namespace fb::cuda
