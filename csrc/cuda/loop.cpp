// Loops around element functions over strided operands of any element types.
//
// Note [A program for each use]: a program has one element function and knows the types of its
// operands in memory and which of them are single numbers, so that nothing is decided in the loop.
// It is written and compiled when it is first used; what a program of the user needs is a few
// dozen.
#include "cuda/loop.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "cuda/allocator.h"
#include "cuda/elements.h"
#include "cuda/launch.h"
#include "cuda/program.h"
#include "kernel/strided.h"

namespace fb::cuda {
namespace {

using Kind = LoopOperand::Kind;
using kernel::kMaxPointwiseInputs;

constexpr int kOperands = kMaxPointwiseInputs + 1;
constexpr ElementFunction kIdentityFunction{"Identity", nullptr, 1, 0};

enum class Form : uint8_t {
  kContiguous,
  kUnaligned,
  kStrided32,
  kStrided64,
  kPacked32,
  kPacked64,
};

const ElementFunction& function_of(int number) {
  return number == kIdentity ? kIdentityFunction : kElementFunctions[number];
}

// Everything that a program is written from, in one number.
uint64_t key_of(const FlatCall& call, Form form) {
  auto key = static_cast<uint64_t>(call.function + 1);
  const auto add = [&key](auto value, int bits) {
    key = key << bits | static_cast<uint64_t>(value);
  };
  add(call.dtype, 4);
  add(call.out_memory, 4);
  for (int i = 0; i < kMaxPointwiseInputs; ++i) {
    add(i < call.inputs ? call.in[i].memory : DType::kBool, 4);
    add(i < call.inputs ? call.in[i].kernel == call.dtype : 0, 1);
    add(i < call.inputs ? call.in[i].kind : Kind::kArray, 2);
  }
  add(form, 3);
  add(call.device, 5);
  return key;
}

std::string write_program(const FlatCall& call, Form form) {
  const ElementFunction& f = function_of(call.function);
  const char* const type = cpp_name(call.dtype);
  Text text;
  text << "#include \"cuda/device/pointwise.cuh\"\n";
  if (f.family)
    text << "#include \"gen/device/" << f.family << ".h\"\n";
  else
    text << "#include \"cuda/device/identity.cuh\"\n";
  text << "namespace fb::device {\nstruct Op {\n  static constexpr int kInputs = " << call.inputs
       << ";\n  using Param = " << type << ";\n  using OutMemory = " << cpp_name(call.out_memory)
       << ";\n";
  Text given, kinds;
  for (int i = 0; i < kMaxPointwiseInputs; ++i) {
    const bool there = i < call.inputs;
    const char* const kernel = there ? cpp_name(call.in[i].kernel) : "Absent";
    text << "  using Kernel" << i << " = " << kernel << ";\n  using Memory" << i << " = "
         << (there ? cpp_name(call.in[i].memory) : "Absent") << ";\n";
    if (!there) continue;
    given << "x" << i << ", ";
    constexpr const char* names[] = {"kArray", "kNumber", "kElement"};
    kinds << "i == " << i << " ? InputKind::" << names[static_cast<int>(call.in[i].kind)] << " : ";
  }
  const std::string inputs = std::move(given).take();
  Text values;
  for (int i = 0; i < call.inputs; ++i) values << "Kernel" << i << "{}, ";
  text << "  static constexpr InputKind kind(int i) { return " << std::move(kinds).take()
       << "InputKind::kArray; }\n  using Out = decltype(" << f.name << "<Param>::call("
       << std::move(values).take() << "static_cast<const Param*>(nullptr)));\n"
       << "  static FB_FN Out call(Kernel0 x0, Kernel1 x1, Kernel2 x2, const Param* p) {\n"
       << "    return " << f.name << "<Param>::call(" << inputs << "p);\n  }\n};\n";
  constexpr const char* loops[] = {"contiguous_loop<Op>",        "unaligned_loop<Op>",
                                   "strided_loop<Op, unsigned>", "strided_loop<Op, long long>",
                                   "packed_loop<Op, unsigned>",  "packed_loop<Op, long long>"};
  const char* const arguments =
      form <= Form::kUnaligned ? "ContiguousArguments" : "StridedArguments";
  text << "FB_KERNEL(loop, " << arguments << ") { " << loops[static_cast<int>(form)]
       << "(args); }\n}\n";
  return std::move(text).take();
}

// --- kernels that were found before: by thread without a lock, then by process

struct Known {
  uint64_t key = 0;
  Function function = nullptr;
};
constexpr size_t kKnown = 1024;
thread_local Known* known_here = nullptr;

Function find_program(const FlatCall& call, Form form, uint64_t key) {
  static std::mutex mutex;
  static auto* const all = new std::unordered_map<uint64_t, Function>;
  {
    const std::lock_guard lock(mutex);
    const auto found = all->find(key);
    if (found != all->end()) return found->second;
  }
  const Function function = find_kernel(call.device, write_program(call, form), "loop");
  const std::lock_guard lock(mutex);
  (*all)[key] = function;
  return function;
}

Function function_for(const FlatCall& call, Form form) {
  const uint64_t key = key_of(call, form);
  if (!known_here) known_here = new Known[kKnown];  // as long as the thread's own memory is needed
  Known& known = known_here[(key * 0x9E3779B97F4A7C15ull) >> 54];
  if (known.key != key || !known.function) known = {key, find_program(call, form, key)};
  return known.function;
}

void store_numbers(const FlatCall& call, device::PointwiseNumbers& numbers) {
  for (int i = 0; i < call.inputs; ++i)
    if (call.in[i].kind == Kind::kNumber)
      std::memcpy(numbers.inputs[i], call.in[i].data, size_of(call.in[i].kernel));
  const int params = function_of(call.function).params;
  if (params) std::memcpy(numbers.params, call.params, params * size_of(call.dtype));
}

// As device::kPack.
size_t pack_of(const FlatCall& call) {
  size_t largest = size_of(call.out_memory);
  for (int i = 0; i < call.inputs; ++i)
    if (call.in[i].kind == Kind::kArray) largest = std::max(largest, size_of(call.in[i].memory));
  return largest >= 16 ? 1 : largest >= 2 ? 16 / largest : 8;
}

bool suits_packs(const FlatCall& call, size_t pack) {
  const auto aligned = [pack](const void* address, DType dtype) {
    return reinterpret_cast<uintptr_t>(address) % (pack * size_of(dtype)) == 0;
  };
  bool suits = aligned(call.out, call.out_memory);
  for (int i = 0; i < call.inputs; ++i)
    if (call.in[i].kind == Kind::kArray) suits &= aligned(call.in[i].data, call.in[i].memory);
  return suits;
}

device::Divisor divisor_of(int64_t size) {
  const auto divisor = static_cast<uint64_t>(size);
  unsigned shift = 0;
  while ((uint64_t{1} << shift) < divisor) ++shift;
  const uint64_t factor = ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - divisor)) / divisor + 1;
  return {static_cast<unsigned>(divisor), static_cast<unsigned>(factor), shift};
}

