// What the two files of the sweep know of each other.
#pragma once

using Function = void (*)(const float* input, double* output, int count);

// The reference of a name, or null: by vector functions, and by the library's scalar ones.
Function find_quick(const char* name);
Function find_careful(const char* name);
