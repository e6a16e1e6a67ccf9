"""A program for each family of kernels: it reaches all of them, for every type that they take.

The programs run where nothing is computed, so they must not depend on results.
"""

EVERY = """
import flambeau as torch
from flambeau.nn import functional as F

TYPES = (torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.complex64)
FLOATS = (torch.float32, torch.float64)


def ones(*shape):
    return torch.ones(*shape).to(dtype).cuda()
"""

POINTWISE = """
for dtype in TYPES:
    x = ones(4, 6)
    x + x, x.t() + x[0, :4], x * 2, x.t().contiguous(), x.to(torch.half)
    x.fill_(3), torch.where(x == x, x, x), torch.cat([x, x]), x.flip(0), x.tril()
    wide = ones(32, 64)
    wide[:, 32:] + wide[0, 32:], wide[:, 32:] * wide[:, :1], wide.t().contiguous()
    x.sum(), x.sum(0), x.prod(1), x.any(), (x != 0).all(), torch.count_nonzero(x), x @ x.t()
    if dtype != torch.complex64:
        x.amax(0), x.max(1), x.argmin(1)
        torch.arange(5, dtype=dtype, device="cuda")
        torch.linspace(0, 1, 5, dtype=dtype, device="cuda")
    torch.logspace(0, 1, 5, dtype=dtype, device="cuda")
    if dtype.is_floating_point:
        x.exp(), torch.special.erfcx(x.float()), torch.lgamma(x)
        x.var(), x.std(0), x.norm(), x.norm(1)
    if dtype in FLOATS:
        x.frexp()
torch.tril_indices(3, 4, device="cuda")
"""

SOFTMAX = """
for dtype in (*FLOATS, torch.half, torch.bfloat16):
    for n in (6, 3000, 5000, 9000):
        x = ones(2, n).requires_grad_()
        (x.softmax(1) + x.log_softmax(1)).sum().backward()
        x.detach().logsumexp(1)
    x = ones(4, 6).requires_grad_()
    (x.softmax(0) + x.log_softmax(0)).sum().backward()
    x.detach().logsumexp(0)
"""

ORDER = """
for dtype in TYPES:
    x = ones(4, 6)
    if dtype != torch.complex64:
        x.nonzero(), x.masked_select(x == 1)
        for rows in (x, ones(2, 3000)):
            rows.sort(1), rows.topk(2), rows.kthvalue(2), rows.mode(1)
            rows.cummax(1), rows.cummin(0)
        x.median(1), x.unique(), x.unique(dim=0), torch.searchsorted(x[0], x)
    x.cumsum(1)
    numbers = torch.ones(6, dtype=torch.int64).cuda()
    if dtype.is_floating_point:
        x.cumprod(1), torch.isfinite(x).all()
    if dtype in FLOATS:
        x.histc(3, 0, 1), x.logcumsumexp(0), torch.bincount(numbers, x[0])
        torch.histogram(x, x[0]), torch.histogram(x, x[0], weight=x)
torch.repeat_interleave(numbers), torch.bincount(numbers)
coordinates = torch.zeros(1, 3, dtype=torch.int64)
sparse = torch.sparse_coo_tensor(coordinates.cuda(), torch.ones(3).cuda(), (4,))
sparse.coalesce(), sparse + sparse, sparse * sparse, sparse.to_dense()
"""

POSITIONS = """
for dtype in TYPES:
    x, index = ones(4, 6), torch.ones(4, 6, dtype=torch.int64).cuda()
    row = index[:, 0]
    x.gather(1, index), x.scatter(1, index, x), x[row], x.masked_fill(index == 1, 0)
    x.index_put((row,), x, accumulate=True), x.scatter_add(0, index, x)
    x.scatter_reduce(0, index, x, "prod"), x.scatter_reduce(0, index, x, "mean")
    x[:, 1:].index_select(0, row)
    if dtype != torch.complex64:
        x.scatter_reduce(0, index, x, "amax"), x.scatter_reduce(0, index, x, "amin")
    if dtype.is_floating_point:
        weight = x.clone().requires_grad_()
        F.embedding(index, weight, padding_idx=1, scale_grad_by_freq=True).sum().backward()
        F.embedding(index, x, max_norm=1.0)
        for mode in ("sum", "mean", "max"):
            F.embedding_bag(index, weight, mode=mode).sum().backward()
"""

