"""Pyro infers the parts of a mixture, a regression by a flow, and a posterior by NUTS."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO, TraceEnum_ELBO, config_enumerate
from pyro.infer.autoguide import AutoDelta, AutoIAFNormal, AutoMultivariateNormal
from pyro.optim import Adam

POINTS = torch.tensor([0.0, 1.0, 10.0, 11.0, 12.0])
X = torch.linspace(0, 1, 20)
Y = 2 * X + 1 + 0.1 * torch.sin(20 * X)


@config_enumerate
def mixture(points):
    weights = pyro.sample("weights", dist.Dirichlet(0.5 * torch.ones(2)))
    scale = pyro.sample("scale", dist.LogNormal(0.0, 2.0))
    with pyro.plate("components", 2):
        locs = pyro.sample("locs", dist.Normal(0.0, 10.0))
    with pyro.plate("data", len(points)):
        component = pyro.sample("component", dist.Categorical(weights))
        pyro.sample("points", dist.Normal(locs[component], scale), obs=points)


def regression(x, y):
    slope = pyro.sample("slope", dist.Normal(0.0, 10.0))
    offset = pyro.sample("offset", dist.Normal(0.0, 10.0))
    scale = pyro.sample("scale", dist.HalfCauchy(1.0))
    with pyro.plate("data", len(x)):
        pyro.sample("y", dist.Normal(offset + slope * x, scale), obs=y)


def fit(model, guide, loss, steps, *data):
    svi = SVI(model, guide, Adam({"lr": 0.05}), loss)
    for step in range(1, steps + 1):
        value = svi.step(*data)
        if step % 10 == 0:
            print(f"  step {step} loss {value:.4f}")


def start(name):
    print(name)
    pyro.clear_param_store()
    pyro.set_rng_seed(1)


def main():
    start("mixture")
    seen = pyro.poutine.block(mixture, expose=["weights", "locs", "scale"])
    fit(mixture, AutoDelta(seen), TraceEnum_ELBO(max_plate_nesting=1), 30, POINTS)
    start("regression")
    fit(regression, AutoMultivariateNormal(regression), Trace_ELBO(), 30, X, Y)
    start("flow")
    fit(regression, AutoIAFNormal(regression, hidden_dim=[8]), Trace_ELBO(), 30, X, Y)
    start("posterior")
    kernel = NUTS(regression, step_size=0.02, adapt_step_size=False, max_tree_depth=3)
    chain = MCMC(kernel, num_samples=5, warmup_steps=0, disable_progbar=True)
    chain.run(X, Y)
    for name, values in chain.get_samples().items():
        print(f"  {name} {values.mean().item():.3f}")


if __name__ == "__main__":
    main()
