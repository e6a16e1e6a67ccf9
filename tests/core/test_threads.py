"""The pool: its size, results that do not depend on it, and use from threads and after fork."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import flambeau as torch
from flambeau._C import _cgroup_quota
from flambeau.nn import functional as F
from flambeau.vision import ops as vision_ops

SIZE = 300_007  # several chunks of work, and not a multiple of any vector


pytestmark = pytest.mark.usefixtures("restored_threads")


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x.sum(),
        lambda x: x.mean(),
        lambda x: x.var(),
        lambda x: x.norm(),
        lambda x: torch.exp(x) + torch.sin(x),
        lambda x: x[:300_000].view(600, 500).sum(0),
        lambda x: x[:300_000].view(600, 500).sum(1),
        lambda x: x[:300_000].view(3, 100_000).t().sum(1),
        lambda x: torch.softmax(x[:300_000].view(600, 500), 1),
        lambda x: torch.logsumexp(x, 0),
        lambda x: x.cumsum(0),
        lambda x: x.sort().indices,
        lambda x: x.argmax(),
        lambda x: x[:250_000].view(500, 500) @ x[50_000:300_000].view(500, 500),
        lambda x: torch.zeros(7).index_add(0, (x * 7).long().clamp(0, 6), x),
    ],
)
def test_results_do_not_depend_on_the_number(
    compute: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    torch.manual_seed(0)
    x = torch.rand(SIZE)
    torch.set_num_threads(1)
    expected = compute(x)
    for count in (2, 3, 5, 16):
        torch.set_num_threads(count)
        assert torch.equal(compute(x), expected), f"{count} threads"


@pytest.mark.parametrize(
    ("first", "second"),
    [("300 500", "500 400"), ("64 784", "784 512"), ("9 70 80", "9 80 60"), ("1 3000", "3000 900")],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_products_do_not_depend_on_the_number(first: str, second: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a = torch.randn(*map(int, first.split())).to(dtype)
    b = torch.randn(*map(int, second.split())).to(dtype)
    transposed = b.mT.contiguous().mT

    def products() -> list[torch.Tensor]:
        return [a @ b, a @ transposed]

    torch.set_num_threads(1)
    expected = products()
    for count in (2, 3, 16):
        torch.set_num_threads(count)
        for found, wanted in zip(products(), expected, strict=True):
            assert torch.equal(found, wanted), f"{count} threads"


CONVOLUTIONS = {
    "3x3/2": ((6, 32, 29, 27), (48, 32, 3, 3), {"stride": 2, "padding": 1}),
    "7x7/2 of one image": ((1, 3, 97, 101), (32, 3, 7, 7), {"stride": 2, "padding": 3}),
    "3x3 by tiles": ((4, 32, 30, 30), (32, 32, 3, 3), {"padding": 1}),
    "depthwise": ((5, 64, 40, 40), (64, 1, 3, 3), {"padding": 1, "groups": 64}),
    "dilated, grouped": ((3, 32, 40, 40), (64, 16, 5, 5), {"dilation": 2, "groups": 2}),
    "1x1/2": ((7, 64, 33, 33), (128, 64, 1, 1), {"stride": 2}),
    "of many images": ((37, 16, 20, 20), (32, 16, 5, 5), {"padding": 2}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_convolutions_do_not_depend_on_the_number(name: str, dtype: torch.dtype) -> None:
    image, weight, arguments = CONVOLUTIONS[name]
    torch.manual_seed(0)
    x = torch.randn(image).to(dtype).requires_grad_()
    w = torch.randn(weight).to(dtype).requires_grad_()

    def results() -> list[torch.Tensor]:
        out = F.conv2d(x, w, **arguments)
        return [out.detach(), *torch.autograd.grad(out, (x, w), torch.ones_like(out))]

    torch.set_num_threads(1)
    expected = results()
    for count in (2, 3, 16):
        torch.set_num_threads(count)
        for found, wanted in zip(results(), expected, strict=True):
            assert torch.equal(found, wanted), f"{count} threads"


@pytest.mark.parametrize("batch", [1, 5])
def test_transposed_convolutions_do_not_depend_on_the_number(batch: int) -> None:
    torch.manual_seed(0)
    x, w, bias = torch.randn(batch, 64, 41, 39), torch.randn(64, 32, 4, 4), torch.randn(32)
    torch.set_num_threads(1)
    expected = F.conv_transpose2d(x, w, bias, stride=2, padding=1)
    for count in (2, 3, 16):
        torch.set_num_threads(count)
        assert torch.equal(F.conv_transpose2d(x, w, bias, stride=2, padding=1), expected)


@pytest.mark.parametrize("heads", [1, 3, 8])
def test_attention_does_not_depend_on_the_number(heads: int) -> None:
    torch.manual_seed(0)
    inputs = [torch.randn(1, heads, 300, 32, requires_grad=True) for _ in range(3)]

    def gradients() -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(F.scaled_dot_product_attention(*inputs).sum(), inputs)

    torch.set_num_threads(1)
    expected = gradients()
    for count in (2, 3, 16):
        torch.set_num_threads(count)
        for found, wanted in zip(gradients(), expected, strict=True):
            assert torch.equal(found, wanted), f"{count} threads"


def test_number_can_be_set() -> None:
    torch.set_num_threads(3)
    assert torch.get_num_threads() == 3


SETTERS = [torch.set_num_threads, torch.set_num_interop_threads]


@pytest.mark.parametrize("set_number", SETTERS)
@pytest.mark.parametrize("count", [0, -1])
def test_number_must_be_positive(set_number: Callable[[int], None], count: int) -> None:
    with pytest.raises(RuntimeError, match="positive"):
        set_number(count)


@pytest.mark.parametrize("set_number", SETTERS)
def test_number_must_be_an_int(set_number: Callable[[Any], None]) -> None:
    for count in (2**31, 2**63, 10**30):
        with pytest.raises(ValueError, match="bits"):
            set_number(count)
    for other in (1.5, True, None, "2"):
        with pytest.raises(TypeError, match="expects an int, but got"):
            set_number(other)


@pytest.mark.parametrize("count", [300, 2**31 - 1])
def test_more_threads_than_there_can_be(count: int) -> None:
    x = torch.rand(SIZE)
    expected = x.sum()
    torch.set_num_threads(count)
    assert torch.get_num_threads() == count
    assert torch.equal(x.sum(), expected)


def test_number_follows_affinity() -> None:
    one = min(os.sched_getaffinity(0))
    script = (
        f"import os; os.sched_setaffinity(0, [{one}])\n"
        "import flambeau; print(flambeau.get_num_threads())"
    )
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == "1"


def started_with(**environment: str) -> int:
    """The number in a new process."""
    rest = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    script = "import flambeau; print(flambeau.get_num_threads())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**rest, **environment},
    )
    return int(done.stdout)


@pytest.mark.parametrize(("asked", "given"), [("1", 1), ("3", 3), ("5,2", 5)])
def test_number_that_the_environment_asks_for(asked: str, given: int) -> None:
    assert started_with(OMP_NUM_THREADS=asked) == given


@pytest.mark.parametrize(("mkl", "given"), [("2", 2), ("0", 3), ("none", 3)])
def test_number_for_mkl_comes_first(mkl: str, given: int) -> None:
    assert started_with(MKL_NUM_THREADS=mkl, OMP_NUM_THREADS="3") == given


@pytest.mark.parametrize("nonsense", ["", "0", "-2", "many"])
def test_environment_that_asks_for_nothing(nonsense: str) -> None:
    assert started_with(OMP_NUM_THREADS=nonsense) == started_with()


@pytest.mark.parametrize(
    ("membership", "files", "quota"),
    [
        # Version 2: the process's own group, its ancestors, the least of them.
        ("0::/\n", {"cpu.max": "150000 100000"}, 1.5),
        ("0::/a/b\n", {"a/b/cpu.max": "300000 100000"}, 3),
        ("0::/a/b\n", {"a/cpu.max": "200000 100000", "a/b/cpu.max": "max 100000"}, 2),
        ("0::/a/b\n", {"a/cpu.max": "200000 100000", "a/b/cpu.max": "50000 100000"}, 0.5),
        ("0::/a/b\n", {"c/cpu.max": "50000 100000"}, 0),
        # A container that shows itself as the root: the path is the one outside.
        ("0::/docker/5f0c\n", {"cpu.max": "100000 50000"}, 2),
        # Version 1, by itself and beside version 2.
        (
            "4:memory:/x\n3:cpu,cpuacct:/x\n",
            {"cpu/x/cpu.cfs_quota_us": "250000", "cpu/x/cpu.cfs_period_us": "100000"},
            2.5,
        ),
        (
            "1:cpu,cpuacct:/\n0::/\n",
            {"cpu,cpuacct/cpu.cfs_quota_us": "100000", "cpu,cpuacct/cpu.cfs_period_us": "100000"},
            1,
        ),
        ("1:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 0),
        ("1:cpuset:/\n", {"cpu/cpu.cfs_quota_us": "1", "cpu/cpu.cfs_period_us": "1"}, 0),
        # Nothing to read, or nonsense.
        ("", {}, 0),
        ("0::/\n", {"cpu.max": "lots"}, 0),
        ("nonsense\n", {"cpu.max": "100000 100000"}, 0),
    ],
)
def test_quota_of_control_groups(
    tmp_path: Path, membership: str, files: dict[str, str], quota: float
) -> None:
    (tmp_path / "cgroup").write_text(membership)
    for name, content in files.items():
        path = tmp_path / "mount" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    assert _cgroup_quota(str(tmp_path / "cgroup"), str(tmp_path / "mount")) == quota


def test_quota_without_control_groups(tmp_path: Path) -> None:
    assert _cgroup_quota(str(tmp_path / "none"), str(tmp_path)) == 0


def test_python_threads_may_compute_at_once() -> None:
    torch.manual_seed(0)
    inputs = [torch.rand(SIZE) for _ in range(4)]
    expected = [(x * 2).sum().item() for x in inputs]
    found: list[list[float]] = [[] for _ in inputs]

    def work(index: int) -> None:
        for _ in range(20):
            found[index].append((inputs[index] * 2).sum().item())

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[value] * 20 for value in expected]


def test_number_may_change_while_others_compute() -> None:
    torch.manual_seed(0)
    x = torch.rand(SIZE)
    expected = (x * 2).sum().item()
    found: list[float] = []

    def work() -> None:
        found.extend((x * 2).sum().item() for _ in range(100))

    thread = threading.Thread(target=work)
    thread.start()
    count = 0
    while thread.is_alive():
        count = count % 7 + 1
        torch.set_num_threads(count)
    thread.join()
    assert found == [expected] * 100


@pytest.mark.parametrize("count", [1, 2, 5])
def test_first_error_of_a_loop_is_raised(count: int) -> None:
    """As on one thread, whichever thread comes upon another one sooner."""
    torch.set_num_threads(count)
    images = torch.rand(2, 8, 40, 40)
    boxes = torch.tensor([[0.0, 1, 1, 30, 30]]).repeat(400, 1)
    boxes[torch.tensor([30, 31, 200, 399]), 0] = torch.tensor([5.0, 6, 7, 8])
    for _ in range(20):
        with pytest.raises(IndexError, match="rois name image 5 of a batch of 2"):
            vision_ops.roi_pool(images, boxes, 7)
        boxes[30, 0] = 5.0
    boxes[:, 0] = 1
    assert vision_ops.roi_pool(images, boxes, 7).shape == (400, 8, 7, 7)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_workers_stay_where_a_running_process_is_bound() -> None:
    """Workers go to another processor than their caller's, but never to one that is forbidden."""
    script = """if True:
        import os
        import flambeau
        flambeau.set_num_threads(2)
        everywhere = os.sched_getaffinity(0)
        x = flambeau.rand(300_007)

        def tasks():
            return [int(task) for task in os.listdir("/proc/self/task")]

        def bind(processors):
            for task in tasks():
                os.sched_setaffinity(task, processors)

        for _ in range(60):
            for _ in range(10):
                x.exp()
            bind({min(everywhere)})
            for _ in range(10):
                x.exp()
            escaped = [task for task in tasks() if len(os.sched_getaffinity(task)) > 1]
            assert not escaped, escaped
            bind(everywhere)
    """
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)


