"""Labelled arrays (xarray) in calls of kinetree's functions and of programs: leading axes go together by their names.

The last axes of each argument are those of one sample. If the result has axes as one of the arguments has, it has
their names and labels, too; other axes, and all of a derivative, are called by the function's name and a number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import DTypeError, ShapeError
from kinetree.inputs import framework_of
from kinetree.interop import dask
from kinetree.interop.subject import Subject

if TYPE_CHECKING:
    import xarray

__all__ = ["adapted"]


def adapted(subject: Subject) -> Callable[..., Any]:
    """A function of labelled arrays, which may hold arrays of Dask; it takes all arguments in order."""
    ports, core = subject.ports, subject.source.output.shape
    compiled, lazily = subject.compiled(subject.dtype or "float64"), dask.adapted(subject)

    def function(*arrays: Any) -> Any:
        if any(framework_of(x) for x in arrays):
            return lazily(*arrays)
        return compiled(*dask.as_numbers(compiled, arrays))

    def call(*given: Any) -> xarray.DataArray:
        import xarray

        arguments, dims = subject.bound(given, {}), []
        for x, port in zip(arguments, ports, strict=True):
            if framework_of(x) is not None and not hasattr(x, "shape"):
                raise DTypeError(
                    f"{subject.name}: {port.name} must be an xarray.DataArray, not a {type(x).__name__}; of a Dataset "
                    "give one variable, as in dataset['q']"
                )
            rank, shape = len(port.shape), np.shape(x) if framework_of(x) is None else x.shape
            leading = subject.leading_axes(port, shape)
            if not isinstance(x, xarray.DataArray) and leading:
                raise ShapeError(
                    f"{subject.name}: {port.name} has shape {shape}, and its leading axes have no names to go with "
                    "those of the labelled arrays; make it an xarray.DataArray, too"
                )
            dims.append([*map(str, x.dims[len(shape) - rank :])] if isinstance(x, xarray.DataArray) else [""] * rank)
        names = [f"{subject.name}_{axis}" for axis in range(len(core))]
        for port, own in zip(ports, dims, strict=True):
            if core and port.shape == core and all(own) and not subject.is_derivative:
                names = own
        placed = [
            x if isinstance(x, xarray.DataArray) else xarray.DataArray(x, dims=_unnamed(port.name, len(own)))
            for x, port, own in zip(arguments, ports, dims, strict=True)
        ]
        made: xarray.DataArray = xarray.apply_ufunc(
            function,
            *placed,
            input_core_dims=[x.dims[x.ndim - len(own) :] for x, own in zip(placed, dims, strict=True)],
            output_core_dims=[names],
            dask="allowed",
            join="exact",
        )
        return made.rename(subject.name)

    return call


def _unnamed(argument: str, rank: int) -> list[str]:
    """Names for the axes of an array that has none."""
    return [f"{argument}_{axis}" for axis in range(rank)]
