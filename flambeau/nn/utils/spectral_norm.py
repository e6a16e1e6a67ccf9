"""Weights divided by their largest singular value, recomputed before each call.

The older form; `parametrizations.spectral_norm` is the one to use.
"""

from __future__ import annotations

from typing import Any, TypeVar

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter, UninitializedParameter
from flambeau.nn.utils._spectrum import as_matrix, output_dim, random_direction, sigma, unit

__all__ = [
    "SpectralNorm",
    "SpectralNormLoadStateDictPreHook",
    "SpectralNormStateDictHook",
    "remove_spectral_norm",
    "spectral_norm",
]

_M = TypeVar("_M", bound=Module)


class SpectralNorm:
    """The hook that computes the weight, and updates its estimate in training.

    The estimate consists of the singular vectors `weight_u` and `weight_v`, which are buffers:
    with u kept as the direction of weight @ v, they are all the state that is needed.
    """

    _version = 1  # of the state: version 0 had no `weight_v`

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight with one row for each output."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The normalised weight, after another step of power iteration if asked for."""
        weight: Tensor = getattr(module, self.name + "_orig")
        u: Tensor = getattr(module, self.name + "_u")
        v: Tensor = getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with flambeau.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(unit(flambeau.mv(matrix.t(), u), self.eps))
                    u.copy_(unit(flambeau.mv(matrix, v), self.eps))
                # What the gradient needs must survive the next step: several graphs may be alive.
                u, v = u.clone(), v.clone()
        return weight / sigma(matrix, u, v)

    def remove(self, module: Module) -> None:
        """Make the parameter an ordinary one again, with its current value."""
        with flambeau.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for name in (self.name, self.name + "_u", self.name + "_v", self.name + "_orig"):
            delattr(module, name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        weight = self.compute_weight(module, do_power_iteration=module.training)
        setattr(module, self.name, weight)

    def _solve_v_and_rescale(self, matrix: Tensor, u: Tensor, target_sigma: Tensor) -> Tensor:
        """A vector v such that u is the direction of matrix @ v, and u @ matrix @ v the target."""
        v = flambeau.linalg.pinv(matrix.t() @ matrix) @ (matrix.t() @ u)
        return v * (target_sigma / sigma(matrix, u, v))

    @staticmethod
    def apply(
        module: Module, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Replace the parameter by `<name>_orig` and the buffers of the estimate."""
        if _hook_of(module, name) is not None:
            raise RuntimeError(
                f"Cannot register two spectral_norm hooks on the same parameter {name}"
            )
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. "
                "Make sure to run the dummy forward before applying spectral normalization"
            )
        with flambeau.no_grad():
            rows, columns = hook.reshape_weight_to_matrix(weight).shape
            u = random_direction(weight.data, rows, eps)
            v = random_direction(weight.data, columns, eps)
        del module._parameters[name]
        module.register_parameter(name + "_orig", weight)
        # Until the first call the weight is a plain tensor, not a parameter.
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormStateDictHook:
    """Writes the version of the state into the metadata."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, module: Module, state_dict: Any, prefix: str, local_metadata: dict[str, Any]
    ) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


class SpectralNormLoadStateDictPreHook:
    """Finds the second singular vector for states of version 0, which lack it."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        name = self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(name + ".version")
        if version is not None and version >= 1:
            return
        key = prefix + name
        found = [key + suffix for suffix in ("_orig", "", "_u") if key + suffix in state_dict]
        if version is None and (len(found) < 3 or key + "_v" in state_dict):
            return
        missing = {key + "_orig", key, key + "_u"} - set(found)
        if missing:
            missing_keys.extend(sorted(missing) if strict else [])
            return
        with flambeau.no_grad():
            original = state_dict[key + "_orig"]
            old_sigma = (original / state_dict.pop(key)).mean()
            matrix = self.fn.reshape_weight_to_matrix(original)
            u = state_dict[key + "_u"]
            state_dict[key + "_v"] = self.fn._solve_v_and_rescale(matrix, u, old_sigma)


def _hook_of(module: Module, name: str) -> int | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            return key
    return None


def spectral_norm(
    module: _M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> _M:
    """Divide a weight by its largest singular value in every call.

    The value is estimated by power iteration (Miyato et al., 2018). The older form; see
    `nn.utils.parametrizations.spectral_norm`.

    Args:
        module: Module with the weight.
        name: Name of the weight. Default: `"weight"`.
        n_power_iterations: Steps of power iteration per call. Default: 1.
        eps: Smallest norm to divide by. Default: 1e-12.
        dim: Dimension of the outputs. Default: 0, for transposed convolutions 1.

    Returns:
        The module.

    Example:
        >>> layer = nn.utils.spectral_norm(nn.Linear(4, 4), n_power_iterations=50)
        >>> _ = layer(torch.ones(1, 4))
        >>> bool((torch.linalg.matrix_norm(layer.weight, 2) - 1).abs() < 0.01)
        True
    """
    if dim is None:
        dim = output_dim(module)
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: _M, name: str = "weight") -> _M:
    """Make a weight an ordinary parameter again, with its current value.

    Args:
        module: Module with the weight.
        name: Name of the weight. Default: `"weight"`.

    Example:
        >>> layer = nn.utils.spectral_norm(nn.Linear(2, 2))
        >>> [name for name, _ in nn.utils.remove_spectral_norm(layer).named_parameters()]
        ['bias', 'weight']
    """
    key = _hook_of(module, name)
    if key is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    hook = module._forward_pre_hooks[key]
    assert isinstance(hook, SpectralNorm)
    hook.remove(module)
    del module._forward_pre_hooks[key]
    for hooks, kind in (
        (module._state_dict_hooks, SpectralNormStateDictHook),
        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook),
    ):
        for each in [k for k, h in hooks.items() if _belongs(h, kind, name)]:
            del hooks[each]
    return module


def _belongs(hook: Any, kind: type, name: str) -> bool:
    inner = getattr(hook, "hook", hook)  # hooks that run before loading are wrapped
    fn: Any = getattr(inner, "fn", None)
    return isinstance(inner, kind) and bool(fn.name == name)
