// requires_grad_(): the one copy-like method that returns its own object.
#include "bind/call.h"

namespace fb::bind {
namespace {

PyObject* invoke_requires_grad(PyObject* const* a) {
  want_grad(tensor_of(a[0]), a[1] ? read::boolean(a[1]) : true);
  return new_ref(a[0]);
}
constexpr ArgSpec kRequiresGradArgs[] = {{"input", ArgType::kTensor, true, 0},
                                         {"requires_grad", ArgType::kBool, false, 1}};
constexpr Overload kRequiresGrad{"(bool requires_grad = True)", kRequiresGradArgs, 2, 2, 2,
                                 invoke_requires_grad};

}  // namespace

PyObject* bound_requires_grad__method(FB_PY_ARGUMENTS) {
  static constexpr OverloadSet set{"requires_grad_", &kRequiresGrad, 1};
  return call_method(set, self, args, nargs, kwnames);
}

}  // namespace fb::bind
