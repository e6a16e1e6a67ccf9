"""Images of bytes: sizes, tables of values, and the memory of PIL images."""

import sys
import threading
import time
import warnings

import numpy as np
import pytest

import flambeau as fb
from flambeau.nn.functional import interpolate
from flambeau.vision import transforms as T
from flambeau.vision.transforms import InterpolationMode
from flambeau.vision.transforms._pil import convert, memory, resample
from flambeau.vision.transforms._tensor.table import look_up

PIL = pytest.importorskip("PIL")
Image = pytest.importorskip("PIL.Image")

RANDOM = np.random.default_rng(0)


def pixels(*shape):
    return RANDOM.integers(0, 256, shape, dtype=np.uint8)


# --- other sizes


def triangle(x):
    return max(1 - abs(x), 0.0)


def summed(image, size):
    """The last axis in another size: weights of 16 bits, sums in integers."""
    length = image.shape[-1]
    step = length / size
    stretch = max(step, 1.0)
    rows = []
    for place in range(size):
        centre = step * (place + 0.5)
        first = max(int(centre - stretch + 0.5), 0)
        last = min(int(centre + stretch + 0.5), length)
        weights = np.array([triangle((i - centre + 0.5) / stretch) for i in range(first, last)])
        rows.append((first, weights / weights.sum()))
    largest, bits = max(weights.max() for _, weights in rows), 0
    while bits < 22 and int(0.5 + largest * 2 ** (bits + 1)) < 2**15:
        bits += 1
    result = np.empty((*image.shape[:-1], size), np.uint8)
    for place, (first, weights) in enumerate(rows):
        whole = np.floor(weights * 2**bits + 0.5).astype(np.int64)
        values = image[..., first : first + len(whole)].astype(np.int64) @ whole
        result[..., place] = np.clip((values + 2 ** (bits - 1)) >> bits, 0, 255)
    return result


def resized(image, height, width):
    if image.shape[-1] != width:
        image = summed(image, width)
    if image.shape[-2] != height:
        image = summed(image.swapaxes(-1, -2), height).swapaxes(-1, -2)
    return image


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("order", ["planes", "pixels", "window", "every third"])
def test_bytes_are_summed_in_integers(channels, order):
    image = pixels(2, channels, 29, 45)
    tensor = fb.from_numpy(image)
    if order == "pixels":
        tensor = tensor.contiguous(memory_format=fb.channels_last)
    elif order == "window":
        tensor = fb.from_numpy(np.pad(image, ((0, 0), (0, 1), (2, 3), (5, 1))))
        tensor = tensor[:, :channels, 2:-3, 5:-1]
    elif order == "every third":
        tensor = fb.from_numpy(image.repeat(3, -1))[..., ::3]
    for size in ((16, 20), (29, 7), (40, 45), (1, 1), (70, 100), (3, 60)):
        result = interpolate(tensor, size=size, mode="bilinear", antialias=True)
        assert np.array_equal(result.numpy(), resized(image, *size))


def test_many_small_images_and_few_large_ones():
    for shape, size in (((300, 3, 8, 8), (5, 6)), ((1, 1, 700, 900), (31, 17))):
        image = pixels(*shape)
        result = interpolate(fb.from_numpy(image), size=size, mode="bilinear", antialias=True)
        assert np.array_equal(result.numpy(), resized(image, *size))


@pytest.mark.parametrize("times", [2, 3, 5, 7])
def test_threads_begin_anywhere_in_an_image(times):
    # At some outputs the first weights are 0, so that the next ones begin at earlier rows.
    image, threads = fb.from_numpy(pixels(1, 1, 300, 64)), fb.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3, 4):
            fb.set_num_threads(count)
            results.append(interpolate(image, (300 * times, 200), mode="bicubic", antialias=True))
    finally:
        fb.set_num_threads(threads)
    assert all(fb.equal(results[0], each) for each in results)


