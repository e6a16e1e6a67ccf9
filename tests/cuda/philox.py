"""Philox 4x32-10 in NumPy, and the order in which PyTorch's CUDA kernels draw from it."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]  # of 32 bits each, four in the last dimension
THREADS = 256


def philox(counter: Words, key: tuple[int, int]) -> Words:
    low = np.uint64(0xFFFFFFFF)
    a, b, c, d = (counter[..., i].copy() for i in range(4))
    k0, k1 = np.uint64(key[0]), np.uint64(key[1])
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * a, np.uint64(0xCD9E8D57) * c
        a, b, c, d = (p1 >> 32) ^ b ^ k0, p1 & low, (p0 >> 32) ^ d ^ k1, p0 & low
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low
    return np.stack([a, b, c, d], -1)


def words(seed: int, offset: int, threads: int, blocks: int) -> Words:
    """The first blocks of each thread: blocks x threads x 4."""
    counter = np.zeros((blocks, threads, 4), np.uint64)
    position = offset // 4 + np.arange(blocks, dtype=np.uint64)
    counter[..., 0] = (position & np.uint64(0xFFFFFFFF))[:, None]
    counter[..., 1] = (position >> np.uint64(32))[:, None]
    counter[..., 2] = np.arange(threads, dtype=np.uint64)
    return philox(counter, (seed & 0xFFFFFFFF, seed >> 32))


def threads_for(n: int, most_blocks: int) -> int:
    return min(most_blocks, (n + THREADS - 1) // THREADS) * THREADS


def stream(seed: int, offset: int, n: int, each: int, most_blocks: int) -> tuple[Words, int]:
    """The words that n elements get, 4 / each for every one, and where the stream is afterwards."""
    threads = threads_for(n, most_blocks)
    blocks = (n - 1) // (threads * each) + 1
    drawn = words(seed, offset, threads, blocks).reshape(blocks, threads, each, 4 // each)
    return drawn.swapaxes(1, 2).reshape(-1, 4 // each)[:n], offset + 4 * blocks


def uniform(drawn: Words) -> NDArray[np.float32] | NDArray[np.float64]:
    """On (0, 1], as cuRAND: float32 from one word, float64 from two."""
    if drawn.shape[-1] == 1:
        return drawn[:, 0].astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)
    bits = drawn[:, 0] ^ (drawn[:, 1] << np.uint64(21))
    return bits.astype(np.float64) * 2.0**-53 + 2.0**-54
