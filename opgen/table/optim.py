"""Steps of optimisers: parameters, gradients and state as lists, all changed in one pass."""

from opgen.model import floating_complex, native, op


def declare(name: str, state: str, options: str, doc: str, *, params: str, **lr: str) -> None:
    """A step; `state` names the lists besides parameters and gradients. `lr`: an overload."""
    lists = ", ".join(f"{each}: list[Tensor]" for each in (params, "grads", *state.split()))
    for overload, kind in {"": "float", **lr}.items():
        head = f"{name}.{overload}" if overload else name
        op(
            f"{head}({lists}, *, {options.format(lr=f'lr: {kind}')}) -> None",
            kind=native,
            dtypes=floating_complex,
            forms="function",
            writes=f"{params} {state}" + (" grads" if "grad_scale" in options else ""),
            device="any",
            doc=doc,
        )


# As in PyTorch. The number of a step is `state_steps`; with `advance` it is incremented there
# first.
SCALED = "grad_scale: Tensor | None = None, found_inf: Tensor | None = None"
ADAM = (
    "{lr}, beta1: float, beta2: float, weight_decay: float, eps: float, amsgrad: bool,"
    f" maximize: bool, {SCALED}, advance: bool = False"
)
SCALES = "Gradients are divided by grad_scale first; found_inf leaves all as it is."
declare(
    "_fused_adam_",
    "exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps",
    ADAM,
    f"A step of Adam; with advance, state_steps are counted first. {SCALES}",
    params="self",
    tensor_lr="Tensor",
)
declare(
    "_fused_adamw_",
    "exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps",
    ADAM,
    f"A step of AdamW; with advance, state_steps are counted first. {SCALES}",
    params="self",
    tensor_lr="Tensor",
)
declare(
    "_fused_sgd_",
    "momentum_buffer_list",
    "weight_decay: float, momentum: float, {lr}, dampening: float, nesterov: bool, maximize: bool,"
    f" is_first_step: bool, {SCALED}",
    f"A step of SGD; momentum begins as the gradient if is_first_step. {SCALES}",
    params="self",
    tensor_lr="Tensor",
)
declare(
    "_fused_adagrad_",
    "state_sums state_steps",
    f"{{lr}}, lr_decay: float, weight_decay: float, eps: float, maximize: bool, {SCALED},"
    " advance: bool = False",
    f"A step of Adagrad; with advance, state_steps are counted first. {SCALES}",
    params="self",
    tensor_lr="Tensor",
)

# Our own, which count their steps. Lists of states that the options do not need may be empty.
MOMENTS = "{lr}, beta1: float, beta2: float, weight_decay: float, eps: float"
for name, state, options, doc in (
    (
        "adamax",
        "exp_avgs exp_infs state_steps",
        f"{MOMENTS}, maximize: bool",
        "A step of Adamax.",
    ),
    (
        "nadam",
        "exp_avgs exp_avg_sqs mu_products state_steps",
        f"{MOMENTS}, momentum_decay: float, decoupled_weight_decay: bool, maximize: bool",
        "A step of NAdam.",
    ),
    (
        "radam",
        "exp_avgs exp_avg_sqs state_steps",
        f"{MOMENTS}, decoupled_weight_decay: bool, maximize: bool",
        "A step of RAdam.",
    ),
    (
        "rmsprop",
        "square_avgs grad_avgs momentum_buffer_list state_steps",
        (
            "{lr}, alpha: float, eps: float, weight_decay: float, momentum: float, centered: bool,"
            " maximize: bool"
        ),
        "A step of RMSprop.",
    ),
    (
        "adadelta",
        "square_avgs acc_deltas state_steps",
        "{lr}, rho: float, eps: float, weight_decay: float, maximize: bool",
        "A step of Adadelta.",
    ),
    (
        "rprop",
        "prevs step_sizes state_steps",
        (
            "etaminus: float, etaplus: float, step_size_min: float, step_size_max: float,"
            " maximize: bool"
        ),
        "A step of Rprop.",
    ),
    (
        "asgd",
        "axs etas mus state_steps",
        "{lr}, lambd: float, alpha: float, t0: float, weight_decay: float, maximize: bool",
        "A step of ASGD.",
    ),
):
    declare(f"_fused_{name}_", state, options, doc, params="params")
