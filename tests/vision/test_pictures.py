"""Image files and grids: what comes back, and what damaged files are told."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import flambeau as fb
from flambeau.vision import io, utils

IMAGE = (fb.arange(3 * 10 * 12) % 256).to(fb.uint8).view(3, 10, 12)


def test_png_is_exact(tmp_path: Path) -> None:
    io.write_png(IMAGE, tmp_path / "a.png", compression_level=9)
    assert (io.read_image(tmp_path / "a.png") == IMAGE).all()
    assert (io.decode_image(str(tmp_path / "a.png"), mode="RGB") == IMAGE).all()
    assert (io.decode_png(io.read_file(tmp_path / "a.png")) == IMAGE).all()
    assert io.read_image(tmp_path / "a.png", io.ImageReadMode.GRAY).shape == (1, 10, 12)
    assert io.read_image(tmp_path / "a.png", io.ImageReadMode.RGB_ALPHA)[3].min() == 255


def test_jpeg_is_close(tmp_path: Path) -> None:
    smooth = fb.linspace(0, 255, 40).expand(3, 40, 40).to(fb.uint8)
    io.write_jpeg(smooth, tmp_path / "a.jpg", quality=95)
    assert (io.read_image(tmp_path / "a.jpg").int() - smooth.int()).abs().max() < 8
    several = io.decode_jpeg(io.encode_jpeg([smooth, smooth]))
    assert [image.shape for image in several] == [(3, 40, 40)] * 2


def test_masks_keep_their_numbers(tmp_path: Path) -> None:
    mask = Image.fromarray(np.arange(12, dtype=np.uint8).reshape(3, 4)).convert("P")
    mask.putpalette([7] * 768)
    mask.save(tmp_path / "mask.png")
    assert io.read_image(tmp_path / "mask.png").flatten().tolist() == list(range(12))


def test_gif_has_frames(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (4, 3), color) for color in ("red", "lime")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    decoded = io.decode_gif(io.read_file(tmp_path / "a.gif"))
    assert decoded.shape == (2, 3, 3, 4)
    assert decoded[1, :, 0, 0].tolist() == [0, 255, 0]
    assert (io.read_image(tmp_path / "a.gif") == decoded).all()
    (tmp_path / "cut.gif").write_bytes((tmp_path / "a.gif").read_bytes()[:-20])
    with pytest.raises(RuntimeError, match=r"cut\.gif"):
        io.read_image(tmp_path / "cut.gif")


def test_damaged_files(tmp_path: Path) -> None:
    whole = io.encode_png(IMAGE).numpy().tobytes()
    for name, data in (("cut.png", whole[:60]), ("text.jpg", b"no image"), ("empty.png", b"")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RuntimeError, match=name):
            io.read_image(tmp_path / name)
    with pytest.raises(RuntimeError, match=r"missing\.png"):
        io.read_image(tmp_path / "missing.png")


@pytest.mark.parametrize("kind", ["jpeg", "png"])
def test_others_run_meanwhile(kind: str) -> None:
    """A decoder releases the interpreter's lock: nothing else does within the next 1000 seconds."""
    image = IMAGE.repeat(1, 50, 50)
    data = getattr(io, f"encode_{kind}")(image)
    has_begun, states = threading.Event(), []

    def work() -> None:
        has_begun.set()
        for _ in range(50):
            io.decode_image(data)

    thread = threading.Thread(target=work)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread.start()
        has_begun.wait()
        states.append(thread.is_alive())
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert states == [True]


def test_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="should be 1 or 3"):
        io.write_png(IMAGE[:2], tmp_path / "a.png")
    with pytest.raises(RuntimeError, match="uint8"):
        io.write_png(IMAGE.float(), tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_grid_places() -> None:
    grid = utils.make_grid(fb.ones(5, 1, 2, 3), nrow=3, padding=1, pad_value=0.5)
    assert grid.shape == (3, 7, 13)
    assert grid[0, 1:3, 1:4].eq(1).all()
    assert grid[0, 0].eq(0.5).all()
    assert grid[0, 4:6, 9:12].eq(0.5).all()  # the sixth place is empty
    stretched = utils.make_grid(fb.arange(8.0).view(2, 1, 2, 2), normalize=True)
    assert (stretched.max(), stretched[0, 2, 2].item()) == (1, 0)
    with pytest.raises(TypeError, match="tensor or list"):
        utils.make_grid("images")


def test_save_image(tmp_path: Path) -> None:
    utils.save_image(IMAGE[None] / 255, tmp_path / "a.png")
    assert (io.read_image(tmp_path / "a.png") == IMAGE).all()


def test_masks_are_blended() -> None:
    masks = fb.zeros(2, 10, 12, dtype=fb.bool)
    masks[0, 0] = masks[1, 1] = True
    drawn = utils.draw_segmentation_masks(IMAGE, masks, alpha=1.0, colors=["red", (0, 0, 9)])
    assert drawn[:, 0, 5].tolist() == [255, 0, 0]
    assert drawn[:, 1, 5].tolist() == [0, 0, 9]
    assert (drawn[:, 2:] == IMAGE[:, 2:]).all()
    boxed = utils.draw_bounding_boxes(IMAGE, fb.tensor([[2, 3, 6, 8]]), ["x"], colors="blue")
    assert boxed[:, 3, 2].tolist() == [0, 0, 255]
    with pytest.raises(ValueError, match="mismatch"):
        utils.draw_bounding_boxes(IMAGE, fb.tensor([[2, 3, 6, 8]]), ["x", "y"])


def test_rotated_boxes_are_drawn() -> None:
    corners = fb.tensor([[4.0, 4, 16, 4, 16, 12, 4, 12]])
    drawn = utils.draw_bounding_boxes(fb.zeros(3, 17, 20, dtype=fb.uint8), corners, colors="red")
    assert drawn[0, 12, 4:17].eq(255).all()
    assert drawn[0, 4, 10:14].eq(0).all()  # the first side is dashed
    with pytest.raises(ValueError, match=r"\(N, 4\) or \(N, 8\), got \(1, 5\)"):
        utils.draw_bounding_boxes(fb.zeros(3, 17, 20), fb.zeros(1, 5))


def test_flows_have_colors() -> None:
    still = utils.flow_to_image(fb.zeros(2, 3, 4))
    assert still.shape == (3, 3, 4)
    assert still.eq(255).all()
    flow = fb.zeros(1, 2, 1, 2)
    flow[0, 0, 0] = fb.tensor([1.0, -1.0])
    right, left = utils.flow_to_image(flow)[0, :, 0].unbind(-1)
    assert right.tolist() != left.tolist()
    with pytest.raises(ValueError, match=r"torch\.float64"):
        utils.flow_to_image(fb.zeros(2, 3, 4, dtype=fb.float64))
    with pytest.raises(ValueError, match=r"\(3, 3, 4\)"):
        utils.flow_to_image(fb.zeros(3, 3, 4))
