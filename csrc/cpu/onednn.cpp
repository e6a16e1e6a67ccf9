// oneDNN's engine, streams and errors.
#include "cpu/onednn.h"

#if defined(FB_HAVE_ONEDNN)

#include <omp.h>

#include "core/error.h"

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

OneDnnSingleThreaded::OneDnnSingleThreaded() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

OneDnnSingleThreaded::~OneDnnSingleThreaded() {
  if (before_ != 1) omp_set_num_threads(before_);
}

}  // namespace fb::cpu

#endif
