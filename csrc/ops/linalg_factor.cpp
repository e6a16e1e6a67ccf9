// Factorisations: LU, Cholesky, QR.
#include <memory>

#include "gen/ops/linalg.h"
#include "ops/linalg_support.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

namespace lapack = cpu::lapack;

// LU in place of column-major matrices; `pivots` and `info` are int32.
template <class T>
void factor_lu(const Tensor& a, const Tensor& pivots, const Tensor& info) {
  const int64_t m = a.size(-2);
  const int64_t n = a.size(-1);
  const int64_t k = std::min(m, n);
  T* data = a.data_as<T>();
  lapack::for_each_matrix(batch_count(a), m * n * k, [&](int64_t i) {
    const std::unique_ptr<int64_t[]> rows(new int64_t[k]);
    info.data_as<int32_t>()[i] =
        static_cast<int32_t>(lapack::getrf(m, n, data + i * m * n, leading(m), rows.get()));
    std::copy(rows.get(), rows.get() + k, pivots.data_as<int32_t>() + i * k);
  });
}

// P as the permutation of rows that successive exchanges with `pivots` give, one matrix at a time.
template <class T>
void permutation_matrix(const int32_t* pivots, int64_t count, int64_t m, T* out) {
  const std::unique_ptr<int64_t[]> order(new int64_t[m]);
  for (int64_t i = 0; i < m; ++i) order[i] = i;
  for (int64_t i = 0; i < count; ++i) std::swap(order[i], order[pivots[i] - 1]);
  std::fill(out, out + m * m, convert<T>(int64_t{0}));
  for (int64_t i = 0; i < m; ++i) out[order[i] * m + i] = convert<T>(int64_t{1});
}

Tensor empty_of(const Tensor& like) { return make_tensor({0}, like.dtype(), like.device()); }

// The first n columns of Q from the reflectors in `packed` (m x anything, column-major).
Tensor build_q(const Tensor& packed, const Tensor& tau, int64_t columns) {
  const int64_t m = packed.size(-2);
  const int64_t n = packed.size(-1);
  const int64_t k = tau.size(-1);
  const Tensor q = make_column_major(batch_of(packed), m, columns, packed.dtype(), packed.device());
  visit_floating_or_complex(packed.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(batch_count(packed), m * columns * k, [&](int64_t i) {
      T* out = q.data_as<T>() + i * m * columns;
      const T* from = packed.data_as<T>() + i * m * n;
      std::copy(from, from + m * std::min(n, columns), out);
      lapack::orgqr(m, columns, k, out, leading(m), tau.data_as<T>() + i * k);
    });
  });
  return q;
}

// LAPACK reads as many columns and rows as there are elements of tau.
void check_reflectors(const Tensor& input, const Tensor& tau) {
  FB_CHECK(tau.dim() == input.dim() - 1 && tau.sizes().first(tau.dim() - 1) == batch_of(input) &&
               tau.size(-1) <= std::min(input.size(-2), input.size(-1)),
           "expected tau to have one element per reflector of input of shape ", input.sizes(),
           ", got shape ", tau.sizes());
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> compute::linalg_lu_factor_ex(const Tensor& A, bool pivot,
                                                                bool check_errors) {
  check_matrices(A);
  check_lapack_dtype(A);
  FB_CHECK(pivot, "LU without pivoting is not implemented on the CPU");
  const Tensor lu = column_major_copy(A);
  const Tensor pivots = make_tensor(with_sizes(batch_of(A), {std::min(A.size(-2), A.size(-1))}),
                                    DType::kInt32, A.device());
  const Tensor info = make_tensor(batch_of(A), DType::kInt32, A.device());
  visit_floating_or_complex(
      A.dtype(), [&](auto tag) { factor_lu<typename decltype(tag)::type>(lu, pivots, info); });
  if (check_errors) check_info(info, "the diagonal element ", " of U is zero");
  return {lu, pivots, info};
}

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  const auto [lu, pivots, info] = linalg_lu_factor_ex(A, pivot, false);
  return {lu, pivots};
}

