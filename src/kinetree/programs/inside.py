"""A program called in another one: its function runs in that one's trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.compiler.arguments import Arguments
from kinetree.compiler.tracing import as_symbolic, current_trace
from kinetree.programs.argument import Argument
from kinetree.programs.results import Results
from kinetree.programs.trace import called
from kinetree.symbolic import SymbolicArray
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
    arrays = [as_symbolic(x, trace.dtype) for x in expected.checked(given)]
    shape = expected.batch_shape([x.elements for x in arrays])
    if not shape:
        return called(function, name, dict(zip(arguments, arrays, strict=True)))
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