RANDOM = """
for dtype in TYPES:
    x = ones(4, 6)
    if dtype == torch.complex64:
        x.uniform_(), x.normal_()
        continue
    x.bernoulli_(0.5), x.bernoulli_(torch.ones(6).cuda()), x.bernoulli_(torch.ones(6).half().cuda())
    x.random_(), x.random_(0, 1 << 7), x.random_(-(1 << 30), None), x.geometric_(0.5)
    torch.randperm(9, dtype=dtype, device="cuda"), torch.randperm(5000, dtype=dtype, device="cuda")
    if dtype.is_floating_point:
        x.uniform_(), x.normal_(), x.log_normal_(), x.exponential_(), x.cauchy_()
        torch.poisson(x), torch.multinomial(x.abs(), 9, True), torch.multinomial(x.abs(), 1)
        F.dropout(x), F.dropout(x[:3, :2].contiguous()), F.dropout(x[:1, :5].contiguous())
        F.rrelu(x, training=True)
    if dtype in FLOATS:
        torch.binomial(x, x), torch._standard_gamma(x), torch._standard_gamma_grad(x, x)
        torch._sample_dirichlet(x), torch._dirichlet_grad(x, x, x)
"""

NORMS = """
for dtype in (*FLOATS, torch.bfloat16):
    for n in (3, 1024, 9008):
        x, weight = ones(2, n).requires_grad_(), ones(n).requires_grad_()
        F.layer_norm(x, (n,), weight, weight).sum().backward()
        F.rms_norm(x, (n,), weight).sum().backward()
    for x in (ones(2, 8, 3, 3), ones(2, 8, 4, 4)):
        for order in (torch.contiguous_format, torch.channels_last):
            x = x.to(memory_format=order).detach().requires_grad_()
            statistics = torch.zeros(8).to(x), torch.ones(8).to(x)
            F.batch_norm(x, *statistics, training=True).sum().backward()
            F.batch_norm(x, *statistics).sum().backward()
            F.group_norm(x, 2).sum().backward()
"""

LOSSES = """
for dtype in FLOATS:
    x, y, classes = ones(4, 6).requires_grad_(), ones(4, 6), torch.ones(4).long().cuda()
    losses = [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy]
    losses += [F.binary_cross_entropy_with_logits, F.poisson_nll_loss]
    losses += [F.soft_margin_loss, F.hinge_embedding_loss, F.cross_entropy, F.pairwise_distance]
    losses += [lambda *t, **how: F.gaussian_nll_loss(*t, t[1], **how)]
    losses += [lambda *t, **how: F.margin_ranking_loss(*t, t[1], **how)]
    losses += [lambda *t, **how: F.poisson_nll_loss(*t, log_input=False, **how)]
    for loss in losses:
        loss(x, y).sum().backward()
    for log_target in (True, False):
        F.kl_div(x, y, reduction="sum", log_target=log_target).backward()
    F.l1_loss(x, y, reduction="none"), F.mse_loss(x[0, :5], y[0, :5]).backward()
    F.mse_loss(ones(9000), ones(9000))
    F.cross_entropy(x, classes, label_smoothing=0.1).backward()
    F.cross_entropy(ones(3000, 2), torch.ones(3000).long().cuda())
    F.nll_loss(x, classes).backward()
    for p in (1, 2):
        F.multi_margin_loss(x, classes, p).backward()
    F.multilabel_margin_loss(x, y.long()).backward()
    F.one_hot(classes)
    F.ctc_loss(x.reshape(4, 1, 6), classes.reshape(1, 4)[:, :2], (4,), (2,)).backward()
    for p in (0.0, 1.0, 2.0, 3.0, float("inf")):
        torch.cdist(x.detach(), y, p, "donot_use_mm_for_euclid_dist")
"""

OPTIMISERS = """
RULES = [
    ("SGD", {"lr": 0.1}, {"lr": 0.1, "momentum": 0.9}), ("Adam", {}, {"amsgrad": True}),
    ("Adamax",), ("NAdam",), ("RAdam",), ("Adagrad",), ("Adadelta",), ("Rprop",), ("ASGD",),
    ("RMSprop", {}, {"centered": True}, {"momentum": 0.9}, {"centered": True, "momentum": 0.9}),
    ("Adafactor",),
]
for dtype in (*FLOATS, torch.bfloat16):
    x = ones(4, 6)
    weight = torch.nn.Parameter(x.clone())
    weight.grad = x
    for rule, *options in RULES:
        for given in options or [{}]:
            getattr(torch.optim, rule)([weight], **given).step()
    torch._C._lerp_all([x.clone()], [x], 0.5)
    if dtype in FLOATS:
        one, count = torch.ones((), device="cuda"), torch.ones((), dtype=torch.int32, device="cuda")
        torch._C._amp_foreach_non_finite_check_and_unscale_([x.clone()], one, one)
        torch._C._amp_update_scale_(one, count, one, 2.0, 0.5, 3)
"""

