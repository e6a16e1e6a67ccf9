"""Two devices in one process."""

import os
import subprocess
import sys
import textwrap

import pytest

import flambeau as fb

pytestmark = pytest.mark.skipif(
    "FB_EMULATOR_ROOT" not in os.environ and fb.cuda.device_count() < 2, reason="needs two GPUs"
)


def run(code: str) -> None:
    """Run a program where there are two, also on the emulator."""
    done = subprocess.run(
        [sys.executable, "-c", "import flambeau as torch\n" + textwrap.dedent(code)],
        env={**os.environ, "FB_EMULATOR_DEVICES": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_tensors_of_two_devices_do_not_meet() -> None:
    run("""
        a, b = torch.ones(2, 2, device="cuda:0"), torch.ones(2, 2, device="cuda:1")
        number = torch.tensor(2.0, device="cuda:1")
        calls = {
            "add": lambda: a + b, "matmul": lambda: a @ b, "cat": lambda: torch.cat([a, b]),
            "where": lambda: torch.where(a > 0, a, b), "lerp": lambda: torch.lerp(a, b, 0.5),
            "add_": lambda: a.add_(b), "linear": lambda: torch.nn.functional.linear(a, b),
            "number": lambda: a * number,
        }
        for name, call in calls.items():
            try:
                call()
            except RuntimeError as error:
                text = str(error)
                assert "same device" in text and "cuda:0" in text and "cuda:1" in text, (name, text)
            else:
                raise AssertionError(name)
        assert (a * torch.tensor(2.0)).device.index == 0
    """)


def test_copies() -> None:
    run("""
        from flambeau import cuda
        for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
            x = torch.arange(24).reshape(4, 6).to(dtype)
            a = x.to("cuda:0")
            for view, expected in ((a, x), (a.t(), x.t()), (a[:, ::2], x[:, ::2]), (a[:0], x[:0])):
                b = view.to("cuda:1")
                assert b.device.index == 1 and torch.equal(b.cpu(), expected)
                out = torch.empty(view.shape[::-1], dtype=dtype, device="cuda:1").t()
                assert torch.equal(out.copy_(view).cpu(), expected)
        half = torch.ones(5, device="cuda:0").to("cuda:1", torch.float16)
        assert half.device.index == 1 and half.dtype == torch.float16
        assert torch.ones(2, device="cuda:0").to(torch.ones(1, device="cuda:1")).device.index == 1
        with cuda.stream(cuda.Stream(1)):
            assert torch.ones(3, device="cuda:0").cuda(1).sum().item() == 3.0
        assert cuda.can_device_access_peer(0, 1)
        parts = cuda.comm.scatter(torch.arange(6.0), [0, 1])
        assert [each.device.index for each in parts] == [0, 1]
        assert cuda.comm.gather(parts, destination=1).tolist() == list(range(6))
        copies = cuda.comm.broadcast(torch.ones(2), [0, 1])
        assert cuda.comm.reduce_add(copies, 0).tolist() == [2.0, 2.0]
    """)


def test_the_current_device() -> None:
    run("""
        import threading
        from flambeau import cuda
        assert cuda.device_count() == 2 and cuda.current_device() == 0
        with cuda.device(1):
            assert torch.ones(1, device="cuda").device.index == 1
            assert torch.ones(1).cuda().device.index == 1
            assert cuda.current_stream().device.index == 1
            with cuda.device("cuda:0"):
                assert cuda.current_device() == 0
            assert torch.nn.Linear(2, 2).cuda().weight.device.index == 1
        with cuda.device_of(torch.ones(1, device="cuda:1")):
            assert cuda.current_device() == 1
        with torch.device("cuda:1"):
            assert torch.zeros(1).device.index == 1 and torch.tensor([1.0]).device.index == 1
        assert cuda.current_device() == 0
        torch.set_default_device("cuda:1")
        assert torch.zeros(1).device == torch.get_default_device() == torch.device("cuda:1")
        assert torch.zeros(1, device="cpu").device.type == "cpu"
        torch.set_default_device(None)
        cuda.set_device(1)
        seen = []
        thread = threading.Thread(target=lambda: seen.append(cuda.current_device()))
        thread.start(); thread.join()
        assert seen == [0]  # each thread has its own
        with cuda.stream(cuda.Stream(0)):
            assert cuda.current_device() == 0
        assert cuda.current_device() == 1
        before = cuda.memory_allocated(0)
        x = torch.ones(1000, device="cuda")
        assert cuda.memory_allocated() >= 4000 and cuda.memory_allocated(0) == before
        assert torch.accelerator.current_device_index() == 1
        with torch.accelerator.device_index(0):
            assert cuda.current_device() == 0
        try:
            cuda.set_device(2)
        except RuntimeError as error:
            assert "invalid device ordinal" in str(error)
        else:
            raise AssertionError
    """)


def test_gradients_across_two_devices() -> None:
    run("""
        class Half(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first = torch.nn.Linear(3, 4).to("cuda:0")
                self.second = torch.nn.Linear(4, 2).to("cuda:1")
            def forward(self, x):
                return self.second(self.first(x.to("cuda:0")).relu().to("cuda:1"))
        seen = []
        class Where(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1
            @staticmethod
            def backward(ctx, grad):
                seen.append((grad.device.index, torch.cuda.current_stream(grad.device).cuda_stream))
                return grad
        net = Half()
        stream = torch.cuda.Stream(1)
        x = torch.ones(5, 3, requires_grad=True)
        y = net(x)
        stream.wait_stream(torch.cuda.current_stream(1))
        with torch.cuda.stream(stream):
            z = Where.apply(y)
        Where.apply(z).to("cuda:0").sum().backward()
        assert seen == [(1, 0), (1, stream.cuda_stream)]
        for name, parameter in net.named_parameters():
            assert parameter.grad.device == parameter.device, name
        assert x.grad.device.type == "cpu"
        here = torch.nn.Sequential(net.first.cpu(), torch.nn.ReLU(), net.second.cpu())
        expected = torch.ones(5, 3, requires_grad=True)
        here.zero_grad()
        here(expected).sum().backward()
        assert torch.allclose(expected.grad, x.grad)
        net = Half()
        optimizer = torch.optim.Adam(net.parameters())
        net(torch.ones(2, 3)).sum().backward()
        before = net.second.bias.tolist()
        optimizer.step()
        assert net.second.bias.tolist() != before
        assert optimizer.state[net.second.bias]["exp_avg"].device.index == 1
    """)


def test_a_network_on_both() -> None:
    run("""
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        x = torch.linspace(0, 1, 15).reshape(5, 3)
        expected = net(x)
        expected.sum().backward()
        grads = [each.grad.clone() for each in net.parameters()]
        net.zero_grad()
        parallel = torch.nn.DataParallel(net.cuda())
        assert parallel.device_ids == [0, 1] and parallel.output_device == 0
        y = parallel(x)
        assert y.device.index == 0
        assert torch.allclose(y.cpu(), expected, atol=1e-6)
        y.sum().backward()
        for parameter, grad in zip(net.parameters(), grads):
            assert torch.allclose(parameter.grad.cpu(), grad, atol=1e-6)
        assert parallel(x[:1]).shape == (1, 2)
        optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
        optimizer.step()
        net.to("cuda:1")
        try:
            parallel(x)
        except RuntimeError as error:
            assert "on device cuda:0 (device_ids[0])" in str(error)
        else:
            raise AssertionError
        assert torch.nn.DataParallel(net.to("cuda:1"), [1])(x).device.index == 1
    """)
