// oneDNN's engine, streams and errors.
#include "cpu/onednn.h"

#if defined(FB_HAVE_ONEDNN)

#include "core/error.h"
#include "cpu/signal_stack.h"

// oneDNN asks the OpenMP runtime how many threads it may use; the number is each thread's own.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int count);
}

namespace fb::cpu {
namespace {

const char* meaning_of(dnnl_status_t status) {
  switch (status) {
    case dnnl_out_of_memory: return "out of memory";
    case dnnl_invalid_arguments: return "invalid arguments";
    case dnnl_unimplemented: return "not implemented";
    case dnnl_runtime_error: return "runtime error";
    default: return "failed";
  }
}

dnnl_data_type_t type_of(DType dtype) { return dtype == DType::kBFloat16 ? dnnl_bf16 : dnnl_f32; }

dnnl_engine_t make_engine() {
  dnnl_engine_t engine = nullptr;
  onednn_check(dnnl_engine_create(&engine, dnnl_cpu, 0), "dnnl_engine_create");
  return engine;
}

struct Stream {
  dnnl_stream_t handle = nullptr;
  Stream() {
    onednn_check(dnnl_stream_create(&handle, onednn_engine(), dnnl_stream_default_flags),
                 "dnnl_stream_create");
    ensure_signal_stack();
  }
  ~Stream() { dnnl_stream_destroy(handle); }
};

}  // namespace

void onednn_check(dnnl_status_t status, const char* call) {
  FB_CHECK(status == dnnl_success, call, ": ", meaning_of(status), " (oneDNN status ",
           static_cast<int>(status), ")");
}

dnnl_engine_t onednn_engine() {
  static const dnnl_engine_t engine =
      make_engine();  // never destroyed: primitives may outlive main
  return engine;
}

dnnl_stream_t onednn_stream() {
  thread_local const Stream stream;
  return stream.handle;
}

OneDnnOnThisThread::OneDnnOnThisThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

// The number is not ours alone: other libraries use the same runtime.
OneDnnOnThisThread::~OneDnnOnThisThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

OneDnnLayout onednn_strided(DType dtype, IntSpan sizes, IntSpan strides) {
  dnnl_memory_desc_t layout = nullptr;
  onednn_check(dnnl_memory_desc_create_with_strides(&layout, static_cast<int>(sizes.size()),
                                                    sizes.data(), type_of(dtype), strides.data()),
               "dnnl_memory_desc_create_with_strides");
  return OneDnnLayout(layout);
}

OneDnnLayout onednn_any(DType dtype, IntSpan sizes) {
  dnnl_memory_desc_t layout = nullptr;
  onednn_check(dnnl_memory_desc_create_with_tag(&layout, static_cast<int>(sizes.size()),
                                                sizes.data(), type_of(dtype), dnnl_format_tag_any),
               "dnnl_memory_desc_create_with_tag");
  return OneDnnLayout(layout);
}

OneDnnPrimitive::OneDnnPrimitive(dnnl_primitive_desc_t description,
                                 std::initializer_list<Argument> arguments) {
  const dnnl_status_t status = dnnl_primitive_create(&primitive_, description);
  for (const auto& [role, layout] : arguments) {
    arguments_[count_].arg = role;
    onednn_check(
        dnnl_memory_create(&arguments_[count_++].memory, layout, onednn_engine(), DNNL_MEMORY_NONE),
        "dnnl_memory_create");
  }
  dnnl_primitive_desc_destroy(description);
  onednn_check(status, "dnnl_primitive_create");
}

OneDnnPrimitive::~OneDnnPrimitive() {
  for (int i = 0; i < count_; ++i) dnnl_memory_destroy(arguments_[i].memory);
  dnnl_primitive_destroy(primitive_);
}

void OneDnnPrimitive::run(std::initializer_list<const void*> addresses) const {
  int i = 0;
  for (const void* address : addresses) {
    onednn_check(dnnl_memory_set_data_handle(arguments_[i++].memory, const_cast<void*>(address)),
                 "dnnl_memory_set_data_handle");
  }
  onednn_check(dnnl_primitive_execute(primitive_, onednn_stream(), count_, arguments_),
               "dnnl_primitive_execute");
}

}  // namespace fb::cpu

#endif
