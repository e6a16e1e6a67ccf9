"""Examples of optimisers and schedules (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

_PARAMETER = "nn.Parameter(x.clone())"
_SGD = f"t.optim.SGD([{_PARAMETER}], lr=0.1, momentum=0.9)"
_STEP_LR = f"t.optim.lr_scheduler.StepLR({_SGD}, 2)"
_RESTARTS = f"t.optim.lr_scheduler.CosineAnnealingWarmRestarts({_SGD}, 3, 2)"
_PLATEAU = f"t.optim.lr_scheduler.ReduceLROnPlateau({_SGD})"
_AVERAGE = "t.optim.swa_utils.AveragedModel(nn.Linear(3, 2))"


def stepped(optimizer: str) -> str:
    """A parameter `p` after three steps of an optimiser."""
    step = f"(lambda o: [o.step() for _ in range(3)])({optimizer})"
    return f"(lambda p: (setattr(p, 'grad', y.clone()), {step}, p)[-1])({_PARAMETER})"


def curve(scheduler: str) -> str:
    """The rates that a schedule of the optimiser `o` sets in nine epochs."""
    rates = f"[(o.step(), s.step(), s.get_last_lr())[-1] for s in [{scheduler}] for _ in range(9)]"
    return f"(lambda o: {rates})({_SGD})"


OPTIMIZERS: dict[str, list[str]] = {
    "Adam": [
        stepped(
            "t.optim.Adam(params=[p], lr=0.1, betas=(0.8, 0.9), weight_decay=0.1, eps=1e-6,"
            " amsgrad=True)"
        ),
        stepped("t.optim.Adam([p], fused=True)"),
    ],
    "SGD": [
        stepped(
            "t.optim.SGD(params=[p], lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True,"
            " dampening=0)"
        ),
        stepped("t.optim.SGD([p], 0.1)"),
    ],
    "AdamW": [
        stepped(
            "t.optim.AdamW(params=[p], lr=0.1, betas=(0.8, 0.9), weight_decay=0.1, eps=1e-6,"
            " foreach=True)"
        ),
        stepped("t.optim.AdamW([p], lr=0.1, fused=True)"),
    ],
    "RMSprop": [
        stepped(
            "t.optim.RMSprop([p], lr=0.1, alpha=0.8, momentum=0.5, weight_decay=0.1, eps=1e-6,"
            " foreach=True, centered=True)"
        ),
    ],
    "Adadelta": [stepped("t.optim.Adadelta([p], lr=0.5, rho=0.8, weight_decay=0.1, eps=1e-5)")],
    "Adagrad": [
        stepped("t.optim.Adagrad([p], lr=0.1, weight_decay=0.1, initial_accumulator_value=0.5)"),
    ],
    "RAdam": [stepped("t.optim.RAdam([p], lr=0.1)")],
    "LBFGS": [
        (
            "(lambda p: (lambda o: o.step(lambda: (o.zero_grad(), (l := p.square().sum()),"
            " l.backward(), l)[-1]))(t.optim.LBFGS([p], lr=0.1, max_eval=4,"
            " line_search_fn='strong_wolfe')))(nn.Parameter(x.clone()))"
        ),
    ],
    "Optimizer": [f"isinstance({_SGD}, t.optim.Optimizer)"],
    "Optimizer.step": [f"{_SGD}.step(closure=lambda: 3)", stepped("t.optim.SGD([p], 0.1)")],
    "Optimizer.zero_grad": [
        (
            "(lambda p: (setattr(p, 'grad', y.clone()),"
            " t.optim.SGD([p], 0.1).zero_grad(set_to_none=False), p.grad)[-1])(nn.Parameter(x))"
        ),
        (
            "(lambda p: (setattr(p, 'grad', y.clone()), t.optim.SGD([p], 0.1).zero_grad(),"
            " p.grad)[-1])(nn.Parameter(x))"
        ),
    ],
    "Optimizer.param_groups": [f"sorted({_SGD}.param_groups[0])"],
    "Optimizer.state": [f"len({_SGD}.state)"],
    "Optimizer.defaults": [f"sorted({_SGD}.defaults)"],
    "Optimizer.add_param_group": [
        (
            f"(lambda o: (o.add_param_group({{'params': [{_PARAMETER}], 'lr': 0.5}}),"
            f" [g['lr'] for g in o.param_groups])[-1])({_SGD})"
        ),
    ],
    "lr_scheduler.LRScheduler": [f"isinstance({_STEP_LR}, t.optim.lr_scheduler.LRScheduler)"],
    "lr_scheduler.LRScheduler.step": [curve("t.optim.lr_scheduler.StepLR(o, 3)")],
    "lr_scheduler.LRScheduler.get_last_lr": [f"{_STEP_LR}.get_last_lr()"],
    "lr_scheduler.LRScheduler.state_dict": [f"sorted({_STEP_LR}.state_dict())"],
    "lr_scheduler.LRScheduler.load_state_dict": [
        f"(lambda s: (s.load_state_dict({{'last_epoch': 7}}), s.last_epoch)[-1])({_STEP_LR})",
    ],
    "lr_scheduler.LRScheduler.last_epoch": [f"{_STEP_LR}.last_epoch"],
    "lr_scheduler.LRScheduler.base_lrs": [f"{_STEP_LR}.base_lrs"],
    "lr_scheduler.LRScheduler.optimizer": [f"len({_STEP_LR}.optimizer.param_groups)"],
    "lr_scheduler.StepLR": [
        curve("t.optim.lr_scheduler.StepLR(o, step_size=2, gamma=0.5, last_epoch=-1)"),
    ],
    "lr_scheduler.LambdaLR": [
        curve("t.optim.lr_scheduler.LambdaLR(o, lr_lambda=lambda e: 0.9**e, last_epoch=-1)"),
    ],
    "lr_scheduler.ReduceLROnPlateau": [
        (
            "(lambda s: [(s.step(1.0), s.get_last_lr())[-1] for _ in range(9)])"
            f"(t.optim.lr_scheduler.ReduceLROnPlateau({_SGD}, mode='min', factor=0.5, patience=1,"
            " threshold=1e-3, cooldown=1, min_lr=1e-3))"
        ),
    ],
    "lr_scheduler.ExponentialLR": [
        curve("t.optim.lr_scheduler.ExponentialLR(optimizer=o, gamma=0.9, last_epoch=-1)"),
    ],
    "lr_scheduler.MultiStepLR": [
        curve("t.optim.lr_scheduler.MultiStepLR(optimizer=o, milestones=[2, 5], gamma=0.3)"),
    ],
    "lr_scheduler.CosineAnnealingLR": [
        curve("t.optim.lr_scheduler.CosineAnnealingLR(o, T_max=6, eta_min=0.01)"),
    ],
    "lr_scheduler.ConstantLR": [
        curve("t.optim.lr_scheduler.ConstantLR(o, factor=0.5, total_iters=4)"),
    ],
    "lr_scheduler.LinearLR": [
        curve(
            "t.optim.lr_scheduler.LinearLR(optimizer=o, start_factor=0.1, end_factor=0.9,"
            " total_iters=5)"
        ),
    ],
    "lr_scheduler.OneCycleLR": [
        curve(
            "t.optim.lr_scheduler.OneCycleLR(optimizer=o, max_lr=0.5, epochs=3, steps_per_epoch=4,"
            " pct_start=0.4, anneal_strategy='linear', cycle_momentum=False)"
        ),
        curve("t.optim.lr_scheduler.OneCycleLR(o, max_lr=0.5, total_steps=12)"),
    ],
    "lr_scheduler.CosineAnnealingWarmRestarts.T_cur": [f"{_RESTARTS}.T_cur"],
    "lr_scheduler.CosineAnnealingWarmRestarts.T_i": [f"{_RESTARTS}.T_i"],
    "lr_scheduler.CosineAnnealingWarmRestarts.T_0": [f"{_RESTARTS}.T_0"],
    "lr_scheduler.CosineAnnealingWarmRestarts.T_mult": [f"{_RESTARTS}.T_mult"],
    "lr_scheduler.CosineAnnealingWarmRestarts.eta_min": [f"{_RESTARTS}.eta_min"],
    "lr_scheduler.ReduceLROnPlateau.best": [f"{_PLATEAU}.best"],
    "lr_scheduler.ReduceLROnPlateau.eps": [f"{_PLATEAU}.eps"],
    "lr_scheduler.ReduceLROnPlateau.factor": [f"{_PLATEAU}.factor"],
    "lr_scheduler.ReduceLROnPlateau.min_lrs": [f"{_PLATEAU}.min_lrs"],
    "swa_utils.AveragedModel.module": [f"{_AVERAGE}.module(x)"],
}
