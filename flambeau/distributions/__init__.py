"""``torch.distributions``: probability distributions, divergences and transforms."""

from flambeau.distributions import _kl_families, _kl_matrices
from flambeau.distributions import constraints as constraints
from flambeau.distributions.bernoulli import Bernoulli
from flambeau.distributions.beta import Beta
from flambeau.distributions.categorical import Categorical
from flambeau.distributions.dirichlet import Dirichlet
from flambeau.distributions.distribution import Distribution
from flambeau.distributions.exp_family import ExponentialFamily
from flambeau.distributions.gamma import Gamma
from flambeau.distributions.independent import Independent
from flambeau.distributions.kl import kl_divergence, register_kl
from flambeau.distributions.multivariate_normal import MultivariateNormal
from flambeau.distributions.normal import Normal
from flambeau.distributions.uniform import Uniform

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Dirichlet",
    "Distribution",
    "ExponentialFamily",
    "Gamma",
    "Independent",
    "MultivariateNormal",
    "Normal",
    "Uniform",
    "kl_divergence",
    "register_kl",
]

del _kl_families, _kl_matrices  # imported for what they register
