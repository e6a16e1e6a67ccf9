// Versions and files of oneDNN and OpenBLAS, asked from the libraries themselves.
#include "cpu/libraries.h"

#include <dlfcn.h>

#include <string_view>

#include "cpu/onednn.h"
#include "cpu/openblas.h"

namespace fb::cpu {
namespace {

// The file that holds a function of the library.
[[maybe_unused]] std::string file_of(const void* function) {
  Dl_info info;
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "";
}

}  // namespace

Library onednn_library() {
#if defined(FB_HAVE_ONEDNN)
  const dnnl_version_t* v = dnnl_version();
  return {
      std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch),
      file_of(reinterpret_cast<const void*>(&dnnl_version))};
#else
  return {};
#endif
}

bool set_onednn_verbose([[maybe_unused]] int level) {
#if defined(FB_HAVE_ONEDNN)
  return dnnl_set_verbose(level) == dnnl_success;
#else
  return false;
#endif
}

Library openblas_library() {
#if defined(FB_HAVE_OPENBLAS)
  // "OpenBLAS 0.3.29 USE64BITINT DYNAMIC_ARCH ...".
  const std::string_view config(scipy_openblas_get_config64_());
  const size_t begin = config.find(' ') + 1;
  const std::string version(config.substr(begin, config.find(' ', begin) - begin));
  return {version, file_of(reinterpret_cast<const void*>(&scipy_openblas_get_config64_))};
#else
  return {};
#endif
}

}  // namespace fb::cpu
