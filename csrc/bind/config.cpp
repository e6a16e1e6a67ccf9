// Compiler, instruction-set levels, libraries and the limits on threads, as dictionaries.
#include "bind/config.h"

#include <nanobind/stl/string.h>

#include "cpu/amx.h"
#include "cpu/isa.h"
#include "cpu/libraries.h"
#include "cpu/thread_limits.h"
#include "cpu/threads.h"
#include "image/jpeg.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

constexpr const char* kLevels[] = {"baseline", "avx2", "avx512"};

nb::object describe(const cpu::Library& library) {
  if (library.version.empty()) return nb::none();
  nb::dict d;
  d["version"] = library.version;
  d["path"] = library.path;
  return d;
}

nb::dict build() {
  nb::dict d;
#if defined(__clang__)
  d["compiler"] = "Clang " __clang_version__;
#else
  d["compiler"] = "GCC " __VERSION__;
#endif
#if defined(FB_MULTI_ISA)
  d["levels"] = nb::make_tuple(kLevels[0], kLevels[1], kLevels[2]);
#else
  d["levels"] = nb::make_tuple(kLevels[0]);
#endif
  d["onednn"] = describe(cpu::onednn_library());
  d["openblas"] = describe(cpu::openblas_library());
  d["jpeg"] = describe(image::jpeg_library());
  return d;
}

nb::dict thread_limits() {
  nb::dict d;
  d["affinity"] = cpu::affinity_count();
  d["quota"] = cpu::cgroup_quota();
  const cpu::RequestedThreads request = cpu::requested_threads();
  d["requested"] = request.count;
  d["variable"] = request.variable;
  d["default"] = cpu::default_num_threads();
  return d;
}

}  // namespace

void add_config(nb::module_& m) {
  m.def("_isa", [] { return kLevels[static_cast<int>(cpu::isa())]; });
  m.def("_isa_of",
        [](unsigned features, unsigned more_features, unsigned extended, unsigned registers) {
          const cpu::Processor processor{features, more_features, extended, registers};
          return kLevels[static_cast<int>(cpu::best_level(processor))];
        });
  m.def("_amx", [] {
    constexpr const char* kNames[] = {"none", "tiles", "emulated"};
    return kNames[static_cast<int>(cpu::amx())];
  });
  m.def("_has_baseline", [](unsigned features, unsigned extended) {
    return cpu::has_baseline({.features = features, .extended = extended});
  });
  m.def("_build", &build);
  // Programs have copied this call from PyTorch's sources. Nothing is logged.
  m.def("_log_api_usage_once", [](nb::handle) {});
  // Programs ask whether PyTorch's tracer is running; it never is.
  m.def("_get_tracing_state", [] { return nb::none(); });
  m.def("_thread_limits", &thread_limits);
  m.def("_cgroup_quota", &cpu::cgroup_quota, nb::arg("membership"), nb::arg("mount"));
}

}  // namespace fb::bind
