// The loops around an element function.
//
// `Op`, which the host writes for each program, has
//   kInputs; Param; Out, what the function returns, and OutMemory, what is stored;
//   Kernel0.., the types it takes, and Memory0.., those in memory;
//   kind(i): whether input i is an array, a number of the host or a single element of the device;
//   call(x0, x1, x2, params), which ignores the inputs that there are not.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/pointwise_args.h"

namespace fb::device {

enum class InputKind { kArray, kNumber, kElement };

struct Absent {};  // the type of an input that there is not

template <class Op, int index>
struct Input;
#define FB_INPUT(index)                      \
  template <class Op>                        \
  struct Input<Op, index> {                  \
    using Kernel = typename Op::Kernel##index; \
    using Memory = typename Op::Memory##index; \
  };
FB_INPUT(0)
FB_INPUT(1)
FB_INPUT(2)
#undef FB_INPUT

// Reads what is one number for the whole loop.
template <class Op, int index>
__device__ inline typename Input<Op, index>::Kernel constant_of(const PointwiseNumbers& numbers,
                                                                const void* memory) {
  using Kernel = typename Input<Op, index>::Kernel;
  using Memory = typename Input<Op, index>::Memory;
  if constexpr (index >= Op::kInputs || Op::kind(index) == InputKind::kArray) {
    return Kernel{};
  } else if constexpr (Op::kind(index) == InputKind::kNumber) {
    return from_memory<Kernel>(*reinterpret_cast<const Stored<Kernel>*>(numbers.inputs[index]));
  } else {
    return convert<Kernel>(from_memory<Memory>(*static_cast<const Stored<Memory>*>(memory)));
  }
}

template <class Op>
struct Constants {
  typename Op::Kernel0 x0;
  typename Op::Kernel1 x1;
  typename Op::Kernel2 x2;

  __device__ Constants(const PointwiseNumbers& numbers, const void* const* in)
      : x0(constant_of<Op, 0>(numbers, in[0])),
        x1(constant_of<Op, 1>(numbers, in[1])),
        x2(constant_of<Op, 2>(numbers, in[2])) {}
};

template <class Op>
__device__ inline const typename Op::Param* params_of(const PointwiseNumbers& numbers) {
  return reinterpret_cast<const typename Op::Param*>(numbers.params);
}

template <class Op>
__device__ inline Stored<typename Op::OutMemory> to_memory(typename Op::Out value) {
  return convert<typename Op::OutMemory>(value);
}

// --- operands without gaps, in one order

template <class Op>
constexpr int largest() {
  int bytes = sizeof(typename Op::OutMemory);
  if constexpr (Op::kInputs > 0 && Op::kind(0) == InputKind::kArray)
    bytes = bytes > int(sizeof(typename Op::Memory0)) ? bytes : int(sizeof(typename Op::Memory0));
  if constexpr (Op::kInputs > 1 && Op::kind(1) == InputKind::kArray)
    bytes = bytes > int(sizeof(typename Op::Memory1)) ? bytes : int(sizeof(typename Op::Memory1));
  if constexpr (Op::kInputs > 2 && Op::kind(2) == InputKind::kArray)
    bytes = bytes > int(sizeof(typename Op::Memory2)) ? bytes : int(sizeof(typename Op::Memory2));
  return bytes;
}

// Elements that a thread reads at once. The host knows it too: cuda/pointwise.cpp.
template <class Op>
inline constexpr int kPack = largest<Op>() >= 16 ? 1 : (largest<Op>() >= 2 ? 16 / largest<Op>() : 8);
inline constexpr int kPacks = 2;  // that a thread has on their way together

template <class Op, int index>
struct Loaded {
  using Kernel = typename Input<Op, index>::Kernel;
  using Memory = typename Input<Op, index>::Memory;
  static constexpr bool kArray = index < Op::kInputs && Op::kind(index) == InputKind::kArray;
  Pack<Stored<Memory>, kPack<Op>> pack;

