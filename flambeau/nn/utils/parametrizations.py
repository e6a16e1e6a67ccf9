"""Ready-made parametrizations: orthogonal matrices, spectral norm, weight norm."""

from __future__ import annotations

import enum
from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.module import Module
from flambeau.nn.utils import parametrize
from flambeau.nn.utils._spectrum import as_matrix, output_dim, random_direction, sigma, unit
from flambeau.nn.utils.weight_norm import _lengths, _weight_of

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _is_orthogonal(q: Tensor, eps: float | None = None) -> bool:
    n, k = q.shape[-2:]
    tolerance = 10.0 * n * flambeau.finfo(q.dtype).eps if eps is None else eps
    identity = flambeau.eye(k, dtype=q.dtype, device=q.device)
    return flambeau.allclose(q.mH @ q, identity, atol=tolerance)


def _make_orthogonal(a: Tensor) -> Tensor:
    """The orthogonal factor of a QR decomposition whose R has a positive diagonal."""
    reflectors, tau = flambeau.geqrf(a)
    q = flambeau.linalg.householder_product(reflectors, tau)
    return q * reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _OrthMaps(enum.Enum):
    matrix_exp = enum.auto()
    cayley = enum.auto()
    householder = enum.auto()


class _Orthogonal(Module):
    """Map any matrix to one with orthonormal columns, or rows if it is wider than tall.

    With an orthogonal base the map only has to describe the difference from it, so
    that any orthogonal matrix can be assigned and the map is used where it is well behaved.
    """

    base: Tensor | None

    def __init__(
        self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        """The orthogonal matrix."""
        if x.shape[-2] < x.shape[-1]:
            return self._tall(x.mT).mT
        return self._tall(x)

    def _tall(self, x: Tensor) -> Tensor:
        if self.orthogonal_map is _OrthMaps.householder:
            q = _from_reflectors(x)
        else:
            q = _from_skew(x, self.orthogonal_map)
        if hasattr(self, "base"):
            assert self.base is not None
            q = self.base @ q
        return q

    def right_inverse(self, q: Tensor) -> Tensor:
        """Return the parameter for which the result is `q`, made orthogonal if it is not."""
        if q.shape != self.shape:
            raise ValueError(
                "Expected a matrix or batch of matrices of shape "
                f"{self.shape}. Got a tensor of shape {q.shape}."
            )
        is_wide = q.shape[-2] < q.shape[-1]
        tall = q.mT if is_wide else q
        if not hasattr(self, "base"):
            found = self._reflectors_of(tall)
            return found.mT if is_wide else found
        self.base = _completed(tall)
        # This matrix has no skew part, so the result is the base; and each of its reflections
        # flips the sign of one column, which the diagonal flips back.
        start = flambeau.zeros_like(q)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start

    def _reflectors_of(self, q: Tensor) -> Tensor:
        if self.orthogonal_map is not _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        reflectors, tau = flambeau.geqrf(q)
        diagonal = reflectors.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        # Without reflections the sign stays as it was.
        diagonal.mul_(flambeau.where(tau == 0.0, -1, 1))
        return reflectors


def _completed(tall: Tensor) -> Tensor:
    """A square orthogonal matrix that begins with these columns."""
    n, k = tall.shape[-2:]
    if n == k:
        return tall.clone() if _is_orthogonal(tall) else _make_orthogonal(tall)
    others = flambeau.randn(*tall.shape[:-2], n, n - k, dtype=tall.dtype, device=tall.device)
    return _make_orthogonal(flambeau.cat([tall, others], dim=-1))


def _from_skew(x: Tensor, by: _OrthMaps) -> Tensor:
    """The exponential, or Cayley transform, of the skew matrix with this lower triangle."""
    n, k = x.shape[-2:]
    lower = x.tril()
    if n != k:
        zeros = x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)
        lower = flambeau.cat([lower, zeros], dim=-1)
    skew = lower - lower.mH
    if by is _OrthMaps.matrix_exp:
        q = flambeau.matrix_exp(skew)
    else:
        identity = flambeau.eye(n, dtype=x.dtype, device=x.device)
        q = flambeau.linalg.solve(
            flambeau.add(identity, skew, alpha=-0.5), flambeau.add(identity, skew, alpha=0.5)
        )
    return q if n == k else q[..., :k]


