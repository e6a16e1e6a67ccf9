// Settings of the process that programs read and change: threads, memory, the default type.
#include "bind/settings.h"

#include <limits>
#include <utility>

#include "bind/value_types.h"
#include "core/allocator.h"
#include "core/blocking.h"
#include "core/tensor.h"
#include "cpu/threads.h"
#include "cpu/workers.h"

namespace fb::bind {
namespace {

long long whole_number(const char* name, PyObject* value) {
  FB_CHECK_TYPE(PyLong_Check(value) && !PyBool_Check(value), name, " expects an int, but got ",
                Py_TYPE(value)->tp_name);
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  FB_CHECK_VALUE(overflow == 0, name, " expects an int of 64 bits, got one beyond");
  return number;
}

// --- threads

PyObject* get_num_threads(PyObject*, PyObject*) { return PyLong_FromLong(cpu::num_threads()); }

PyObject* set_num_threads(PyObject*, PyObject* num) {
  return guarded(nullptr, [&] {
    const long long count = whole_number("set_num_threads", num);
    FB_CHECK_VALUE(count <= std::numeric_limits<int>::max(),
                   "set_num_threads expects an int of 32 bits, got ", count);
    FB_CHECK(count > 0, "set_num_threads expects a positive integer, got ", count);
    cpu::set_num_threads(static_cast<int>(count));
    return none();
  });
}

// --- memory

PyObject* memory_stats(PyObject*, PyObject*) {
  return guarded(nullptr, [] {
    const CpuMemoryStats s = cpu_memory_stats();
    const std::pair<const char*, long long> numbers[] = {
        {"allocated_bytes", s.allocated_bytes}, {"peak_allocated_bytes", s.peak_allocated_bytes},
        {"cached_bytes", s.cached_bytes},       {"cache_limit_bytes", s.cache_limit_bytes},
        {"allocations", s.allocations},         {"system_allocations", s.system_allocations}};
    Ref result = checked(PyDict_New());
    for (const auto& [name, number] : numbers) {
      const Ref value = checked(PyLong_FromLongLong(number));
      if (PyDict_SetItemString(result.get(), name, value.get()) < 0) throw PythonError{};
    }
    return result.release();
  });
}

PyObject* reset_peak_memory_stats(PyObject*, PyObject*) {
  reset_peak_cpu_memory_stats();
  return none();
}

PyObject* empty_cache(PyObject*, PyObject*) {
  return guarded(nullptr, [] {
    // Small blocks are kept by the thread that freed them, which kernels do on all threads.
    {
      const BlockingRegion unlocked(true);
      cpu::on_all_threads(empty_cpu_cache);
    }
    return none();
  });
}

PyObject* set_cache_limit(PyObject*, PyObject* bytes) {
  return guarded(nullptr, [&] {
    set_cpu_cache_floor(whole_number("set_cache_limit", bytes));
    return none();
  });
}

// --- the default type

PyObject* get_default_dtype(PyObject*, PyObject*) { return new_ref(dtype_object(default_dtype())); }

PyObject* set_default_dtype(PyObject*, PyObject* d) {
  return guarded(nullptr, [&] {
    FB_CHECK_TYPE(
        is_dtype(d),
        "invalid dtype object: only floating-point types are supported as the default type");
    const DType t = dtype_of(d);
    FB_CHECK_TYPE(is_floating(t), "only floating-point types are supported as the default type");
    fb::set_default_dtype(t);
    return none();
  });
}

PyMethodDef kFunctions[] = {
    {"get_num_threads", get_num_threads, METH_NOARGS, R"(get_num_threads($module, /)
--

Return how many threads an operator may use.

By default there is one for each core that the process may run on. Results do
not depend on the number.

Example:
    >>> torch.get_num_threads() >= 1
    True

See also:
    `torch.set_num_threads`.)"},
    {"set_num_threads", set_num_threads, METH_O, R"(set_num_threads($module, num, /)
--

Set how many threads an operator may use.

Args:
    num: Number of threads, at least 1.

Raises:
    RuntimeError: The number is not positive.

Example:
    >>> before = torch.get_num_threads()
    >>> torch.set_num_threads(1)
    >>> torch.get_num_threads()
    1
    >>> torch.set_num_threads(before)

See also:
    `torch.get_num_threads`.)"},
    {"memory_stats", memory_stats, METH_NOARGS, R"(memory_stats($module, /)
--

Return what the CPU allocator holds.

Returns:
    A dictionary: `allocated_bytes` in tensors and their peak
    `peak_allocated_bytes`, `cached_bytes` kept for reuse and their limit
    `cache_limit_bytes`, the number of `allocations`, and `system_allocations`,
    how many of them asked the system.

Example:
    >>> before = torch.memory_stats()["allocated_bytes"]
    >>> x = torch.zeros(1024)
    >>> torch.memory_stats()["allocated_bytes"] - before >= 4096
    True

See also:
    `torch.reset_peak_memory_stats`, `torch.empty_cache`.)"},
    {"reset_peak_memory_stats", reset_peak_memory_stats, METH_NOARGS,
     R"(reset_peak_memory_stats($module, /)
--

Start the peak of `memory_stats` again, at what is allocated now.

Example:
    >>> torch.reset_peak_memory_stats()
    >>> stats = torch.memory_stats()
    >>> stats["peak_allocated_bytes"] == stats["allocated_bytes"]
    True

See also:
    `torch.memory_stats`.)"},
    {"empty_cache", empty_cache, METH_NOARGS, R"(empty_cache($module, /)
--

Return memory that is kept for reuse to the system.

Example:
    >>> x = torch.zeros(1024, 1024)
    >>> del x
    >>> torch.empty_cache()

See also:
    `torch.set_cache_limit`, `torch.memory_stats`.)"},
    {"set_cache_limit", set_cache_limit, METH_O, R"(set_cache_limit($module, bytes, /)
--

Set how much freed memory the allocator keeps for reuse.

It keeps at least this much; more if a quarter of the peak, or what a loop
frees and allocates again, is more.

Args:
    bytes: Number of bytes.

Example:
    >>> torch.set_cache_limit(256 * 2**20)

See also:
    `torch.empty_cache`, `torch.memory_stats`.)"},
    {"get_default_dtype", get_default_dtype, METH_NOARGS, R"(get_default_dtype($module, /)
--

Return the floating-point type of new tensors.

It is the type of tensors that are made from Python's floats, and of factories
such as `torch.zeros` where no type is given.

Example:
    >>> torch.get_default_dtype()
    torch.float32
    >>> torch.tensor([1.5]).dtype
    torch.float32

See also:
    `torch.set_default_dtype`.)"},
    {"set_default_dtype", set_default_dtype, METH_O, R"(set_default_dtype($module, d, /)
--

Set the floating-point type of new tensors.

Args:
    d: A floating-point type: float16, bfloat16, float32 or float64.

Raises:
    TypeError: It is no floating-point type.

Example:
    >>> torch.set_default_dtype(torch.float64)
    >>> torch.tensor([1.5]).dtype
    torch.float64
    >>> torch.set_default_dtype(torch.float32)

See also:
    `torch.get_default_dtype`, `torch.set_default_device`.)"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_settings(PyObject* module) {
  if (PyModule_AddFunctions(module, kFunctions) < 0) throw PythonError{};
}

}  // namespace fb::bind