  __device__ void load(const void* memory, long long number) {
    if constexpr (kArray) pack = static_cast<const Pack<Stored<Memory>, kPack<Op>>*>(memory)[number];
  }
  // What is `offset` bytes on; one element may stand for all.
  __device__ void load_at(const void* memory, long long offset, bool repeated) {
    if constexpr (kArray) {
      const char* const at = static_cast<const char*>(memory) + offset;
      if (!repeated) {
        pack = *reinterpret_cast<const Pack<Stored<Memory>, kPack<Op>>*>(at);
        return;
      }
      const auto element = *reinterpret_cast<const Stored<Memory>*>(at);
#pragma unroll
      for (int k = 0; k < kPack<Op>; ++k) pack.at[k] = element;
    }
  }
  __device__ Kernel get(int k, Kernel constant) const {
    if constexpr (kArray)
      return convert<Kernel>(from_memory<Memory>(pack.at[k]));
    else
      return constant;
  }
};

template <class Op, int index>
__device__ inline typename Input<Op, index>::Kernel element(
    const void* memory, long long i, typename Input<Op, index>::Kernel constant) {
  using Kernel = typename Input<Op, index>::Kernel;
  using Memory = typename Input<Op, index>::Memory;
  if constexpr (index < Op::kInputs && Op::kind(index) == InputKind::kArray)
    return convert<Kernel>(from_memory<Memory>(static_cast<const Stored<Memory>*>(memory)[i]));
  else
    return constant;
}

template <class Op>
__device__ inline void contiguous_loop(const ContiguousArguments& args) {
  constexpr int kWide = kPack<Op>;
  constexpr long long kBlock = static_cast<long long>(kLoopThreads) * kLoopPacks * kWide;
  const Constants<Op> constants(args.numbers, args.in);
  const auto* params = params_of<Op>(args.numbers);
  const long long begin = blockIdx.x * kBlock;
  auto* out = static_cast<Stored<typename Op::OutMemory>*>(args.out);
  if (begin + kBlock <= args.n) {
    Loaded<Op, 0> a[kLoopPacks];
    Loaded<Op, 1> b[kLoopPacks];
    Loaded<Op, 2> c[kLoopPacks];
    const long long first = begin / kWide + threadIdx.x;
#pragma unroll
    for (int p = 0; p < kLoopPacks; ++p) {
      a[p].load(args.in[0], first + p * kLoopThreads);
      b[p].load(args.in[1], first + p * kLoopThreads);
      c[p].load(args.in[2], first + p * kLoopThreads);
    }
#pragma unroll
    for (int p = 0; p < kLoopPacks; ++p) {
      Pack<Stored<typename Op::OutMemory>, kWide> result;
#pragma unroll
      for (int k = 0; k < kWide; ++k)
        result.at[k] = to_memory<Op>(Op::call(a[p].get(k, constants.x0), b[p].get(k, constants.x1),
                                              c[p].get(k, constants.x2), params));
      reinterpret_cast<decltype(result)*>(out)[first + p * kLoopThreads] = result;
    }
    return;
  }
  for (long long i = begin + threadIdx.x; i < args.n; i += kLoopThreads)
    out[i] = to_memory<Op>(Op::call(element<Op, 0>(args.in[0], i, constants.x0),
                                    element<Op, 1>(args.in[1], i, constants.x1),
                                    element<Op, 2>(args.in[2], i, constants.x2), params));
}

// The same where an address does not suit whole packs.
template <class Op>
__device__ inline void unaligned_loop(const ContiguousArguments& args) {
  const Constants<Op> constants(args.numbers, args.in);
  const auto* params = params_of<Op>(args.numbers);
  auto* out = static_cast<Stored<typename Op::OutMemory>*>(args.out);
  constexpr long long kBlock = kThreads * 4;
  const long long begin = blockIdx.x * kBlock;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const long long i = begin + k * kThreads + threadIdx.x;
    if (i < args.n)
      out[i] = to_memory<Op>(Op::call(element<Op, 0>(args.in[0], i, constants.x0),
                                      element<Op, 1>(args.in[1], i, constants.x1),
                                      element<Op, 2>(args.in[2], i, constants.x2), params));
  }
}

// --- operands of any strides

__device__ inline unsigned quotient(unsigned n, const Divisor& by) {
  return (__umulhi(n, by.factor) + n) >> by.shift;
}

