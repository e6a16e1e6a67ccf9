"""Methods that change a tensor in place, as functions: ``torch.clamp_(x, min=0)``."""

from __future__ import annotations

from flambeau import Tensor

__all__: list[str] = []

addmv_ = Tensor.addmv_
as_strided_ = Tensor.as_strided_
clamp_ = Tensor.clamp_
clamp_max_ = Tensor.clamp_max_
clamp_min_ = Tensor.clamp_min_
clip_ = Tensor.clip_
gcd_ = Tensor.gcd_
index_put_ = Tensor.index_put_
lcm_ = Tensor.lcm_
ldexp_ = Tensor.ldexp_
logit_ = Tensor.logit_
nan_to_num_ = Tensor.nan_to_num_
round_ = Tensor.round_
square_ = Tensor.square_
xlogy_ = Tensor.xlogy_
