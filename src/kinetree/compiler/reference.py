"""A definition's algorithm on plain numbers, with no compiler in between: the result that kernels must agree with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.compiler.definition import Array, Definition
from kinetree.compiler.requests import resolved_options
from kinetree.compiler.specialization import Specialization
from kinetree.errors import OptionError, ShapeError
from kinetree.expr import Port
from kinetree.model import Model
from kinetree.model.external_forces import ForceKey, acting

__all__ = ["on_numbers"]

Numbers = Sequence[Any]


def on_numbers(
    definition: Definition,
    model: Model,
    arguments: Sequence[Numbers],
    *,
    f_ext: Mapping[ForceKey, Numbers] | None = None,
    parameters: Mapping[str, Numbers] | None = None,
    **options: Any,
) -> list[Any]:
    """The numbers of one sample's result, one after another.

    A number is a float, or an array with one entry per sample: algorithms work on both alike. Everything is flat: each
    argument, each wrench [f; n] of `f_ext` by its frame, each parameter's value. Last arguments that are optional may
    be left out; the numbers of options are in their values. Rollouts, which repeat their algorithm in time, are not for
    this function.

    Raises:
        OptionError, NameNotFoundError: as for `kinetree.compile`.
        ShapeError: an argument is missing.

    >>> import kinetree as kt
    >>> arm = kt.zoo.load("double_pendulum")
    >>> on_numbers(kt.aba.definition, arm, ([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]))
    [0.0, 0.0]
    """
    resolved = resolved_options(definition, model, options)
    forces, given = f_ext or {}, parameters or {}
    acts = tuple(acting(model.frames, key) for key in forces)
    sample = [*arguments]
    for name, size in definition.inputs[len(arguments) :]:
        if name not in definition.optional:
            raise ShapeError(f"{definition.name}: {name} is missing")
        sample.append([0.0] * definition.width(size, model, resolved))
    if definition.strategy.when_forces_turn is not None and any(force.turns for force in acts):
        raise OptionError(
            f"{definition.name} runs on plain numbers only with forces in their frames' own axes: its recursion does "
            "not differentiate others, for which the compiled function is another one"
        )
    specialization = Specialization(definition, model, resolved, acts, tuple(given))
    pairs = zip(definition.arrays_of_numbers(options), specialization.numbers, strict=True)
    numbers = [_by_entry(array, port) for array, port in pairs]
    return list(specialization.one_sample(*sample, *numbers, *forces.values(), *given.values()))


def _by_entry(array: Array, port: Port) -> list[Any]:
    """The numbers of a port, each a float, or an array with one entry per sample."""
    leading = array.ndim - len(port.shape)
    entries = array.reshape((*array.shape[:leading], port.size))
    return list(np.moveaxis(entries, -1, 0)) if leading else entries.tolist()
