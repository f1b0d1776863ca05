"""The usual call of a public function, with its arrays and nothing else, straight to the machine code.

A call of a Python function, and of another that sorts options out, takes longer than the arithmetic of a small robot.
So the public function is wrapped in one that looks up the robot's compiled function, if the call has no options and
the first array is of double precision, and that leaves every other call to the function itself. Its text is made for
the function's own parameters, because Python is slower with parameters that it must collect.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from kinetree.compiler.compiled import CompiledFunction
from kinetree.compiler.definition import Definition, defined_by

__all__ = ["defined_plainly_by", "usual"]

F = TypeVar("F", bound=Callable[..., Any])

usual: defaultdict[Definition, dict[int, CompiledFunction]] = defaultdict(dict)
"""Functions compiled without options, in double precision, by the model's id, as long as it lives."""

_TEXT = """
def make(function, kernels, array, double):
    def {name}(robot, {inputs}, *more, out=None, **named):
        if not more and not named and type({first}) is array and {first}.dtype is double:
            kernel = kernels.get(id(robot))
            if kernel is not None:
                return kernel.call({inputs}) if out is None else kernel.call({inputs}, out=out)
        return function(robot, {inputs}, *more, out=out, **named)
    return {name}
"""


def defined_plainly_by(definition: Definition, *, in_units: bool = False) -> Callable[[F], F]:
    """Mark a public function as `defined_by` does, and make its usual call quick.

    The function must take the robot and the definition's inputs, by these names, then options that may be left out;
    and return the result of `run`.
    """

    def mark(function: F) -> F:
        inputs = [name for name, _ in definition.inputs]
        text = _TEXT.format(name=function.__name__, inputs=", ".join(inputs), first=inputs[0])
        made: dict[str, Any] = {}
        exec(compile(text, f"{__file__}: {function.__name__}", "exec"), function.__globals__, made)
        kernels = usual[definition]
        quick: Any = functools.wraps(function)(made["make"](function, kernels, np.ndarray, np.dtype(np.float64)))
        marked: F = defined_by(definition, in_units=in_units)(quick)
        return marked

    return mark
