"""Random numbers by the number of a sample, whichever samples are computed together, and in whatever order.

Source: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (Philox, a generator whose words are
a function of a key and a counter).
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["generator", "uniform"]

Array = NDArray[np.float64]
_WORDS = 4
"""64-bit words that the generator makes of one value of its counter."""


def uniform(seed: int, name: str, begin: int, end: int, width: int) -> Array:
    """Numbers strictly between 0 and 1, (end - begin, width): those of the samples from `begin` to `end`.

    >>> bool((uniform(0, "mass", 0, 5, 3)[2:] == uniform(0, "mass", 2, 5, 3)).all())
    True
    """
    first, count = begin * width, (end - begin) * width
    counter, skipped = divmod(first, _WORDS)
    words = np.random.Philox(key=_key(seed, name), counter=counter).random_raw(count + skipped)[skipped:]
    numbers: Array = ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return numbers.reshape(end - begin, width)


def generator(seed: int, name: str, sample: int) -> np.random.Generator:
    """A generator of one sample's own, whose number is in the upper half of the counter."""
    return np.random.Generator(np.random.Philox(key=_key(seed, name), counter=[0, 0, sample, 1]))


def _key(seed: int, name: str) -> NDArray[np.uint64]:
    """128 bits, different for each seed and each varied quantity."""
    return np.frombuffer(hashlib.sha256(f"{seed} {name}".encode()).digest()[:16], dtype="<u8").astype(np.uint64)