SEQUENCES = """
LAYERS = [("LSTM", {}), ("LSTM", {"proj_size": 2}), ("GRU", {}), ("RNN", {})]
LAYERS += [("RNN", {"nonlinearity": "relu"})]
for dtype in (*FLOATS, torch.half, torch.bfloat16):
    for features in (6, 200):
        q = ones(1, 4, features).requires_grad_()
        F.scaled_dot_product_attention(q, q, q).sum().backward()
for dtype in FLOATS:
    x = ones(4, 6)
    for name, options in LAYERS:
        layer = getattr(torch.nn, name)(6, 5, device="cuda", dtype=dtype, **options)
        layer(x[None])[0].sum().backward()
        if not options:
            cell = getattr(torch.nn, name + "Cell")(6, 5, device="cuda", dtype=dtype)
            out = cell(x)
            (out if isinstance(out, torch.Tensor) else out[0]).sum().backward()
"""

IMAGES = """
def made(*shape):
    return ones(*shape).requires_grad_(dtype.is_floating_point)


def run(*results):
    if dtype.is_floating_point:
        torch.autograd.backward(results, [torch.ones_like(r) for r in results])


for dtype in TYPES:
    # Rows, channels in, channels out, groups: tiles, large tiles, single elements, parts, groups.
    for size, channels, out, groups in ((6, 3, 5, 1), (130, 8, 72, 1), (4, 72, 8, 1), (6, 4, 8, 4)):
        x, weight = made(1, channels, size, size), made(out, channels // groups, 3, 3)
        run(F.conv2d(x, weight, made(out), padding=1, groups=groups))
    if dtype.is_complex:
        continue
    x = made(1, 4, 8, 8)
    for each in (x, x.contiguous(memory_format=torch.channels_last)):
        best, where = F.max_pool2d(each, 2, return_indices=True)
        run(F.max_pool2d(each, 2), best, F.adaptive_max_pool2d(each, 3))
        run(F.max_unpool2d(best.detach().requires_grad_(dtype.is_floating_point), where, 2))
    if not dtype.is_floating_point:
        continue
    samples = torch.zeros(1, 4, 2, dtype=x.dtype).cuda()
    run(F.fractional_max_pool2d(x, 2, (3, 3), None, False, samples))
    run(F.avg_pool2d(x, 2), F.interpolate(x, size=(3, 2), mode="bicubic", antialias=True))
    run(F.interpolate(made(1, 1, 90, 90), size=(2, 2), mode="bilinear", antialias=True))
    run(F.fold(F.unfold(x, 2), (8, 8), 2), F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2))
    grid, deep = made(1, 5, 5, 2), made(1, 2, 3, 3, 3)
    for mode in ("bilinear", "nearest", "bicubic"):
        run(F.grid_sample(x, grid, mode))
    for mode in ("bilinear", "nearest"):
        run(F.grid_sample(deep, made(1, 2, 3, 4, 3), mode))
    run(F.affine_grid(made(1, 2, 3), [1, 1, 4, 4]))
    run(F.affine_grid(made(1, 3, 4), [1, 1, 2, 4, 4]))
pixels = torch.zeros(1, 3, 9, 9, dtype=torch.uint8).cuda()
F.interpolate(pixels, size=(4, 5), mode="bilinear")
torch._C._resize_bytes(pixels, 4, 5, "smooth-linear", 22)
torch._C._map_bytes(pixels, torch.zeros(1, 256).cuda())
"""

TRANSFORMS = """
import contextlib

from flambeau.vision import ops

for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
    x = ones(2, 34, 34)
    torch.linalg.det(x), torch.linalg.slogdet(x), torch.linalg.qr(x), torch.fft.fft(x)
    torch._C._fft_c2c(x[0, :, 0] + 0j, [0], 1.0, True)
    if dtype.is_complex:
        continue
    torch.fft.fft(ones(3, 101))
    images, rois = ones(1, 4, 8, 8).requires_grad_(), torch.zeros(1, 5, dtype=dtype).cuda()
    for pool in (ops.roi_align, ops.ps_roi_align, ops.ps_roi_pool):
        pool(images, rois, (2, 2), 1.0).sum().backward()
    ops.roi_pool(images.detach(), rois, (2, 2), 1.0)
    with contextlib.suppress(RuntimeError):  # the number of boxes that nobody has counted
        ops.nms(rois[:, 1:], rois[:, 0], 0.5)
    offset, weight = torch.zeros(1, 18, 8, 8, dtype=dtype).cuda(), ones(4, 4, 3, 3)
    ops.deform_conv2d(images, offset, weight, padding=1).sum().backward()
"""

ATTENTION = """
for dtype in (torch.float32, torch.half, torch.bfloat16):
    for features in (16, 64, 128, 256):
        x = ones(2, 5, features).requires_grad_()
        F.scaled_dot_product_attention(x, x, x, is_causal=True).sum().backward()
"""

PROGRAMS = {
    "attention": ATTENTION,
    "pointwise": POINTWISE,
    "softmax": SOFTMAX,
    "order": ORDER,
    "positions": POSITIONS,
    "random": RANDOM,
    "norms": NORMS,
    "losses": LOSSES,
    "optimisers": OPTIMISERS,
    "sequences": SEQUENCES,
    "images": IMAGES,
    "transforms": TRANSFORMS,
}