def test_sums_in_which_nothing_counts():
    # With 8 bits a row of 600 counts for less than half a bit, but where there are fewer.
    image = fb.full((1, 1, 1800, 3), 255, dtype=fb.uint8)
    result = fb._C._resize_bytes(image, 3, 3, "smooth-linear", 8)
    assert result[0, 0, 1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("size", [(0, 4), (4, -1), (2**31, 2**31), (2**40, 2)])
def test_sizes_that_cannot_be(size):
    with pytest.raises((RuntimeError, ValueError)):
        interpolate(fb.zeros(1, 3, 4, 4, dtype=fb.uint8), size=size, mode="bilinear")
    with pytest.raises((RuntimeError, ValueError)):
        fb._C._resize_bytes(fb.zeros(1, 3, 4, 4, dtype=fb.uint8), *size, "lanczos", 22)


def test_bad_calls_of_the_operators():
    image = fb.zeros(1, 3, 4, 4, dtype=fb.uint8)
    with pytest.raises(RuntimeError, match="image \\(N, C, H, W\\) of uint8"):
        fb._C._resize_bytes(image[0], 2, 2, "box", 22)
    with pytest.raises(NotImplementedError, match="it takes uint8"):
        fb._C._resize_bytes(image.float(), 2, 2, "box", 22)
    with pytest.raises(RuntimeError, match="bits must be from 1 to 22"):
        fb._C._resize_bytes(image, 2, 2, "box", 23)
    with pytest.raises(ValueError, match="unknown kind"):
        fb._C._resize_bytes(image, 2, 2, "none", 22)
    with pytest.raises(RuntimeError, match="table of shape \\(3, 256\\) or \\(1, 256\\)"):
        fb._C._map_bytes(image, fb.zeros(2, 256))
    with pytest.raises(NotImplementedError, match="it takes uint8"):
        fb._C._map_bytes(image.float(), fb.zeros(1, 256))


# --- PIL images in other sizes

FILTERS = [
    InterpolationMode.BILINEAR,
    InterpolationMode.BICUBIC,
    InterpolationMode.LANCZOS,
    InterpolationMode.BOX,
    InterpolationMode.HAMMING,
    InterpolationMode.NEAREST,
]
SHAPES = [(37, 53), (53, 37), (1, 9), (9, 1), (130, 20), (64, 64)]
SIZES = [(16, 20), (37, 30), (80, 90), (3, 2), (1, 1), (12, 60), (60, 8)]


@pytest.mark.parametrize("mode", FILTERS)
@pytest.mark.parametrize("kind", ["RGB", "L", "RGBA", "LA", "CMYK", "P", "1", "F", "I;16"])
def test_pil_images_are_resized_as_pillow_does(mode, kind):
    for shape in SHAPES:
        image = Image.fromarray(pixels(*shape, 3)).convert("L" if kind == "I;16" else kind)
        if kind == "I;16":
            image = image.convert("I;16")
            if not hasattr(image, "__arrow_c_array__"):
                mode = InterpolationMode.NEAREST  # all that versions before that have for it
        image.info["note"] = "kept"
        for size in SIZES:
            result = T.functional.resize(image, list(size), mode)
            expected = image.resize(size[::-1], resample.pil_number(mode))
            assert (result.mode, result.size) == (expected.mode, expected.size)
            assert result.tobytes() == expected.tobytes()
            assert result.info == expected.info


def test_a_pillow_that_sums_in_an_unknown_order_does_it_itself(monkeypatch):
    image = Image.fromarray(pixels(30, 40, 3))
    expected = image.resize((20, 10), Image.Resampling.BILINEAR).tobytes()
    monkeypatch.setattr(resample, "_order_of_pillow", lambda: None)
    assert T.functional.resize(image, [10, 20]).tobytes() == expected


def test_orders_are_told_apart():
    known = resample._order_of_pillow.__wrapped__()
    assert known in (resample._never, resample._of_tall)


def test_pillow_without_arrow(monkeypatch):
    image = Image.fromarray(pixels(30, 40, 3))
    expected = [T.functional.resize(image, [10, 20]).tobytes(), T.functional.to_tensor(image)]
    for module in (memory, convert, resample):
        monkeypatch.setattr(module, "shown_pixels", lambda img: None)
    assert T.functional.resize(image, [10, 20]).tobytes() == expected[0]
    assert fb.equal(T.functional.to_tensor(image), expected[1])


def test_images_in_several_places_in_memory():
    image = Image.fromarray(pixels(20, 26, 3)).resize((2600, 2000))
    assert memory.shown_pixels(image) is None
    planes = np.asarray(image).transpose(2, 0, 1)
    assert np.array_equal(T.functional.to_tensor(image).numpy(), planes / np.float32(255))
    expected = image.resize((31, 17), Image.Resampling.BILINEAR)
    assert T.functional.resize(image, [17, 31]).tobytes() == expected.tobytes()


@pytest.mark.parametrize("size", [(0, 4), (4, 0)])
def test_images_without_pixels_are_left_to_pillow(size):
    image = Image.new("RGB", size)
    try:
        expected = image.resize((2, 2), Image.Resampling.BILINEAR).tobytes()
    except ValueError:  # in some versions
        with pytest.raises(ValueError, match=r"."):
            T.functional.resize(image, [2, 2])
        return
    assert T.functional.resize(image, [2, 2]).tobytes() == expected


def test_memory_outlives_the_image():
    image = Image.fromarray(pixels(30, 40, 3))
    expected = np.asarray(image).copy()
    shown = memory.shown_pixels(image)
    del image
    is_shown = tuple(map(int, PIL.__version__.split(".")[:2])) >= (11, 2)
    assert (shown is not None) == is_shown
    if is_shown:
        assert np.array_equal(shown[..., :3].numpy(), expected)


def test_memory_of_arrays_and_files(tmp_path):
    """Images on memory that is not Pillow's."""
    grey = pixels(30, 40)
    images = [Image.fromarray(grey), Image.frombuffer("L", (40, 30), grey, "raw", "L", 0, 1)]
    images[0].save(tmp_path / "grey.bmp")
    for image in (*images, Image.open(tmp_path / "grey.bmp")):
        assert np.array_equal(T.functional.pil_to_tensor(image)[0].numpy(), grey)
        assert np.array_equal(T.functional.to_tensor(image)[0].numpy(), grey / np.float32(255))
        expected = image.resize((20, 10), Image.Resampling.BICUBIC)
        result = T.functional.resize(image, [10, 20], InterpolationMode.BICUBIC)
        assert result.tobytes() == expected.tobytes()


def test_a_mutated_image_is_read_again():
    image = Image.new("L", (4, 4))
    assert T.functional.to_tensor(image).sum() == 0
    image.putpixel((1, 2), 255)
    assert T.functional.to_tensor(image)[0, 2, 1] == 1


# --- tables of values


def test_tables():
    image = fb.from_numpy(pixels(2, 3, 5, 7))
    for table in (fb.rand(3, 256), fb.rand(1, 256).double(), fb.rand(3, 256).half()):
        result = fb._C._map_bytes(image, table)
        assert result.is_contiguous()
        for channel in range(3):
            row = table[channel if len(table) > 1 else 0]
            assert fb.equal(result[:, channel], row[image[:, channel].long()])


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "LA", "P", "CMYK", "YCbCr", "HSV"])
def test_to_tensor_of_every_mode(mode):
    image = Image.fromarray(pixels(9, 13, 3)).convert(mode)
    planes = np.asarray(image).reshape(9, 13, -1).transpose(2, 0, 1)
    result = T.functional.to_tensor(image)
    assert result.is_contiguous()
    assert np.array_equal(result.numpy(), planes.astype(np.float32) / np.float32(255))
    assert np.array_equal(T.functional.pil_to_tensor(image).numpy(), planes)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "CMYK", "I", "F"])
