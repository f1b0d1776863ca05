"""Random numbers from keys, for programs and outside of them: the same key always gives the same numbers.

A *key* is 2 to 5 whole numbers (…, 2) to (…, 5), in floats or integers: the two words of the key of Philox4x64-10, then
the words 1, 2 and 3 of its counter, 0 where they are missing, for what numbers are drawn for: an episode, a step, a
purpose. Word 0 counts the blocks of four numbers of one draw. So no draw depends on another one, on the batch, the
threads or the order of calls, and two draws with the same key give the same numbers: each needs a key of its own, such
as `fold(key, 3)`.

Numbers of a key are whole, at least 0 and below 2⁵³, below 2²⁴ in float32; others give NaN in a program, and an error
outside. Plain and symbolic keys give the same bits, `normal` the same numbers to rounding. Keys and distributions
may be arguments of a program, or be computed in it.

>>> import kinetree as kt, numpy as np
>>> key = [2026, 7]  # a seed and the number of a world, for instance
>>> bool((kt.random.uniform(key, 3) == np.random.Generator(np.random.Philox(key=key)).uniform(size=3)).all())
True

Source: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError, ShapeError
from kinetree.expr import Scalar, philox, random_words
from kinetree.inputs import common_axes, holds_symbols, real_array, whole_number
from kinetree.symbolic import by_sample, symbolic

__all__ = ["choice", "fold", "integers", "normal", "uniform"]

Shape = int | tuple[int, ...]


def uniform(key: ArrayLike, shape: Shape = (), low: ArrayLike = 0.0, high: ArrayLike = 1.0) -> NDArray[np.float64]:
    """Numbers from low, included, to high, which are the bits of NumPy's `Generator(Philox(…)).uniform`.

    low + (high - low) u, rounded twice, where u is the first 53 bits of a word of Philox (24 in float32) times 2⁻⁵³.

    Args:
        key: whole numbers (…, 2) to (…, 5).
        shape: of the numbers of each key.
        low: (), or a shape that broadcasts to the result.
        high: the same.

    Returns:
        An array (…, *shape).

    Raises:
        DTypeError: an argument is not an array of real numbers.
        ShapeError: a key has less than 2 or more than 5 numbers, or bounds do not broadcast to the result.
        OptionError: a key is not whole numbers from 0 to 2⁵³, bounds are not finite, or low is above high.

    >>> import numpy as np
    >>> uniform([3, 0], (2,), -1.0, 1.0).tolist()
    [0.868564040801515, -0.8416770397358264]
    >>> uniform([[3, 0], [3, 1]]).shape
    (2,)
    """
    u = _numbers("uniform", key, shape)
    lower, upper = _fitting("uniform", u, low=low, high=high)
    are_known = not holds_symbols(lower) and not holds_symbols(upper)
    if are_known and not ((-math.inf < lower) & (lower <= upper) & (upper < math.inf)).all():
        raise OptionError(f"uniform: low and high must be finite, and low at most high, not {low!r:.60}, {high!r:.60}")
    part: NDArray[np.float64] = (upper - lower) * u
    if not holds_symbols(lower) and not np.any(lower):
        return part
    if holds_symbols(part):
        part = np.maximum(part, part)  # a program would otherwise fuse the product and the sum, which NumPy does not
    moved: NDArray[np.float64] = lower + part
    return moved


def normal(key: ArrayLike, shape: Shape = (), mean: ArrayLike = 0.0, std: ArrayLike = 1.0) -> NDArray[np.float64]:
    """Normally distributed numbers, by Box and Muller's transformation; not those of NumPy, whose ziggurat rejects.

    Of the uniform numbers u and w of two words come r cos(2 π w) and r sin(2 π w) with r² = -2 log(1 - u), so none is
    farther than 8.6 standard deviations from the mean, or 5.8 in float32.

    Args:
        key: whole numbers (…, 2) to (…, 5).
        shape: of the numbers of each key.
        mean: (), or a shape that broadcasts to the result.
        std: the standard deviation, likewise.

    Returns:
        An array (…, *shape).

    Raises:
        DTypeError: an argument is not an array of real numbers.
        ShapeError: as for `uniform`.
        OptionError: a key is not whole numbers from 0 to 2⁵³, or a standard deviation is negative or not finite.

    Source: Box, Muller: A note on the generation of random normal deviates (1958).

    >>> normal([3, 0], 2, mean=10.0).round(6).tolist()
    [12.05067, 11.113336]
    """
    axes = _axes("normal", shape)
    count = math.prod(axes)
    u = _numbers("normal", key, (-(-count // 2), 2))
    radius, angle = np.sqrt(-2.0 * np.log(1.0 - u[..., 0])), 2.0 * np.pi * u[..., 1]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    batch = pairs.shape[:-2]
    z = pairs.reshape((*batch, pairs.shape[-2] * 2))[..., :count].reshape((*batch, *axes))
    center, width = _fitting("normal", z, mean=mean, std=std)
    if not holds_symbols(width) and not (np.isfinite(width).all() and np.greater_equal(width, 0.0).all()):
        raise OptionError(f"normal: std must be finite and not negative, not {std!r:.60}")
    numbers: NDArray[np.float64] = center + width * z
    return numbers


def integers(key: ArrayLike, low: ArrayLike, high: ArrayLike, shape: Shape = ()) -> NDArray[np.int64]:
    """Whole numbers from low, included, to high, not included: low + ⌊(high - low) u⌋ with u of `uniform`.

    How often two numbers are drawn differs by at most (high - low) / 2⁵³ of it, or (high - low) / 2²⁴ in float32.

    Args:
        key: whole numbers (…, 2) to (…, 5).
        low: whole numbers, (), or a shape that broadcasts to the result.
        high: the same; larger than low.
        shape: of the numbers of each key.

    Returns:
        An array (…, *shape) of integers.

    Raises:
        DTypeError: an argument is not an array of real numbers.
        ShapeError: as for `uniform`.
        OptionError: a key or a bound is not of whole numbers below 2⁵³, or high is not larger than low.

    >>> integers([3, 0], 1, 7, 4).tolist()
    [6, 1, 3, 5]
    """
    u = _numbers("integers", key, shape)
    lower, upper = _fitting("integers", u, low=low, high=high)
    if not holds_symbols(lower) and not holds_symbols(upper):
        are_whole = all(
            (np.floor(x) == x).all() and (np.abs(x) < philox.MOST).all() for x in (lower, upper, upper - lower)
        )
        if not are_whole or not np.less(lower, upper).all():
            raise OptionError(
                "integers: low and high must be whole numbers, less than 2**53 apart, and low below high, not "
                f"{low!r:.60}, {high!r:.60}"
            )
    whole = lower + np.floor((upper - lower) * u)
    return symbolic(whole, np.int64) if holds_symbols(whole) else whole.astype(np.int64)  # type: ignore[return-value]


def choice(key: ArrayLike, values: ArrayLike, shape: Shape = ()) -> NDArray[Any]:
    """Entries of a list of values, each as likely as any other: those at `integers(key, 0, len(values), shape)`.

    In a program this takes as many comparisons as there are values, for each number.

    Args:
        key: whole numbers (…, 2) to (…, 5).
        values: (n, …), of which one is chosen by its first axis.
        shape: of the choices of each key.

    Returns:
        An array (…, *shape, …).

    Raises:
        DTypeError: an argument is not an array of real numbers.
        ShapeError: there are no values, or as for `uniform`.
        OptionError: a key is not whole numbers from 0 to 2⁵³.

    >>> choice([3, 0], [0.2, 0.5, 0.9], 4).tolist()
    [0.9, 0.2, 0.5, 0.9]
    """
    among = real_array("values", values, "(n, …)")
    if not among.ndim or not len(among):
        raise ShapeError(f"choice: values have shape {among.shape}, but must be (n, …) with one value or more")
    index = integers(key, 0, len(among), shape)
    if not holds_symbols(index):
        return among[index]
    place = index.reshape((*index.shape, *[1] * (among.ndim - 1)))
    entries = np.where(place < len(among), among[-1], place)  # NaN is the place of a key that is none
    for k in reversed(range(len(among) - 1)):
        entries = np.where(place == k, among[k], entries)
    return symbolic(entries, among.dtype)  # type: ignore[return-value]


def fold(key: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """Another key, whose numbers are independent of those of the key and of its other folds.

    Of the third number, p + 2¹² g with p < 2¹² (zero if it is missing), it makes p + 2¹² (64 g + n + 1). So purposes
    below 2¹² in that place never meet, and neither do folds of folds, if each n is below 63: `fold(fold(key, 1), 2)` is
    no `fold(key, n)`. What counts on and on, such as steps, is better a number of the key by itself: in float32 there
    is room for n below 4095, or for two folds.

    Args:
        key: whole numbers (…, 2) to (…, 5).
        n: whole numbers (…), not negative; leading axes broadcast, so one key and n (100,) give a hundred keys.

    Returns:
        Keys (…, 3) to (…, 5).

    Raises:
        DTypeError: an argument is not an array of real numbers.
        ShapeError: a key has less than 2 or more than 5 numbers, or leading axes do not broadcast.
        OptionError: key or n are not whole numbers, or the new key is not below 2⁵³.

    >>> fold([3, 0], [1, 2]).tolist()
    [[3.0, 0.0, 8192.0], [3.0, 0.0, 12288.0]]
    """
    given, times = _key("fold", key), _checked("fold", "n", real_array("n", n, "(…)"))
    axes = common_axes("fold", {"key": given.shape[:-1], "n": times.shape})
    words = [given[..., k] for k in range(given.shape[-1])] + [np.zeros(())] * (given.shape[-1] < 3)
    folded = np.floor(words[2] * 2.0**-12)
    words[2] = words[2] + 2.0**12 * (63.0 * folded + times + 1.0)
    return _checked("fold", "key", np.stack([np.broadcast_to(word, axes) for word in words], axis=-1))


def _axes(function: str, shape: Any) -> tuple[int, ...]:
    """A shape, given as one length or several."""
    lengths = [whole_number(n) for n in (shape if isinstance(shape, tuple | list) else (shape,))]
    if not all(n is not None and n >= 0 for n in lengths):
        raise OptionError(
            f"{function}: shape must be a whole number or a tuple of them, such as (3, 2), not {shape!r:.60}"
        )
    return tuple([n for n in lengths if n is not None])


def _key(function: str, key: Any) -> NDArray[Any]:
    array = real_array(f"{function}: key", key, "(…, 2) to (…, 5)")
    if not array.ndim or not 2 <= array.shape[-1] <= 5:
        raise ShapeError(f"{function}: key has shape {array.shape}, but must have 2 to 5 numbers: (…, 2) to (…, 5)")
    return _checked(function, "key", array)


def _checked(function: str, name: str, x: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers below 2⁵³ as float64; symbols, whose values are not known, as they are."""
    if holds_symbols(x):
        return x
    wrong = ~((x >= 0) & (x < philox.MOST) & (np.floor(x) == x))
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        where = f"{name}[{', '.join(map(str, place))}]" if place else name
        raise OptionError(f"{function}: {where} must be a whole number from 0 to 2**53 - 1, not {x[place].item()!r}")
    return x.astype(np.float64)


