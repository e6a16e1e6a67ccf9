// Writes to memory that no version counter sees: through `.data`, which has a counter of its own,
// and through bare addresses.
#pragma once

#include <cstdint>

namespace fb {

// 0 while a tensor made by `.data` exists; otherwise a number that changes whenever such a tensor
// is made or an address is handed out. While this number and a storage's version stay the same, its
// elements have not changed, unless the memory is shared with another owner: then the storage is
// not resizable.
uint64_t unseen_writers();
void note_address_taken();

}  // namespace fb
