"""Random numbers by the number of a sample, whichever samples are computed together, in any order.

Sources: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (Philox, a generator whose words
are a function of a key and a counter); M. J. Wichura, "Algorithm AS 241: The percentage points of the normal
distribution", Applied Statistics 37 (1988), pp. 477-484, routine PPND16. NumPy's own logarithm may round differently at
the ends of arrays, so the logarithms in the tails are those of `math`.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["generator", "normal_quantile", "uniform"]

Array = NDArray[np.float64]
_WORDS = 4
"""64-bit words that the generator makes of one value of its counter."""

_CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
)  # fmt: skip
_TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_FAR_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip
_HALF_CENTRE = 0.425


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


def normal_quantile(p: Array) -> Array:
    """The numbers that a standard normal variable is below with probabilities p, 0 < p < 1.

    >>> normal_quantile(np.array([0.5, 0.975])).round(6).tolist()
    [0.0, 1.959964]
    """
    from_middle = p - 0.5
    is_central = np.abs(from_middle) <= _HALF_CENTRE
    quantile = from_middle * _ratio(_CENTRE, _HALF_CENTRE**2 - from_middle * from_middle)
    outside = np.minimum(p, 1.0 - p)[~is_central]
    r = np.sqrt(np.array([-math.log(x) for x in outside]))
    size = np.where(r <= 5.0, _ratio(_TAIL, r - 1.6), _ratio(_FAR_TAIL, r - 5.0))
    quantile[~is_central] = np.copysign(size, from_middle[~is_central])
    return quantile


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    """A ratio of two polynomials, whose coefficients begin with the constants."""
    above, below = (np.full_like(x, some[-1]) for some in coefficients)
    for a, b in zip(coefficients[0][-2::-1], coefficients[1][-2::-1], strict=True):
        above, below = above * x + a, below * x + b
    return above / below
