"""Functions of numbers on symbolic arrays: each sample's numbers go in as a list, and come out as one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.expr import Scalar
from kinetree.inputs import refuses_symbols
from kinetree.symbolic.array import FLOAT64, SymbolicArray
from kinetree.symbolic.operands import as_symbolic, common_dtype
from kinetree.symbolic.refusals import refuse

__all__ = ["by_sample"]


def by_sample(
    function: Callable[..., Sequence[Scalar]],
    arrays: Sequence[SymbolicArray | ArrayLike],
    cores: Sequence[tuple[int, ...]],
    core: tuple[int, ...],
    dtype: np.dtype[Any] | None = None,
) -> Any:
    """function(numbers of an array, …), which gives the numbers of one sample's result, for every sample.

    A symbolic array (…, *core); the leading axes of the arrays broadcast. `cores`: the shapes of one sample of each;
    `core`: that of the result.

    >>> by_sample(lambda x, y: [x[0] * y[0]], [[[1.0], [2.0]], [3.0]], [(1,), (1,)], ()).elements.tolist()
    [3.0, 6.0]
    """
    given = [as_symbolic(x) for x in arrays]
    shape = np.broadcast_shapes(*(x.shape[: x.ndim - len(c)] for x, c in zip(given, cores, strict=True)))
    rows = [
        np.broadcast_to(x.elements, (*shape, *c)).reshape(math.prod(shape), math.prod(c))
        for x, c in zip(given, cores, strict=True)
    ]
    whole = np.empty((math.prod(shape), math.prod(core)), dtype=object)
    for k in range(len(whole)):
        whole[k] = list(function(*(row[k].tolist() for row in rows)))
    common = common_dtype(x.dtype for x in given) if dtype is None else dtype
    return SymbolicArray(whole.reshape((*shape, *core)), common if common.kind == "f" else FLOAT64)


@refuses_symbols
def _refuse(what: str, instead: str, x: Any) -> None:
    if not all(isinstance(y, float) for y in as_symbolic(x).flat_elements()):
        refuse(f"{what} is not known while a program is traced: {instead}")
