// Libraries of NVIDIA's, found where PyPI's packages put them or where the system has them.
#include "cuda/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>

#include "core/error.h"

namespace fb::cuda {

Library open_library(const char* variable, std::span<const char* const> files,
                     std::span<const char* const> folders) {
  if (const char* path = std::getenv(variable); path && *path)
    return {dlopen(path, RTLD_NOW | RTLD_LOCAL), path};
  for (const char* file : files)
    if (void* loaded = dlopen(file, RTLD_NOW | RTLD_NOLOAD)) return {loaded, file};
  const std::vector<std::string> packages =
      package_folders && !folders.empty() ? package_folders() : std::vector<std::string>();
  for (const char* file : files) {
    for (const std::string& package : packages) {
      for (const char* folder : folders) {
        const std::string path = package + "/" + folder + "/" + file;
        if (access(path.c_str(), R_OK) != 0) continue;
        if (void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return {opened, path};
      }
    }
    if (void* opened = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return {opened, file};
    const std::string toolkit = std::string("/usr/local/cuda/lib64/") + file;
    if (void* opened = dlopen(toolkit.c_str(), RTLD_NOW | RTLD_LOCAL)) return {opened, toolkit};
  }
  return {};
}

void open_parts(const Library& library, const char* prefix) {
  const link_map* map = nullptr;
  if (!library.handle || dlinfo(library.handle, RTLD_DI_LINKMAP, &map) != 0) return;
  const std::string path = map->l_name;
  const std::string pattern = path.substr(0, path.rfind('/') + 1) + prefix + "*";
  glob_t found{};
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
  globfree(&found);
}

std::string version_text(size_t version) {
  return message_of(version / 1000, ".", version % 1000 / 10);
}

Symbols::Symbol Symbols::find_newer(const char* name) const {
  return {library_ ? dlsym(library_, name) : nullptr};
}

Library open_library(const Wanted& wanted) {
  Library library = open_library(wanted.variable, wanted.files, wanted.folders);
  if (library.handle) return library;
  const std::string file = library.path.empty() ? wanted.files[0] : library.path;
  library = {};
  library.missing = message_of("no ", wanted.name, ": ", file,
                               " was not found (python -m pip install ", wanted.package, ")");
  return library;
}

void refuse_old(Library& library, const Wanted& wanted) {
  library.handle = nullptr;
  library.missing = message_of(wanted.name, " is too old: ", library.path,
                               " (python -m pip install --upgrade ", wanted.package, ")");
}

}  // namespace fb::cuda
