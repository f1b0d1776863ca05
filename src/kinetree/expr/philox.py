"""Philox4x64-10, random numbers from a key and a counter, on whole numbers and on arrays of them.

Each counter gives a block of four words of 64 bits, which depend on nothing else: ten rounds of two products of 128
bits, whose halves are mixed with each other and with the key. Uniform numbers are the first 53 bits of the words.

Source: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011); `numpy.random.Philox`.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["FACTORS", "INCREMENTS", "MOST", "ROUNDS", "block", "uniform"]

ROUNDS = 10
FACTORS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
"""The factors of the counter's first and third word."""
INCREMENTS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
"""Added to the words of the key in each round."""
MOST = 2.0**53
"""Words of keys and counters are below it, so that a float holds them."""
_LOW, _ALL = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def _product(a: Any, b: int) -> tuple[Any, Any]:
    """The high and the low word of a b, without numbers above 64 bits, which arrays do not have."""
    a_high, a_low, b_high, b_low = a >> 32, a & _LOW, b >> 32, b & _LOW
    low = a_low * b_low
    middle = a_high * b_low + (low >> 32)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> 32) + (other >> 32), (other & _LOW) << 32 | low & _LOW


def block(k0: Any, k1: Any, c0: Any, c1: Any, c2: Any, c3: Any) -> tuple[Any, Any, Any, Any]:
    """The four words of a key and a counter: whole numbers, or arrays of dtype uint64 that broadcast.

    >>> import numpy as np
    >>> block(7, 5, 1, 0, 0, 0) == (*np.random.Philox(key=[7, 5]).random_raw(4).tolist(),)
    True
    """
    for _ in range(ROUNDS):
        high, low = _product(c0, FACTORS[0])
        high_2, low_2 = _product(c2, FACTORS[1])
        c0, c1, c2, c3 = high_2 ^ c1 ^ k0, low_2, high ^ c3 ^ k1, low
        k0, k1 = (k0 + INCREMENTS[0]) & _ALL, (k1 + INCREMENTS[1]) & _ALL
    return c0, c1, c2, c3


def uniform(word: int, *given: float) -> float:
    """A word of the block of a key and a counter as a number in [0, 1); NaN unless all six are whole and below 2⁵³.

    >>> import numpy as np
    >>> drawn = np.random.Generator(np.random.Philox(key=[7, 5])).random(3).tolist()
    >>> uniform(2, 7.0, 5.0, 1.0, 0.0, 0.0, 0.0) == drawn[2]
    True
    """
    if not all(0.0 <= x < MOST and x.is_integer() for x in given):
        return math.nan
    return float(block(*map(int, given))[word] >> 11) * 2.0**-53
