"""A program called in another one: its function runs in that one's trace."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.compiler.arguments import Arguments
from kinetree.compiler.tracing import checked_inside, current_trace, is_symbolic
from kinetree.programs.argument import Argument
from kinetree.programs.results import Results
from kinetree.programs.trace import called
from kinetree.symbolic import SymbolicArray, symbolic
from kinetree.symbolic.refusals import refuse

__all__ = ["inside"]


def inside(
    function: Callable[..., Any], name: str, arguments: Mapping[str, Argument], given: Sequence[Any], out: Any
) -> Any:
    """A program's results in the trace in progress; leading axes of its arguments broadcast, sample by sample."""
    trace = current_trace()
    if out is not None:
        refuse(f"{name}: out= is not possible inside a program; leave it out")
    ports = [argument.port(x) for x, argument in arguments.items()]
    expected = Arguments(name, "the program", ports, (), trace.dtype, ())
    numbers = [
        x if is_symbolic([x]) else argument.numbers(name, port.name, x)
        for (argument, port), x in zip(zip(arguments.values(), ports, strict=True), given, strict=True)
    ]
    arrays, shape = checked_inside(expected, numbers, trace.dtype)
    arrays = [x.astype(a.symbolic_dtype(trace.dtype)) for x, a in zip(arrays, arguments.values(), strict=True)]
    if not shape:
        return called(function, name, dict(zip(arguments, arrays, strict=True)))
    if not math.prod(shape):  # no sample: one of ones gives the form of the results
        ones = [symbolic(np.ones(p.shape), x.dtype) for p, x in zip(ports, arrays, strict=True)]
        with np.errstate(all="ignore"):
            results = Results(called(function, name, dict(zip(arguments, ones, strict=True))), name, trace.dtype)
        return results.apart(symbolic(np.zeros((*shape, *results.shape)), trace.dtype))
    spread = [np.broadcast_to(x.elements, (*shape, *p.shape)) for x, p in zip(arrays, ports, strict=True)]
    samples = []
    for sample in np.ndindex(shape):
        taken = [SymbolicArray(np.array(x[sample], object), y.dtype) for x, y in zip(spread, arrays, strict=True)]
        results = Results(called(function, name, dict(zip(arguments, taken, strict=True))), name, trace.dtype)
        samples.append((results, results.taken_numbers()))
    first, numbers = samples[0]
    whole = np.empty((len(samples), len(numbers)), object)
    for k, (_, numbers) in enumerate(samples):
        whole[k] = numbers
    return first.apart(SymbolicArray(whole.reshape((*shape, *first.shape)), trace.dtype))
