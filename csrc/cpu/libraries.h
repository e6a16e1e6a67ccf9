// The numeric libraries that this build was linked with: which they are and where they were found.
// image/jpeg.h knows the other one.
#pragma once

#include <string>

namespace fb::cpu {

struct Library {
  std::string version, path;  // empty when built without it
};

Library onednn_library();
Library openblas_library();

// Lets oneDNN print what it runs: 0 nothing, 1 runs, 2 the making of primitives too. False when
// built without it.
bool set_onednn_verbose(int level);

}  // namespace fb::cpu
