"""Derivatives of programs, as programs: along a direction (forward) and of a weighted sum of outputs (reverse).

`rules` has the derivative of each operation, and its values at corners and poles; `forward` and `reverse` have a rule
for each kind of statement.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr.dead_code import without_dead_code
from kinetree.expr.derivatives.activity import operations_along
from kinetree.expr.derivatives.forward import Forward
from kinetree.expr.derivatives.reverse import Reverse
from kinetree.expr.program import Program

__all__ = ["forward_derivative", "operations_along", "reverse_derivative"]


def forward_derivative(program: Program, wrt: Sequence[int] | None = None) -> Program:
    """The program and its derivative along a direction: y = f(x), d_y = f'(x) d_x.

    Its inputs are the program's, then a port `d_x` for each input x of `wrt`, in that order and of the same shape; its
    outputs are the program's, then a port `d_y` for each. `wrt` lists the numbers of input ports; None means all.

    Raises ValueError if `wrt` names a port that does not exist or one twice, or if the program changes its inputs.

    >>> from kinetree.expr import Port, interpret, trace
    >>> program = trace(lambda x: [[x[0] * x[1]]], [Port("x", (2,))], [Port("y", ())], "product")
    >>> derivative = forward_derivative(program)
    >>> derivative
    d_product(x[2], d_x[2]) -> y[], d_y[]
      %4 = mul(%0, %1)
      %5 = mul(%1, %2)
      %6 = fma(%0, %3, %5)
    >>> interpret(derivative, [3.0, 5.0], [1.0, 0.0])
    ([15.0], [5.0])
    """
    made: dict[tuple[int, tuple[int, ...]], Program] = {}

    def derivative(program: Program, wrt: tuple[int, ...]) -> Program:
        key = (id(program), wrt)
        if key not in made:
            made[key] = without_dead_code(Forward(program, wrt, derivative).derivative())
        return made[key]

    return derivative(program, _ports(program, wrt))


def reverse_derivative(program: Program, wrt: Sequence[int] | None = None) -> Program:
    """The program and the derivative of a weighted sum of its outputs: y = f(x), bar_x = f'(x)ᵀ bar_y.

    Its inputs are the program's, then a port `bar_y` for each output y, of the same shape; its outputs are the
    program's (they cost next to nothing here), then a port `bar_x` for each input x of `wrt`, in that order. `wrt`
    lists the numbers of input ports; None means all.

    Values of a loop's iterations that the backward sweep needs are stored in memory: one number per value and
    iteration.

    Raises ValueError if `wrt` names a port that does not exist or one twice, or if the program changes its inputs;
    NotImplementedError for a walk, or a range in larger steps, whose start depends on several counters.

    >>> from kinetree.expr import Port, interpret, trace
    >>> program = trace(lambda x: [[x[0] * x[1]]], [Port("x", (2,))], [Port("y", ())], "product")
    >>> derivative = reverse_derivative(program)
    >>> derivative
    bar_product(x[2], bar_y[]) -> y[], bar_x[2]
      %3 = mul(%0, %1)
      %4 = mul(%1, %2)
      %5 = mul(%0, %2)
    >>> interpret(derivative, [3.0, 5.0], [1.0])
    ([15.0], [5.0, 3.0])
    """
    made: dict[tuple[int, tuple[int, ...]], Program] = {}

    def derivative(program: Program, wrt: tuple[int, ...], *, outputs: bool = False) -> Program:
        key = (id(program), wrt)
        if outputs or key not in made:
            backward = without_dead_code(Reverse(program, wrt, derivative, outputs=outputs).derivative())
            if outputs:
                return backward
            made[key] = backward
        return made[key]

    return derivative(program, _ports(program, wrt), outputs=True)


def _ports(program: Program, wrt: Sequence[int] | None) -> tuple[int, ...]:
    n = len(program.inputs)
    ports = tuple(range(n)) if wrt is None else tuple(wrt)
    names = ", ".join(f"{k} ({port.name})" for k, port in enumerate(program.inputs))
    for k in ports:
        if not 0 <= k < n:
            raise ValueError(f"{program.name} has no input {k} to differentiate by; its inputs are {names}")
    if len(set(ports)) != len(ports):
        raise ValueError(
            f"{program.name} is to be differentiated by one input twice: {list(ports)}; its inputs are {names}"
        )
    return ports
