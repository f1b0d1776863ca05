"""A motion as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import MissingPackageError

if TYPE_CHECKING:
    import pandas

__all__ = ["table"]

Array = NDArray[np.float64]


def table(time: Array, shape: tuple[int, ...], columns: Mapping[str, NDArray[Any]]) -> pandas.DataFrame:
    """A row per moment and a column per number; `columns` are (…, T), `shape` the axes before T.

    The index is the time; in a batch it begins with a level for each of its axes.
    """
    try:
        import pandas
    except ImportError:
        raise MissingPackageError("to_dataframe needs pandas: pip install kinetree[pandas]") from None
    index: pandas.Index[float] | pandas.MultiIndex = pandas.Index(time, name="time")
    if shape:
        levels = [range(n) for n in shape]
        axes = ["motion"] if len(shape) == 1 else [f"motion_{k}" for k in range(len(shape))]
        index = pandas.MultiIndex.from_product([*levels, time], names=[*axes, "time"])
    return pandas.DataFrame({name: x.ravel() for name, x in columns.items()}, index=index)
