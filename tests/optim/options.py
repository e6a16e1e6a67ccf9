"""Every optimiser with all combinations of its options."""

import itertools
from typing import Any

Options = dict[str, Any]


def combinations(**choices: tuple[Any, ...]) -> list[Options]:
    """Every choice of one value for each name."""
    return [
        dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())
    ]


_TWO = (False, True)
_DECAY = {"weight_decay": (0, 0.1), "maximize": _TWO}

OPTIONS: dict[str, list[Options]] = {
    "SGD": [
        options
        for options in combinations(
            lr=(0.1,), momentum=(0, 0.9), dampening=(0, 0.3), nesterov=_TWO, **_DECAY
        )
        if not options["nesterov"] or (options["momentum"] and not options["dampening"])
    ],
    "Adam": combinations(
        lr=(0.01,),
        betas=((0.9, 0.999), (0.4, 0.7)),
        amsgrad=_TWO,
        decoupled_weight_decay=_TWO,
        **_DECAY,
    ),
    "AdamW": combinations(amsgrad=_TWO, **_DECAY),
    "Adamax": combinations(betas=((0.9, 0.999), (0.4, 0.7)), **_DECAY),
    "NAdam": combinations(momentum_decay=(4e-3, 0.1), decoupled_weight_decay=_TWO, **_DECAY),
    "RAdam": combinations(betas=((0.9, 0.999), (0.4, 0.7)), decoupled_weight_decay=_TWO, **_DECAY),
    "RMSprop": combinations(alpha=(0.99, 0.6), momentum=(0, 0.9), centered=_TWO, **_DECAY),
    "Adagrad": combinations(lr_decay=(0, 0.1), initial_accumulator_value=(0, 0.5), **_DECAY),
    "Adadelta": combinations(rho=(0.9, 0.5), **_DECAY),
    "Rprop": combinations(step_sizes=((1e-6, 50), (1e-3, 0.02)), maximize=_TWO),
    "ASGD": combinations(t0=(1e6, 5), lambd=(1e-4, 0.1), **_DECAY),
}

CASES = [(name, options) for name, listed in OPTIONS.items() for options in listed]


def shown(case: Any) -> str:
    """A case as the name of a test."""
    if isinstance(case, dict):
        return ",".join(f"{key}={value}" for key, value in case.items())
    return str(case)