def _from_reflectors(x: Tensor) -> Tensor:
    """The product of the reflections whose directions are the columns below the diagonal."""
    below = x.tril(diagonal=-1)
    tau = 2.0 / (1.0 + (below * below).sum(dim=-2))
    q = flambeau.linalg.householder_product(below, tau)
    # The diagonal holds a sign for each column, and is not trained.
    return q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keep a matrix, or a batch of matrices, orthogonal while it is trained.

    Args:
        module: Module with the matrix.
        name: Name of the matrix. Default: `"weight"`.
        orthogonal_map: `"matrix_exp"`, `"cayley"` or `"householder"`. Default: the first for square
            and complex matrices, the last for others.
        use_trivialization: Whether to train the change from a base; without it less memory is
            needed, but only `"householder"` can be assigned to. Default: True.

    Returns:
        The module.

    Example:
        >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
        >>> torch.allclose(layer.weight @ layer.weight.T, torch.eye(3), atol=1e-5)
        True
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        by_exponential = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
        orthogonal_map = "matrix_exp" if by_exponential else "householder"
    if orthogonal_map not in _OrthMaps.__members__:
        known = ", ".join(f'"{each}"' for each in _OrthMaps.__members__)
        raise ValueError(f"orthogonal_map has to be one of {known}. Got: {orthogonal_map}")
    function = _Orthogonal(weight, _OrthMaps[orthogonal_map], use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, function, unsafe=True)


def _tensor_of(module: Module, name: str) -> Tensor:
    tensor = getattr(module, name, None)
    if not isinstance(tensor, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return tensor


class _WeightNorm(Module):
    """A weight from its length and direction, along `dim`."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """The weight."""
        return _weight_of(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Its length and direction."""
        return _lengths(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Reparametrize a weight by its length and direction: w = g v / ||v||.

    They are `parametrizations.weight.original0` and `original1` (Salimans and Kingma, 2016).

    Args:
        module: Module with the weight.
        name: Name of the weight. Default: `"weight"`.
        dim: Dimension along which slices have lengths of their own; None for one length.
            Default: 0.

    Returns:
        The module.

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 3))
        >>> layer.parametrizations.weight.original0.shape
        torch.Size([3, 1])
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename_old_keys(state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{i}"
                state_dict[new] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename_old_keys)
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, whose estimate each training call updates.

    The estimate consists of the singular vectors in the buffers `_u` and `_v`.
    """

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            with flambeau.no_grad():
                matrix = as_matrix(weight, self.dim)
                u = random_direction(matrix, matrix.shape[0], eps)
                v = random_direction(matrix, matrix.shape[1], eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            # Some steps in advance, so that the first calls do not scale by a bad estimate.
            self._power_method(matrix, 15)

    def _power_method(self, matrix: Tensor, steps: int) -> None:
        with flambeau.no_grad():
            for _ in range(steps):
                self._u.copy_(unit(flambeau.mv(matrix, self._v), self.eps))
                self._v.copy_(unit(flambeau.mv(matrix.mH, self._u), self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """The weight with a largest singular value of one."""
        if weight.ndim == 1:
            return unit(weight, self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # What the gradient needs must survive the next step: several graphs may be alive.
        return weight / sigma(matrix, self._u.clone(), self._v.clone())

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the value itself: an assigned weight need not be normalised."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value, estimated by power iteration.

    Each call in training improves the estimate (Miyato et al., 2018).

    Args:
        module: Module with the weight.
        name: Name of the weight. Default: `"weight"`.
        n_power_iterations: Steps of power iteration per call. Default: 1.
        eps: Smallest norm to divide by. Default: 1e-12.
        dim: Dimension of the outputs. Default: 0, for transposed convolutions 1.

    Returns:
        The module.

    Example:
        >>> layer = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4), n_power_iterations=50)
        >>> bool((torch.linalg.matrix_norm(layer.weight, 2) - 1).abs() < 0.01)
        True
    """
    weight = _tensor_of(module, name)
    if dim is None:
        dim = output_dim(module)
    function = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, function)