std::tuple<Tensor, Tensor, Tensor> compute::lu_unpack(const Tensor& LU_data,
                                                      const Tensor& LU_pivots, bool unpack_data,
                                                      bool unpack_pivots) {
  check_matrices(LU_data);
  FB_CHECK(LU_pivots.dtype() == DType::kInt32, "expected LU_pivots of dtype int32, got ",
           LU_pivots.dtype());
  const int64_t m = LU_data.size(-2);
  const int64_t n = LU_data.size(-1);
  const int64_t k = std::min(m, n);
  const IntSpan batch = batch_of(LU_data);
  Tensor p = empty_of(LU_data), l = empty_of(LU_data), u = empty_of(LU_data);
  visit_all(LU_data.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T zero = convert<T>(int64_t{0}), one = convert<T>(int64_t{1});
    if (unpack_data) {
      // Row-major results: the triangle below the diagonal is above it for column-major code.
      l = make_tensor(with_sizes(batch, {m, k}), LU_data.dtype(), LU_data.device());
      u = make_tensor(with_sizes(batch, {k, n}), LU_data.dtype(), LU_data.device());
      const Tensor lu = contiguous(LU_data);
      for (int64_t b = 0; b < batch_count(LU_data); ++b) {
        const T* from = lu.data_as<T>() + b * m * n;
        for (int64_t i = 0; i < m; ++i) {
          T* row = l.data_as<T>() + (b * m + i) * k;
          for (int64_t j = 0; j < k; ++j)
            row[j] = j < i ? convert<T>(from[i * n + j]) : i == j ? one : zero;
        }
        for (int64_t i = 0; i < k; ++i) {
          T* row = u.data_as<T>() + (b * k + i) * n;
          for (int64_t j = 0; j < n; ++j) row[j] = j >= i ? convert<T>(from[i * n + j]) : zero;
        }
      }
    }
    if (unpack_pivots) {
      const Tensor pivots = contiguous(LU_pivots);
      check_pivots(pivots, batch_count(LU_data) * k, m);
      p = make_tensor(with_sizes(batch, {m, m}), LU_data.dtype(), LU_data.device());
      for (int64_t b = 0; b < batch_count(LU_data); ++b)
        permutation_matrix(pivots.data_as<int32_t>() + b * k, k, m, p.data_as<T>() + b * m * m);
    }
  });
  return {p, l, u};
}

std::tuple<Tensor, Tensor, Tensor> compute::linalg_lu(const Tensor& A, bool pivot) {
  const auto [lu, pivots, info] = linalg_lu_factor_ex(A, pivot, false);
  return lu_unpack(lu, pivots, true, true);
}

std::tuple<Tensor, Tensor> compute::linalg_cholesky_ex(const Tensor& A, bool upper,
                                                       bool check_errors) {
  check_square(A);
  check_lapack_dtype(A);
  const int64_t n = A.size(-1);
  const Tensor factor = column_major_copy(A);
  const Tensor info = make_tensor(batch_of(A), DType::kInt32, A.device());
  visit_floating_or_complex(A.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(batch_count(A), n * n * n / 3, [&](int64_t i) {
      T* a = factor.data_as<T>() + i * n * n;
      info.data_as<int32_t>()[i] =
          static_cast<int32_t>(lapack::potrf(upper ? 'U' : 'L', n, a, leading(n)));
      clear_triangle(upper, n, n, a, n);
    });
  });
  if (check_errors) {
    check_info(info, "the input is not positive-definite: the leading minor of order ",
               " is not positive");
  }
  return {factor, info};
}

Tensor compute::cholesky(const Tensor& input, bool upper) {
  return input.numel() == 0 ? copy_of(input) : linalg_cholesky(input, upper);
}

