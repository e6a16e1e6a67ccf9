// Source locations in the user's program: finding them, and what they look like.
#pragma once

#include "bind/python.h"

namespace fb::bind {

// `folder`: where the package's own files are, with a separator at the end.
void install_source_locations(const char* folder);

// "file.py(12): function", as profiles show a frame.
PyObject* describe_frame(void* code, int32_t position);

}  // namespace fb::bind
