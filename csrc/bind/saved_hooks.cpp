// Users' hooks on saved tensors: flambeau.autograd.graph.saved_tensors_hooks.
#include "bind/saved_hooks.h"

#include <vector>

#include "autograd/saved.h"
#include "bind/call.h"
#include "bind/ending.h"

namespace fb::bind {
namespace {

struct PackAndUnpack {
  Ref pack;
  Ref unpack;
};

struct Stack {
  static constexpr char kName[] = "flambeau.saved_hooks";
  std::vector<PackAndUnpack> hooks;
  Ref disabled_because;  // a message, or null
};
Stack& stack() { return OfThread<Stack>::get(); }

// What a pack hook returned, with the hook that makes a tensor of it again.
class PythonPacked final : public autograd::Packed {
 public:
  PythonPacked(Ref value, PyObject* unpack) : value_(std::move(value)), unpack_(new_ref(unpack)) {}
  ~PythonPacked() override {
    // Nodes may outlive the interpreter.
    if (const LockToDrop lock; lock) {
      value_ = Ref();
      unpack_ = Ref();
    } else {
      value_.release();
      unpack_.release();
    }
  }

  Tensor unpack() override {
    const Ref result = checked(PyObject_CallOneArg(unpack_.get(), value_.get()));
    FB_CHECK_TYPE(is_tensor(result.get()),
                  "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                  "type ",
                  Py_TYPE(result.get())->tp_name);
    return tensor_of(result.get());
  }

 private:
  Ref value_;
  Ref unpack_;
};

std::unique_ptr<autograd::Packed> pack(const Tensor& t) {
  const Stack* here = OfThread<Stack>::find();
  if (!here || here->hooks.empty()) return nullptr;
  const Ref pack_hook(new_ref(here->hooks.back().pack.get()));
  const Ref unpack_hook(new_ref(here->hooks.back().unpack.get()));
  const uint32_t version = t.storage()->version;
  const Ref tensor = checked(wrap(t));
  Ref value = checked(PyObject_CallOneArg(pack_hook.get(), tensor.get()));
  FB_CHECK(t.storage()->version == version,
           "A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
           "pack hook can not be modified by in-place operations as this can lead to unexpected "
           "side-effects. Please open an issue if you need to perform in-place operations on the "
           "input to a pack hook.");
  return std::make_unique<PythonPacked>(std::move(value), unpack_hook.get());
}

PyObject* push(PyObject*, PyObject* hooks) {
  return guarded(nullptr, [&] {
    FB_CHECK_TYPE(PyTuple_Check(hooks) && PyTuple_GET_SIZE(hooks) == 2,
                  "saved_tensors_hooks takes a pack hook and an unpack hook");
    if (stack().disabled_because) {
      PyErr_SetObject(PyExc_RuntimeError, stack().disabled_because.get());
      throw PythonError{};
    }
    stack().hooks.push_back(
        {Ref(new_ref(PyTuple_GET_ITEM(hooks, 0))), Ref(new_ref(PyTuple_GET_ITEM(hooks, 1)))});
    ++autograd::saved_hook_depth;
    return none();
  });
}

PyObject* pop(PyObject*, PyObject*) {
  Stack* here = OfThread<Stack>::find();
  if (here && !here->hooks.empty()) {
    // A hook may run code when it is destroyed, so it is dropped last.
    const PackAndUnpack last = std::move(here->hooks.back());
    here->hooks.pop_back();
    --autograd::saved_hook_depth;
  }
  return none();
}

PyObject* disable(PyObject*, PyObject* message) {
  return guarded(nullptr, [&] {
    FB_CHECK(message == Py_None || stack().hooks.empty(),
             "Cannot disable saved tensors hooks while some are active");
    Ref before =
        std::exchange(stack().disabled_because, message == Py_None ? Ref() : Ref(new_ref(message)));
    return before ? before.release() : none();
  });
}

PyMethodDef kFunctions[] = {
    {"_push_saved_tensors_hooks", push, METH_O,
     "Makes a pair of functions the hooks on tensors that nodes save in this thread."},
    {"_pop_saved_tensors_hooks", pop, METH_O, "Restores the previous hooks; takes None."},
    {"_disable_saved_tensors_hooks", disable, METH_O,
     "Makes pushing hooks an error with this message, or with None allows it; returns what was."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_saved_hooks(PyObject* module) {
  autograd::saved_hooks = {pack};
  if (PyModule_AddFunctions(module, kFunctions) < 0) throw PythonError{};
}

}  // namespace fb::bind
