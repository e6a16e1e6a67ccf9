// Fourier transforms by NumPy's pocketfft, for the CPU.
#include "bind/fft.h"

#include "bind/interop.h"
#include "cpu/fft.h"
#include "ops/host.h"
#include "ops/output.h"

namespace fb::bind {
namespace {

using kernel::FftKind;

const char* name_of(FftKind kind) {
  switch (kind) {
    case FftKind::kForward: return "fft";
    case FftKind::kBackward: return "ifft";
    case FftKind::kFromReal: return "rfft";
    case FftKind::kToReal: return "irfft";
  }
  __builtin_unreachable();
}

Tensor numpy_fft(FftKind kind, const Tensor& input, int64_t dim, int64_t size) {
  const bool to_real = kind == FftKind::kToReal;
  const bool backward = to_real || kind == FftKind::kBackward;
  const Ref module = checked(PyImport_ImportModule("numpy.fft"));
  const Ref function = checked(PyObject_GetAttrString(module.get(), name_of(kind)));
  const Ref array(to_numpy(ops::on_device(input, kHost)));
  // NumPy scales backward transforms unless told that the forward ones are scaled.
  const Ref arguments = checked(Py_BuildValue("(O)", array.get()));
  const Ref options = checked(Py_BuildValue("{s:L,s:s}", "axis", static_cast<long long>(dim),
                                            "norm", backward ? "forward" : "backward"));
  if (to_real) {
    const Ref length = checked(PyLong_FromLongLong(size));
    if (PyDict_SetItemString(options.get(), "n", length.get()) < 0) throw PythonError{};
  }
  const Ref result = checked(PyObject_Call(function.get(), arguments.get(), options.get()));
  // NumPy 1 computes in double whatever it is given.
  const DType type = to_real ? real_type(input.dtype()) : complex_type(input.dtype());
  return ops::on_device(ops::contiguous(ops::cast(from_numpy(result.get()), type)), input.device());
}

}  // namespace

void register_fft() { cpu::fft_library = numpy_fft; }

}  // namespace fb::bind
