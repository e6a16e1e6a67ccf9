// oneDNN as the kernels see it: one engine, a stream per thread, no threads of its own, and its
// errors as ours.
#pragma once

#if defined(FB_HAVE_ONEDNN)

#include <dnnl.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include "core/dims.h"
#include "core/dtype.h"
#include "cpu/recent.h"

namespace fb::cpu {

dnnl_engine_t onednn_engine();
dnnl_stream_t onednn_stream();

// While alive, primitives that this thread makes and runs have no other thread. They must be run by
// the thread that has made them, whose memory they use.
class OneDnnOnThisThread {
 public:
  OneDnnOnThisThread();
  ~OneDnnOnThisThread();
  OneDnnOnThisThread(const OneDnnOnThisThread&) = delete;
  OneDnnOnThisThread& operator=(const OneDnnOnThisThread&) = delete;

 private:
  int before_;
};

// Throws when a call failed.
void onednn_check(dnnl_status_t status, const char* call);

// How elements lie in memory.
struct DestroyLayout {
  void operator()(dnnl_memory_desc* layout) const { dnnl_memory_desc_destroy(layout); }
};
using OneDnnLayout = std::unique_ptr<dnnl_memory_desc, DestroyLayout>;
// float32 and bfloat16.
OneDnnLayout onednn_strided(DType dtype, IntSpan sizes, IntSpan strides);
// One that a primitive may choose.
OneDnnLayout onednn_any(DType dtype, IntSpan sizes);

// A primitive with the memory objects of its arguments, whose addresses change from call to call.
class OneDnnPrimitive {
 public:
  struct Argument {
    int role;
    const_dnnl_memory_desc_t layout;
  };
  // Takes the description over.
  OneDnnPrimitive(dnnl_primitive_desc_t description, std::initializer_list<Argument> arguments);
  ~OneDnnPrimitive();
  OneDnnPrimitive(const OneDnnPrimitive&) = delete;
  OneDnnPrimitive& operator=(const OneDnnPrimitive&) = delete;

  // With addresses in the order of the arguments.
  void run(std::initializer_list<const void*> addresses) const;

 private:
  static constexpr int kMostArguments = 4;
  dnnl_primitive_t primitive_ = nullptr;
  dnnl_exec_arg_t arguments_[kMostArguments] = {};
  int count_ = 0;
};

}  // namespace fb::cpu

#endif
