"""The dtype of a call with JAX's arrays, as `kt.interop.to_jax` and kinetree's own functions decide it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kinetree.errors import DTypeError

__all__ = ["common_dtype"]


def common_dtype(function: str, arrays: Iterable[Any]) -> np.dtype[Any]:
    """The dtype that a call computes in: float32 if JAX promotes its arrays of real numbers to that, and otherwise
    float64; JAX's own default for real numbers without any.

    Numbers, lists of numbers and arrays of whole numbers do not count. Inside `jax.jit` numbers are weakly typed.
    """
    leaves = [x for x in jax.tree.leaves([*arrays]) if hasattr(x, "dtype") and not getattr(x, "weak_type", False)]
    counted = [jax.dtypes.canonicalize_dtype(x.dtype) for x in leaves if jnp.issubdtype(x.dtype, jnp.floating)]
    found = jnp.result_type(*counted or [float])
    if found not in (jnp.float32, jnp.float64):
        raise DTypeError(
            f"{function} computes in float32 or float64, not in {found}; convert its arrays, as in "
            "q.astype(jax.numpy.float32)"
        )
    dtype: np.dtype[Any] = np.dtype(found.name)
    return dtype