def _numbers(function: str, key: Any, shape: Any) -> NDArray[Any]:
    """Numbers (…, *shape) in [0, 1) of keys, in the order of blocks and of their words."""
    words, axes = _key(function, key), _axes(function, shape)
    count, blocks = math.prod(axes), -(-math.prod(axes) // 4)
    if holds_symbols(words):

        def drawn(numbers: list[Scalar]) -> list[Scalar]:
            counter = numbers[2:] + [0.0] * (5 - len(numbers))
            return [random_words[n % 4](*numbers[:2], 1.0 + n // 4, *counter) for n in range(count)]

        result: NDArray[Any] = by_sample(drawn, [words], [words.shape[-1:]], axes)
        return result
    whole = np.zeros((*words.shape[:-1], 1, 5), np.uint64)
    whole[..., 0, : words.shape[-1]] = words
    k0, k1, *counter = [whole[..., k] for k in range(5)]
    made = philox.block(k0, k1, np.arange(1, blocks + 1, dtype=np.uint64), *counter)
    raw = np.stack(made, axis=-1).reshape((*words.shape[:-1], 4 * blocks))[..., :count] >> 11
    return (raw * 2.0**-53).reshape((*words.shape[:-1], *axes))


def _fitting(function: str, numbers: NDArray[Any], **given: ArrayLike) -> list[NDArray[Any]]:
    """Arguments as arrays that broadcast to the numbers."""
    arrays = [real_array(f"{function}: {name}", x, "()") for name, x in given.items()]
    shapes = {"the numbers": numbers.shape, **{name: x.shape for name, x in zip(given, arrays, strict=True)}}
    if common_axes(function, shapes) != numbers.shape:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(f"{function}: more is given than is drawn: {listed}; shape= must be at least as large")
    return arrays