using Loop = kernel::StridedLoop<kOperands>;

DType memory_of_operand(const FlatCall& call, int k) {
  return k == 0 ? call.out_memory : call.in[k - 1].memory;
}
bool is_array(const FlatCall& call, int k) {
  return k == 0 || (k <= call.inputs && call.in[k - 1].kind == Kind::kArray);
}

// Whether the fastest dimension can be read and written by packs of so many elements.
bool has_packs(const FlatCall& call, const device::StridedArguments& args, size_t pack) {
  const int last = args.dims - 1;
  if (pack == 1 || args.sizes[last] % static_cast<int64_t>(pack) != 0) return false;
  for (int k = 0; k < kOperands; ++k) {
    if (!is_array(call, k)) continue;
    const auto bytes = static_cast<int64_t>(size_of(memory_of_operand(call, k)));
    if (args.strides[k][last] == 0 && k > 0) continue;
    if (args.strides[k][last] != bytes) return false;
    const int64_t step = bytes * static_cast<int64_t>(pack);
    const void* const data = k == 0 ? args.out : args.in[k - 1];
    if (reinterpret_cast<uintptr_t>(data) % static_cast<size_t>(step) != 0) return false;
    for (int d = 0; d < last; ++d)
      if (args.strides[k][d] % step != 0) return false;
  }
  return true;
}

