// Writes to memory that no version counter sees: through `.data`, which has a counter of its own,
// and through bare addresses.
#pragma once

#include <cstdint>

namespace fb {

// What is known of unseen writers: 0 while there is a tensor that `.data` gave; otherwise a number
// that changes whenever such a tensor is made or an address is handed out. As long as it stays the
// same, and so does a storage's version, so do its elements, unless they are shared with somebody
// else: then the storage is not resizable.
uint64_t unseen_writers();
void note_address_taken();

}  // namespace fb
