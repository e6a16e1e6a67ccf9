// Libraries of NVIDIA's, found where PyPI's packages put them or where the system has them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace fb::cuda {

// The folders of Python packages, in the order of sys.path; set by the binding, which knows them.
inline std::vector<std::string> (*package_folders)() = nullptr;

struct Library {
  void* handle = nullptr;
  std::string path;  // as it was found
};

// Opens a library from the path in an environment variable, or else from the first place that has
// it: this process, the folders of Python packages, the system. `files` are names by preference
// ("libnvrtc.so.13"); `folders` are where PyPI's packages have them ("nvidia/cu13/lib").
Library open_library(const char* variable, std::span<const char* const> files,
                     std::span<const char* const> folders);

// Opens every library of the same folder whose file name begins with `prefix`, for a library that
// opens parts of itself by name: packages of PyPI do not tell it its own folder, but what is loaded
// already is found.
void open_parts(const Library& library, const char* prefix);

// The address of a function; null if the library has none of that name.
void* find_symbol(const Library& library, const char* name);

}  // namespace fb::cuda
