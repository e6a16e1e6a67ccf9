// The OpenMP runtime, by the names of GNU's interface to it, which LLVM's runtime has too.
//
// oneDNN brings GNU's runtime along. A compiler that translated OpenMP for a runtime of its own
// (Clang does) would put a second pool of threads into the process, which competes with oneDNN's
// for the cores and does not hear how many threads it may use. So no file is compiled with
// -fopenmp.
#pragma once

extern "C" {
int omp_get_max_threads(void);
int omp_get_num_procs(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);
void omp_set_num_threads(int count);

// Calls run(data) on `threads` threads at once, the calling one among them, and waits for all.
void GOMP_parallel(void (*run)(void* data), void* data, unsigned threads, unsigned flags);
}