@pytest.mark.parametrize("size", [(0, 0), (0, 4), (4, 0)])
def test_images_without_pixels(mode, size):
    image = Image.new(mode, size)
    expected = (len(image.getbands()), size[1], size[0])
    assert T.PILToTensor()(image).shape == T.ToTensor()(image).shape == expected
    steps = [T.ToTensor(), T.ConvertImageDtype(fb.float32), T.Normalize([0.5], [0.5])]
    assert T.Compose(steps)(image).shape == expected


def test_wide_numbers_in_either_order():
    numbers = RANDOM.integers(0, 65536, (3, 5))
    for mode, order in (("I;16", "<u2"), ("I;16B", ">u2")):
        image = Image.frombytes(mode, (5, 3), numbers.astype(order).tobytes())
        assert np.array_equal(T.PILToTensor()(image)[0].numpy(), numbers)


def test_to_tensor_in_the_default_type():
    image = Image.fromarray(pixels(3, 4))
    fb.set_default_dtype(fb.float64)
    try:
        result = T.functional.to_tensor(image)
    finally:
        fb.set_default_dtype(fb.float32)
    assert result.dtype == fb.float64
    assert np.array_equal(result[0].numpy(), np.asarray(image) / 255)


def test_look_up_refuses_other_channels():
    with pytest.raises(ValueError, match="3 channels of 1"):
        look_up(
            fb.zeros(1, 2, 2, dtype=fb.uint8),
            (T.functional.convert_image_dtype, fb.float32),
            (T.functional.normalize, (0.1, 0.2, 0.3), (1.0, 1.0, 1.0)),
        )


# --- the lock of the interpreter


def test_other_threads_run_while_a_large_image_is_resized():
    """With no forced switches, this thread runs during the call only if it gives the lock away."""
    image = fb.zeros(1, 3, 4000, 4000, dtype=fb.uint8)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        seen = False
        for _ in range(5):
            state = {"started": False, "finished": False}

            def work(state=state):
                state["started"] = True
                interpolate(image, size=(2500, 2500), mode="bicubic", antialias=True)
                state["finished"] = True

            thread = threading.Thread(target=work)
            thread.start()
            while not state["started"]:
                time.sleep(0)
            seen = seen or not state["finished"]
            thread.join()
            if seen:
                break
    finally:
        sys.setswitchinterval(interval)
    assert seen


def test_no_warning_for_bytes_that_must_not_be_written():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T.functional.to_tensor(Image.fromarray(pixels(3, 4, 3)))
        T.functional.pil_to_tensor(Image.fromarray(pixels(3, 4, 3)))
