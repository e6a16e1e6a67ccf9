// Fourier transforms by NumPy's pocketfft, for ops::fft_hook.
#include "bind/fft.h"

#include "bind/interop.h"
#include "ops/fft.h"
#include "ops/output.h"

namespace fb::bind {
namespace {

Tensor numpy_fft(const char* name, const Tensor& input, int64_t dim, int64_t size) {
  const bool to_real = std::string_view(name) == "irfft";
  const bool backward = name[0] == 'i';
  const Ref module = checked(PyImport_ImportModule("numpy.fft"));
  const Ref function = checked(PyObject_GetAttrString(module.get(), name));
  const Ref array(to_numpy(input));
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
  return ops::contiguous(ops::cast(from_numpy(result.get()), type));
}

}  // namespace

void register_fft() { ops::fft_hook = numpy_fft; }

}  // namespace fb::bind
