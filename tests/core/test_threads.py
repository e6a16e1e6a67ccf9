"""The pool: its size, results that do not depend on it, and use from threads and after fork."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import flambeau as torch
from flambeau._C import _cgroup_quota

SIZE = 300_007  # several chunks of work, and not a multiple of any vector


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


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
    for count in (2, 3, 5):
        torch.set_num_threads(count)
        assert torch.equal(compute(x), expected), f"{count} threads"


def test_number_can_be_set() -> None:
    torch.set_num_threads(3)
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize("count", [0, -1])
def test_number_must_be_positive(count: int) -> None:
    with pytest.raises(RuntimeError):
        torch.set_num_threads(count)


def test_number_follows_affinity() -> None:
    one = min(os.sched_getaffinity(0))
    script = (
        f"import os; os.sched_setaffinity(0, [{one}])\n"
        "import flambeau; print(flambeau.get_num_threads())"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == "1"


def started_with(**environment: str) -> int:
    """The number in a new process."""
    rest = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
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


def test_forked_child_computes() -> None:
    """GNU OpenMP hangs in a child of a process whose pool has run; the child uses one thread."""
    x = torch.rand(SIZE)
    expected = (x + x).sum().item()
    child = os.fork()
    if child == 0:
        os._exit(0 if (x + x).sum().item() == expected else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
