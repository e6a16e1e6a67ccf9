// The kernels of the device `shadow`.
#include "shadow/table.h"

#include "kernel/table.h"
#include "shadow/memory.h"

namespace fb::shadow {
namespace {

template <auto member, class Signature>
struct Wrapped;

template <auto member, class Result, class... Arguments>
struct Wrapped<member, Result(Arguments...)> {
  static Result call(Arguments... arguments) {
    const Opened opened;
    return (kernel::of(kHost).*member)(std::forward<Arguments>(arguments)...);
  }
};

#define FB_SLOT(name) \
  table.name = Wrapped<&kernel::Table::name, decltype(kernel::Table::name)::Function>::call
#define FB_LEVEL(name) FB_SLOT(name)

kernel::Table make_table() {
  kernel::Table table;
#include "cpu/slots.inc"
  return table;
}

}  // namespace

void register_kernels() { set_kernels(true); }

void set_kernels(bool present) {
  static const kernel::Table table = make_table(), none;
  kernel::tables[static_cast<int>(DeviceType::kShadow)] = present ? &table : &none;
}

}  // namespace fb::shadow
