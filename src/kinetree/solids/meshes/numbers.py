"""The numbers in texts of mesh files."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError

__all__ = ["numbers_in"]


def numbers_in(where: object, text: str | bytes, dtype: type = float) -> NDArray[Any]:
    """The numbers in a text, with blanks between them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # for text that is not a number
            numbers = np.fromstring(text, dtype=np.float64, sep=" ")
    except (ValueError, DeprecationWarning):
        try:
            numbers = np.array(text.split(), dtype=np.float64)  # NaN, hexadecimal and other spellings
        except ValueError:
            raise ModelError(
                f"{where}: there is something else between the numbers of the mesh; export it again"
            ) from None
    return numbers.astype(dtype, copy=False)
