// Hints to compilers about loops.
#pragma once

// Before a loop whose iterations do not touch each other's elements, whatever the pointers suggest.
// Clang ignores GCC's pragma and has one of its own.
#if defined(__clang__)
#define FB_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define FB_IVDEP _Pragma("GCC ivdep")
#endif