def names_of_threads() -> list[str]:
    folder = Path("/proc/self/task")
    return [(each / "comm").read_text().strip() for each in folder.iterdir()]


def test_workers_leave_signals_to_the_program() -> None:
    torch.set_num_threads(2)
    torch.rand(SIZE).exp()
    blocked = [
        int(line.split()[1], 16)
        for task in Path("/proc/self/task").iterdir()
        if (task / "comm").read_text().strip() == "flambeau"
        for line in (task / "status").read_text().splitlines()
        if line.startswith("SigBlk")
    ]
    assert blocked
    for mask in blocked:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD):
            assert mask >> (number - 1) & 1, f"{number.name} may come to a worker"
        assert not mask >> (signal.SIGSEGV - 1) & 1


def test_idle_process_uses_no_processor() -> None:
    script = """if True:
        import time
        import flambeau
        flambeau.set_num_threads(4)
        x = flambeau.rand(10**6)
        for _ in range(20):
            x.exp()
        flambeau.rand(8, 16, 64, 64, requires_grad=True).mean().backward()
        before = time.process_time()
        time.sleep(0.5)
        print(time.process_time() - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 0.005


def test_variable_for_the_copy_of_numpy_is_kept() -> None:
    script = "import os, flambeau; print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    rest = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    for given, kept in (({}, "None"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")):
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**rest, **given},
        )
        assert done.stdout.strip() == kept


def test_caches_of_workers_are_emptied() -> None:
    torch.set_num_threads(4)
    for _ in range(3):
        torch.rand(SIZE).sort()
    torch.empty_cache()
    assert torch.memory_stats()["cached_bytes"] == 0


def in_child(check: Callable[[], bool]) -> bool:
    """Whether a check holds in a forked process."""
    child = os.fork()
    if child == 0:
        held = False
        try:
            held = check()
        finally:
            os._exit(0 if held else 1)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def test_forked_child_computes_on_threads_of_its_own() -> None:
    torch.set_num_threads(2)
    x = torch.rand(SIZE)
    image, weight = torch.rand(4, 16, 40, 40), torch.rand(32, 16, 5, 5)

    def results() -> list[torch.Tensor]:
        return [(x + x).sum(), x.sort().values, F.conv2d(image, weight, stride=2)]

    expected = results()

    def check() -> bool:
        alone = names_of_threads().count("flambeau") == 0
        same = all(torch.equal(a, b) for a, b in zip(results(), expected, strict=True))
        together = torch.get_num_threads() == 2 and "flambeau" in names_of_threads()
        return (
            alone and same and together and in_child(lambda: torch.equal(results()[0], expected[0]))
        )

    assert in_child(check)
    assert all(torch.equal(a, b) for a, b in zip(results(), expected, strict=True))


def test_child_that_is_forked_while_others_compute() -> None:
    torch.set_num_threads(2)
    x = torch.rand(SIZE)
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            x.exp_().log_()

    thread = threading.Thread(target=work)
    thread.start()
    y = torch.ones(SIZE)
    try:
        for _ in range(5):
            assert in_child(lambda: (y + y).sum().item() == 2 * SIZE)
    finally:
        ended.set()
        thread.join()
