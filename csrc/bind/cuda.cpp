// What flambeau.cuda asks of the device: plain functions of numbers. Streams and events are the
// driver's handles; the classes around them are Python's.
#include "bind/cuda.h"

#include <nanobind/stl/string.h>

#include "bind/python.h"
#include "bind/tensor_object.h"
#include "core/blocking.h"
#include "core/nonblocking.h"
#include "core/tensor.h"
#include "cuda/allocator.h"
#include "cuda/code_cache.h"
#include "cuda/context.h"
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

nb::dict compiler() {
  const cuda::Compiler& found = cuda::compiler();
  nb::dict d;
  d["version"] = nb::make_tuple(found.major, found.minor);
  d["path"] = found.path;
  d["missing"] = found.missing;
  d["cache"] = cuda::cache_folder();
  return d;
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
  d["allocated_bytes"] = as_dict(p.allocated_bytes);
  d["reserved_bytes"] = as_dict(p.reserved_bytes);
  d["active_bytes"] = as_dict(p.active_bytes);
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

nb::list memory_blocks(int device) {
  nb::list result;
  for (const cuda::BlockInfo& block : cuda::memory_blocks(device))
    result.append(nb::make_tuple(block.address, block.bytes, block.used, block.mapped, block.small,
                                 handle_of(block.stream)));
  return result;
}

const Tensor& tensor_from(nb::handle object) {
  FB_CHECK_TYPE(is_tensor(object.ptr()), "expected a tensor");
  return tensor_of(object.ptr());
}

nb::object pin(nb::handle object) {
  const Tensor& t = tensor_from(object);
  FB_CHECK(t.device() == kHost, "cannot pin '", t.device(),
           "', only dense CPU tensors can be pinned");
  const Dims strides =
      is_dense(t.sizes(), t.strides()) ? t.strides().vec() : contiguous_strides(t.sizes());
  const auto bytes = static_cast<size_t>(t.numel()) * t.element_size();
  const Tensor made =
      tensor_over(cuda::allocate_pinned(bytes), t.sizes(), strides, 0, t.dtype(), kHost);
  kernel::copy(made, t);
  return nb::steal(wrap(made));
}

void add_devices(nb::module_& m) {
  m.def("_cuda_state", &state);
  m.def("_cuda_compiler", &compiler);
  m.def("_cuda_programs", &programs);
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
  m.def("_cuda_pin", &pin);
  m.def("_cuda_is_pinned", [](nb::handle tensor) {
    const Tensor& t = tensor_from(tensor);
    return t.device() == kHost && t.numel() > 0 && cuda::is_pinned(t.data());
  });
}

}  // namespace

void add_cuda(nb::module_& m) {
  cuda::package_folders = package_folders;
  cuda::register_device();
  add_devices(m);
  add_streams(m);
  add_memory(m);
}

}  // namespace fb::bind