template <class Op, int index>
__device__ inline typename Input<Op, index>::Kernel element_at_offset(
    const void* memory, long long offset, typename Input<Op, index>::Kernel constant) {
  using Kernel = typename Input<Op, index>::Kernel;
  using Memory = typename Input<Op, index>::Memory;
  if constexpr (index < Op::kInputs && Op::kind(index) == InputKind::kArray)
    return convert<Kernel>(from_memory<Memory>(*reinterpret_cast<const Stored<Memory>*>(
        static_cast<const char*>(memory) + offset)));
  else
    return constant;
}

// Where element i of each operand is; operand 0 is the output.
template <class Op, class Number>
__device__ inline void find_offsets(const StridedArguments& args, long long i,
                                    long long (&offset)[kInputs + 1]) {
  Number rest = static_cast<Number>(i);
#pragma unroll
  for (int operand = 0; operand <= kInputs; ++operand) offset[operand] = 0;
#pragma unroll
  for (int step = 0; step < kLoopDims; ++step) {
    const int d = args.dims - 1 - step;
    if (d < 0) break;
    Number at, next;
    if constexpr (sizeof(Number) == 4) {
      next = d == 0 ? 0 : quotient(rest, args.by[d]);
      at = rest - next * args.by[d].divisor;
    } else {
      next = d == 0 ? 0 : rest / args.sizes[d];
      at = rest - next * args.sizes[d];
    }
    if (d == 0) at = rest;
    rest = next;
#pragma unroll
    for (int operand = 0; operand <= Op::kInputs; ++operand)
      offset[operand] += static_cast<long long>(at) * args.strides[operand][d];
  }
}

template <class Op, class Number>
__device__ inline void strided_loop(const StridedArguments& args) {
  const Constants<Op> constants(args.numbers, args.in);
  const auto* params = params_of<Op>(args.numbers);
  constexpr long long kBlock = kThreads * 4;
  const long long begin = blockIdx.x * kBlock;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const long long i = begin + k * kThreads + threadIdx.x;
    if (i >= args.n) return;
    long long offset[kInputs + 1];
    find_offsets<Op, Number>(args, i, offset);
    *reinterpret_cast<Stored<typename Op::OutMemory>*>(static_cast<char*>(args.out) + offset[0]) =
        to_memory<Op>(Op::call(element_at_offset<Op, 0>(args.in[0], offset[1], constants.x0),
                               element_at_offset<Op, 1>(args.in[1], offset[2], constants.x1),
                               element_at_offset<Op, 2>(args.in[2], offset[3], constants.x2),
                               params));
  }
}

// The same where the fastest dimension has no gaps, or the same element everywhere: its packs are
// what is counted.
template <class Op, class Number>
__device__ inline void packed_loop(const StridedArguments& args) {
  constexpr int kWide = kPack<Op>;
  const Constants<Op> constants(args.numbers, args.in);
  const auto* params = params_of<Op>(args.numbers);
  const long long begin = blockIdx.x * (static_cast<long long>(kThreads) * kPacks) + threadIdx.x;
  Loaded<Op, 0> a[kPacks];
  Loaded<Op, 1> b[kPacks];
  Loaded<Op, 2> c[kPacks];
  long long target[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const long long i = begin + p * kThreads;
    if (i >= args.n) break;
    long long offset[kInputs + 1];
    find_offsets<Op, Number>(args, i, offset);
    a[p].load_at(args.in[0], offset[1], args.repeated[0]);
    b[p].load_at(args.in[1], offset[2], args.repeated[1]);
    c[p].load_at(args.in[2], offset[3], args.repeated[2]);
    target[p] = offset[0];
  }
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    if (begin + p * kThreads >= args.n) break;
    Pack<Stored<typename Op::OutMemory>, kWide> result;
#pragma unroll
    for (int k = 0; k < kWide; ++k)
      result.at[k] = to_memory<Op>(Op::call(a[p].get(k, constants.x0), b[p].get(k, constants.x1),
                                            c[p].get(k, constants.x2), params));
    *reinterpret_cast<decltype(result)*>(static_cast<char*>(args.out) + target[p]) = result;
  }
}

}  // namespace fb::device