Tensor linalg_cholesky(const Tensor& A, bool upper) {
  return std::get<0>(linalg_cholesky_ex(A, upper, true));
}

std::tuple<Tensor, Tensor> compute::geqrf(const Tensor& input) {
  check_matrices(input);
  check_lapack_dtype(input);
  const int64_t m = input.size(-2);
  const int64_t n = input.size(-1);
  const int64_t k = std::min(m, n);
  const Tensor packed = column_major_copy(input);
  const Tensor tau = make_tensor(with_sizes(batch_of(input), {k}), input.dtype(), input.device());
  visit_floating_or_complex(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(batch_count(input), m * n * k, [&](int64_t i) {
      lapack::geqrf(m, n, packed.data_as<T>() + i * m * n, leading(m), tau.data_as<T>() + i * k);
    });
  });
  return {packed, tau};
}

std::tuple<Tensor, Tensor> compute::linalg_qr(const Tensor& A, const std::string& mode) {
  FB_CHECK(mode == "reduced" || mode == "complete" || mode == "r",
           "expected mode 'reduced', 'complete' or 'r', got '", mode, "'");
  const auto [packed, tau] = geqrf(A);
  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  const int64_t height = mode == "complete" ? m : std::min(m, n);
  const Tensor q = mode == "r" ? empty_of(A) : build_q(packed, tau, height);
  const Tensor r = make_column_major(batch_of(A), height, n, A.dtype(), A.device());
  visit_floating_or_complex(A.dtype(), [&, packed = packed](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < batch_count(A); ++i) {
      T* out = r.data_as<T>() + i * height * n;
      const T* from = packed.data_as<T>() + i * m * n;
      for (int64_t j = 0; j < n; ++j)
        std::copy(from + j * m, from + j * m + height, out + j * height);
      clear_triangle(true, height, n, out, height);
    }
  });
  return {q, r};
}

std::tuple<Tensor, Tensor> qr(const Tensor& input, bool some) {
  return linalg_qr(input, some ? "reduced" : "complete");
}

Tensor compute::linalg_householder_product(const Tensor& input, const Tensor& tau) {
  check_matrices(input);
  check_lapack_dtype(input);
  check_same_dtype(input, tau);
  FB_CHECK(input.size(-2) >= input.size(-1),
           "expected at least as many rows as columns, got shape ", input.sizes());
  check_reflectors(input, tau);
  return build_q(column_major_copy(input), contiguous(tau), input.size(-1));
}

Tensor compute::ormqr(const Tensor& input, const Tensor& tau, const Tensor& other, bool left,
                      bool transpose) {
  check_matrices(input);
  check_lapack_dtype(input);
  check_same_dtype(input, tau);
  check_same_dtype(input, other);
  check_reflectors(input, tau);
  FB_CHECK(other.dim() == input.dim() && batch_of(other) == batch_of(input),
           "expected other to have the batch of input, got shapes ", other.sizes(), " and ",
           input.sizes());
  const Tensor packed = column_major_copy(input);
  const Tensor factors = contiguous(tau);
  const Tensor out = column_major_copy(other);
  const int64_t m = out.size(-2);
  const int64_t n = out.size(-1);
  const int64_t k = tau.size(-1);
  FB_CHECK(input.size(-2) == (left ? m : n), "reflectors of shape ", input.sizes(),
           " do not fit other of shape ", other.sizes());
  visit_floating_or_complex(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const char trans = transpose ? (kIsComplex<T> ? 'C' : 'T') : 'N';
    const int64_t rows = input.size(-2);
    lapack::for_each_matrix(batch_count(other), m * n * k, [&](int64_t i) {
      lapack::ormqr(left ? 'L' : 'R', trans, m, n, k,
                    packed.data_as<T>() + i * rows * input.size(-1), leading(rows),
                    factors.data_as<T>() + i * k, out.data_as<T>() + i * m * n, leading(m));
    });
  });
  return out;
}

}  // namespace fb::ops
