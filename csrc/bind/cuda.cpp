// What flambeau.cuda asks of the device: plain functions of numbers. Streams and events are the
// driver's handles; the classes around them are Python's.
#include "bind/cuda.h"

#include <nanobind/stl/string.h>

#include "bind/arguments.h"
#include "bind/pinned.h"
#include "bind/python.h"
#include "bind/tensor_object.h"
#include "core/blocking.h"
#include "core/determinism.h"
#include "core/nonblocking.h"
#include "core/source_location.h"
#include "core/tensor.h"
#include "cuda/allocator.h"
#include "cuda/code_cache.h"
#include "cuda/context.h"
#include "cuda/cudnn.h"
#include "cuda/gemm.h"
#include "cuda/host.h"
#include "cuda/library.h"
#include "cuda/nvrtc.h"
#include "cuda/pinned.h"
#include "cuda/program.h"
#include "cuda/sources.h"
#include "cuda/stream.h"
#include "cuda/table.h"
#include "kernel/table.h"

namespace nb = nanobind;

namespace fb::bind {
namespace {

using Handle = uintptr_t;

cuda::Stream stream_of(Handle handle) { return reinterpret_cast<cuda::Stream>(handle); }
cuda::Event event_of(Handle handle) { return reinterpret_cast<cuda::Event>(handle); }
template <class T>
Handle handle_of(T* pointer) {
  return reinterpret_cast<Handle>(pointer);
}

// Waits without Python's lock.
template <class Wait>
void wait(Wait wait) {
  const BlockingRegion blocking(true);
  wait();
}

std::vector<std::string> package_folders() {
  std::vector<std::string> folders;
  const nb::gil_scoped_acquire lock;
  for (nb::handle each : nb::borrow<nb::list>(PySys_GetObject("path"))) {
    if (!nb::isinstance<nb::str>(each)) continue;
    const std::string folder = nb::cast<std::string>(each);
    if (!folder.empty()) folders.push_back(folder);
  }
  return folders;
}

nb::dict state() {
  const cuda::DriverState& driver = cuda::driver_state();
  nb::dict d;
  d["devices"] = driver.devices;
  d["driver"] = driver.version;
  d["missing"] = driver.missing.text;
  d["remedy"] = driver.missing.remedy;
  return d;
}

nb::dict describe(const cuda::Library& found) {
  nb::dict d;
  d["version"] = found.version;
  d["path"] = found.path;
  d["missing"] = found.missing;
  return d;
}

nb::dict compiler() {
  const cuda::Library& found = cuda::compiler();
  nb::dict d = describe(found);
  d["version"] = nb::make_tuple(found.version / 1000, found.version % 1000 / 10);
  d["cache"] = cuda::cache_folder();
  return d;
}

nb::dict products() { return describe(cuda::product_library()); }

nb::dict convolutions() { return describe(cuda::neural_library()); }

// A setting of torch.backends.cudnn.
void set_neural(const std::string& name, int value) {
  cuda::NeuralSettings& settings = cuda::neural_settings;
  if (name == "enabled") settings.enabled = value != 0;
  if (name == "benchmark") settings.benchmark = value != 0;
  if (name == "benchmark_limit") settings.candidates = value;
  if (name == "deterministic") settings.deterministic = value != 0;
  if (name == "tf32") settings.tf32 = value != 0;
  if (name == "depthwise") settings.depthwise = cuda::NeuralSettings::Depthwise{value};
}

nb::dict programs() {
  const cuda::ProgramStatistics statistics = cuda::program_statistics();
  nb::dict d;
  d["compiled"] = statistics.compiled;
  d["from_disk"] = statistics.from_disk;
  d["seconds"] = statistics.seconds;
  return d;
}

nb::dict sources() {
  nb::dict d;
  for (const cuda::Source* each = cuda::kSources; each->name; ++each) d[each->name] = each->text;
  return d;
}

nb::dict properties(int device) {
  const cuda::Properties& p = cuda::properties(device);
  nb::dict d;
  d["name"] = p.name;
  d["uuid"] = p.uuid;
  d["major"] = p.major;
  d["minor"] = p.minor;
  d["total_memory"] = p.memory;
  d["multi_processor_count"] = p.processors;
  d["warp_size"] = p.warp_size;
  d["max_threads_per_block"] = p.max_threads_per_block;
  d["max_threads_per_multi_processor"] = p.threads_per_processor;
  d["regs_per_multiprocessor"] = p.registers_per_processor;
  d["shared_memory_per_block"] = p.shared_memory_per_block;
  d["shared_memory_per_block_optin"] = p.shared_memory_opt_in;
  d["shared_memory_per_multiprocessor"] = p.shared_memory_per_processor;
  d["L2_cache_size"] = p.l2_cache;
  d["clock_rate"] = p.clock_rate;
  d["memory_clock_rate"] = p.memory_clock_rate;
  d["memory_bus_width"] = p.memory_bus_width;
  d["pci_bus_id"] = p.pci_bus;
  d["pci_device_id"] = p.pci_device;
  d["pci_domain_id"] = p.pci_domain;
  d["is_integrated"] = p.integrated ? 1 : 0;
  d["is_multi_gpu_board"] = p.multi_gpu_board ? 1 : 0;
  return d;
}

nb::dict as_dict(const cuda::Statistic& s) {
  nb::dict d;
  d["current"] = s.current;
  d["peak"] = s.peak;
  d["allocated"] = s.allocated;
  d["freed"] = s.freed;
  return d;
}

nb::dict as_dict(const cuda::PoolStatistics& p) {
  nb::dict d;
  d["allocation"] = as_dict(p.allocations);
  d["segment"] = as_dict(p.segments);
  d["active"] = as_dict(p.active);
  d["inactive_split"] = as_dict(p.inactive_split);
  d["allocated_bytes"] = as_dict(p.allocated_bytes);
  d["reserved_bytes"] = as_dict(p.reserved_bytes);
  d["active_bytes"] = as_dict(p.active_bytes);
  d["inactive_split_bytes"] = as_dict(p.inactive_split_bytes);
  d["requested_bytes"] = as_dict(p.requested_bytes);
  return d;
}

nb::dict memory_statistics(int device) {
  const cuda::MemoryStatistics s = cuda::memory_statistics(device);
  nb::dict d;
  d["small_pool"] = as_dict(s.small);
  d["large_pool"] = as_dict(s.large);
  d["allocated_bytes"] = as_dict(s.allocated_bytes);
  d["reserved_bytes"] = as_dict(s.reserved_bytes);
  d["num_alloc_retries"] = s.retries;
  d["num_ooms"] = s.out_of_memory;
  d["num_device_alloc"] = s.device_allocations;
  d["num_device_free"] = s.device_frees;
  return d;
}

// "file.py:12", or None.
nb::object text_of(const void* origin) {
  if (!origin) return nb::none();
  const std::string text = static_cast<const SourceLocation*>(origin)->text();
  return nb::str(text.c_str() + std::string_view(" at ").size());
}

const void* origin_here() {
  const SourceLocation* const here = interned_location();
  return here->known() ? here : nullptr;
}

// What flambeau.cuda says of the tensors that take the memory.
std::string explain_out_of_memory(int device) {
  if (!Py_IsInitialized()) return {};
  const nb::gil_scoped_acquire lock;
  if (PyErr_Occurred()) return {};
  try {
    const nb::module_ report = nb::module_::import_("flambeau.cuda._memory_report");
    return nb::cast<std::string>(report.attr("report")(device));
  } catch (const std::exception&) {  // the error without it is better than another one
    PyErr_Clear();
    return {};
  }
}

nb::list memory_blocks(int device) {
  nb::list result;
  for (const cuda::BlockInfo& block : cuda::memory_blocks(device)) {
    nb::dict d;
    d["segment"] = block.segment;
    d["address"] = block.address;
    d["size"] = block.bytes;
    d["requested_size"] = block.requested;
    d["used"] = block.used;
    d["waits"] = block.waits;
    d["mapped"] = block.mapped;
    d["small"] = block.small;
    d["stream"] = handle_of(block.stream);
    d["origin"] = text_of(block.origin);
    result.append(d);
  }
  return result;
}

nb::list memory_history(int device) {
  const char* const actions[] = {"alloc", "free_completed", "segment_map", "segment_unmap", "oom"};
  nb::list result;
  for (const cuda::HistoryEntry& entry : cuda::history(device)) {
    nb::dict d;
    d["action"] = actions[static_cast<int>(entry.action)];
    d["addr"] = entry.address;
    d["size"] = entry.bytes;
    d["stream"] = handle_of(entry.stream);
    d["time_us"] = entry.microseconds;
    d["origin"] = text_of(entry.origin);
    result.append(d);
  }
  return result;
}

const Tensor& tensor_from(nb::handle object) {
  FB_CHECK_TYPE(is_tensor(object.ptr()), "expected a tensor");
  return tensor_of(object.ptr());
}

void add_devices(nb::module_& m) {
  m.def("_cuda_state", &state);
  m.def("_cuda_compiler", &compiler);
  m.def("_cuda_products", &products);
  m.def("_cuda_convolutions", &convolutions);
  m.def("_cudnn_set", &set_neural);
  m.def("_cuda_allow_tf32", [](bool allowed) { cuda::tf32_products = allowed; });
  m.def("_cuda_programs", &programs);
  m.def("_cuda_round_trips", &cuda::round_trips);
  m.def("_set_determinism", [](int level) { determinism = static_cast<Determinism>(level); });
  m.def("_cuda_sources", &sources);
  m.def("_cuda_device_count", &cuda::device_count);
  m.def("_cuda_is_started", &cuda::is_started);
  m.def("_cuda_is_forked", &cuda::is_forked);
  m.def("_cuda_start", [](int device) {
    cuda::start(Device(DeviceType::kCuda, static_cast<int8_t>(device)));
    cuda::use(device);
  });
  m.def("_cuda_current_device", [] { return cuda::thread_state.device; });
  m.def("_cuda_set_device", &cuda::set_current_device);
  m.def("_cuda_properties", &properties);
  m.def("_cuda_can_access_peer", [](int device, int peer) {
    int from = 0, to = 0, can = 0;
    cuda::start(Device(DeviceType::kCuda, static_cast<int8_t>(std::max(device, peer))));
    FB_CUDA(device_get, &from, device);
    FB_CUDA(device_get, &to, peer);
    FB_CUDA(can_access_peer, &can, from, to);
    return can != 0;
  });
  m.def("_cuda_profile", [](bool records) {
    cuda::use(cuda::thread_state.device);
    records ? FB_CUDA(profiler_start) : FB_CUDA(profiler_stop);
  });
  m.def("_cuda_synchronize", [](int device) { wait([=] { cuda::synchronize_device(device); }); });
}

void add_streams(nb::module_& m) {
  m.def("_cuda_current_stream", [](int device) { return handle_of(cuda::current_stream(device)); });
  m.def("_cuda_set_stream",
        [](int device, Handle s) { cuda::set_current_stream(device, stream_of(s)); });
  m.def("_cuda_new_stream",
        [](int device, int priority) { return handle_of(cuda::pooled_stream(device, priority)); });
  m.def("_cuda_stream_synchronize", [](int device, Handle s) {
    wait([=] { cuda::synchronize_stream(device, stream_of(s)); });
  });
  m.def("_cuda_stream_query",
        [](int device, Handle s) { return cuda::is_done(device, stream_of(s)); });
  m.def("_cuda_order_streams", [](int device, Handle earlier, Handle later) {
    cuda::order_streams(device, stream_of(earlier), stream_of(later));
  });
  m.def("_cuda_new_event", [](int device, bool timing, bool blocking) {
    return handle_of(cuda::make_event(device, timing, blocking));
  });
  m.def("_cuda_destroy_event", [](Handle e) { cuda::destroy_event(event_of(e)); });
  m.def("_cuda_record_event", [](int device, Handle e, Handle s) {
    cuda::record_event(device, event_of(e), stream_of(s));
  });
  m.def("_cuda_wait_event", [](int device, Handle s, Handle e) {
    cuda::wait_for_event(device, stream_of(s), event_of(e));
  });
  m.def("_cuda_event_query", [](Handle e) { return cuda::has_happened(event_of(e)); });
  m.def("_cuda_event_synchronize",
        [](int device, Handle e) { wait([=] { cuda::synchronize_event(device, event_of(e)); }); });
  m.def("_cuda_elapsed_time",
        [](Handle a, Handle b) { return cuda::elapsed_time(event_of(a), event_of(b)); });
}

void add_memory(nb::module_& m) {
  m.def("_cuda_empty_cache", [](int device) {
    cuda::empty_cache(device);
    cuda::empty_pinned_cache();
  });
  m.def("_cuda_memory_statistics", &memory_statistics);
  m.def("_cuda_memory_blocks", &memory_blocks);
  m.def("_cuda_memory_history", &memory_history);
  m.def("_cuda_record_history", [](int64_t entries) {
    cuda::find_origin = entries >= 0 ? origin_here : nullptr;
    cuda::record_history(entries);
  });
  m.def("_cuda_reset_peaks", &cuda::reset_peak_statistics);
  m.def("_cuda_reset_accumulated", &cuda::reset_accumulated_statistics);
  m.def("_cuda_memory_info", [](int device) {
    const cuda::MemoryInfo info = cuda::memory_info(device);
    return nb::make_tuple(info.free, info.total);
  });
  m.def("_cuda_memory_fraction", &cuda::memory_fraction);
  m.def("_cuda_set_memory_fraction", &cuda::set_memory_fraction);
  m.def("_cuda_record_stream", [](nb::handle tensor, Handle s) {
    cuda::use_on_stream(*tensor_from(tensor).storage().get(), stream_of(s));
  });
  m.def("_cuda_pin",
        [](nb::handle tensor) { return nb::steal(wrap(pinned_copy(tensor_from(tensor)))); });
  m.def("_cuda_is_pinned", [](nb::handle tensor) {
    const Tensor& t = tensor_from(tensor);
    return t.device() == kHost && t.numel() > 0 && cuda::is_pinned(t.data());
  });
}

bool wants_pinning(PyObject* pin_memory) {
  return pin_memory && pin_memory != Py_None && read::boolean(pin_memory);
}

}  // namespace

void check_pinned(PyObject* pin_memory) {
  FB_CHECK(!wants_pinning(pin_memory) || cuda::device_count() > 0,
           "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory "
           "allocator is available on this system");
}

Tensor as_pinned(Tensor made, PyObject* pin_memory) {
  return wants_pinning(pin_memory) ? pinned_copy(made) : std::move(made);
}

Tensor pinned_copy(const Tensor& t) {
  FB_CHECK(t.device() == kHost, "cannot pin '", t.device(),
           "', only dense CPU tensors can be pinned");
  const Dims strides =
      is_dense(t.sizes(), t.strides()) ? t.strides().vec() : contiguous_strides(t.sizes());
  const auto bytes = static_cast<size_t>(t.numel()) * t.element_size();
  const Tensor made =
      tensor_over(cuda::allocate_pinned(bytes), t.sizes(), strides, 0, t.dtype(), kHost);
  kernel::copy(made, t);
  return made;
}

void add_cuda(nb::module_& m) {
  cuda::package_folders = package_folders;
  cuda::explain_out_of_memory = explain_out_of_memory;
  cuda::register_device();
  add_devices(m);
  add_streams(m);
  add_memory(m);
}

}  // namespace fb::bind