// Dimensions from `first` on, at these offsets.
void run_strided(const FlatCall& call, const Loop& loop, int first, const int64_t* offsets) {
  device::StridedArguments args;
  store_numbers(call, args.numbers);
  args.n = 1;
  args.dims = loop.ndim - first;
  for (int d = 0; d < args.dims; ++d) {
    args.sizes[d] = loop.sizes[first + d];
    args.n *= args.sizes[d];
    for (int k = 0; k < kOperands; ++k) args.strides[k][d] = loop.strides[k][first + d];
  }
  args.out = static_cast<char*>(call.out) + offsets[0];
  for (int i = 0; i < kMaxPointwiseInputs; ++i)
    args.in[i] = i < call.inputs && call.in[i].kind != Kind::kNumber
                     ? static_cast<const char*>(call.in[i].data) + offsets[i + 1]
                     : nullptr;
  const size_t pack = pack_of(call);
  const bool packs = has_packs(call, args, pack);
  if (packs) {
    const int last = args.dims - 1;
    args.sizes[last] /= static_cast<int64_t>(pack);
    args.n /= static_cast<int64_t>(pack);
    for (int k = 0; k < kOperands; ++k) {
      if (k > 0) args.repeated[k - 1] = args.strides[k][last] == 0;
      args.strides[k][last] *= static_cast<int64_t>(pack);
    }
  }
  const bool narrow = args.n < int64_t{1} << 31;
  if (narrow)
    for (int d = 0; d < args.dims; ++d) args.by[d] = divisor_of(args.sizes[d]);
  if (packs)
    launch(call.device, function_for(call, narrow ? Form::kPacked32 : Form::kPacked64),
           {blocks_for(args.n, 2 * 256)}, 256, args);
  else
    launch(call.device, function_for(call, narrow ? Form::kStrided32 : Form::kStrided64),
           {blocks_for(args.n, 4 * 256)}, 256, args);
}

// More dimensions than a kernel takes: the slowest one is walked here.
void run_parts(const LoopCall& call, const Loop& loop, int first, int64_t* offsets) {
  if (loop.ndim - first <= device::kLoopDims) return run_strided(call, loop, first, offsets);
  int64_t at[kOperands];
  for (int64_t i = 0; i < loop.sizes[first]; ++i) {
    for (int k = 0; k < kOperands; ++k) at[k] = offsets[k] + i * loop.strides[k][first];
    run_parts(call, loop, first + 1, at);
  }
}

}  // namespace

const char* cpp_name(DType dtype) {
  constexpr const char* names[] = {"bool",    "uint8_t", "int8_t",         "int16_t",
                                   "int32_t", "int64_t", "Half",           "BFloat16",
                                   "float",   "double",  "Complex<float>", "Complex<double>"};
  return names[static_cast<int>(dtype)];
}

int place_of(const void* address) {
  if (device_count() == 1) return 0;
  const int device = device_of(address);
  return device >= 0 ? device : thread_state.device;
}

Dims byte_strides(const Tensor& t, IntSpan shape) {
  Dims strides = broadcast_strides(t.sizes(), t.strides(), shape);
  // The stride of a single element may be anything, even too large to be expressed in bytes.
  for (size_t i = 0; i < shape.size(); ++i)
    strides[i] = shape[i] == 1 ? 0 : strides[i] * static_cast<int64_t>(t.element_size());
  return strides;
}

Dims order_by_stride(IntSpan strides) {
  Dims order(strides.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  return order;
}

void run_contiguous(const FlatCall& call, int64_t n) {
  if (n == 0) return;
  use(call.device);
  device::ContiguousArguments args;
  store_numbers(call, args.numbers);
  args.n = n;
  args.out = call.out;
  for (int i = 0; i < kMaxPointwiseInputs; ++i)
    args.in[i] = i < call.inputs && call.in[i].kind != Kind::kNumber ? call.in[i].data : nullptr;
  const size_t pack = pack_of(call);
  if (suits_packs(call, pack))
    launch(call.device, function_for(call, Form::kContiguous),
           {blocks_for(n, static_cast<int64_t>(256 * 2 * pack))}, 256, args);
  else
    launch(call.device, function_for(call, Form::kUnaligned), {blocks_for(n, 4 * 256)}, 256, args);
}

void run_loop(const LoopCall& call, IntSpan shape, IntSpan order) {
  const int64_t n = numel_of(shape);
  if (n == 0) return;
  use(call.device);
  const Dims none(shape.size());
  const auto strides_of = [&](int i) -> IntSpan {
    return i < call.inputs && call.in[i].kind == Kind::kArray ? call.strides[i] : none;
  };
  const Loop loop(shape, {call.out_strides, strides_of(0), strides_of(1), strides_of(2)}, kOperands,
                  order);
  bool plain = loop.ndim == 1;
  const auto is_plain = [&](int k, DType memory) {
    return loop.strides[k][0] == static_cast<int64_t>(size_of(memory)) || n == 1;
  };
  plain = plain && is_plain(0, call.out_memory);
  for (int i = 0; i < call.inputs && plain; ++i)
    if (call.in[i].kind == Kind::kArray) plain = is_plain(i + 1, call.in[i].memory);
  if (plain) return run_contiguous(call, n);
  int64_t offsets[kOperands] = {};
  run_parts(call, loop, 0, offsets);
}

}  // namespace fb::cuda
