// What compilers are told of loops.
#pragma once

// Before a loop whose turns do not touch each other's elements, whatever the pointers suggest.
// Clang passes over GCC's word for it, and has one of its own.
#if defined(__clang__)
#define FB_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define FB_IVDEP _Pragma("GCC ivdep")
#endif
