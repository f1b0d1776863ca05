"""`kinetree.interop.to_casadi`: a function of kinetree, or a program, as a function of CasADi."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kinetree.codegen.c.names import identifier
from kinetree.errors import DTypeError, OptionError, ShapeError
from kinetree.expr import without_slopes
from kinetree.inputs import framework_of, real_array, sample_shape
from kinetree.interop.casadi.symbols import flat, matrix, matrix_shape, on_symbols
from kinetree.interop.installed import check_installed
from kinetree.interop.subject import Subject
from kinetree.model import Model
from kinetree.model.external_forces import ForceKey
from kinetree.programs import Program

if TYPE_CHECKING:
    import casadi

__all__ = ["adapted", "to_casadi"]


def to_casadi(
    robot: Model | Program,
    function: Callable[..., Any] | None = None,
    *,
    f_ext: Sequence[ForceKey] = (),
    parameters: Sequence[str] = (),
    unroll: bool | None = None,
    form: Literal["SX", "external"] = "SX",
    derivatives: Literal[0, 1, 2] | None = None,
    name: str | None = None,
    **options: Any,
) -> casadi.Function:
    """Make a function of CasADi of one of kinetree's, or of a program. See `kinetree docs casadi`.

    In the form "SX" it is an expression in CasADi's scalar symbols: CasADi differentiates it, finds its sparsity, and
    writes code for it; the derivatives by q are those by its nq numbers. In the form "external" it is C, written by
    kinetree and compiled by the C compiler of this machine, with kinetree's own Jacobian: quicker, and the only form
    for functions that end iterations by their results, such as contacts.

    Args:
        robot: the robot; or a program (`kt.program`) alone, which knows its robots and options.
        function: `kt.aba`, `kt.rnea`, …
        f_ext: the frames on which external forces act, as for `kt.compile`; each becomes an argument.
        parameters: the robot's parameters that become arguments, as for `kt.compile`.
        unroll: as for `kt.compile`.
        form: "SX" or "external".
        derivatives: how many times CasADi can differentiate an external function: 1 by default, for first derivatives
            and approximate Hessians, 2 for exact Hessians, 0 for values only.
        name: the function's name in CasADi; by default its own name.
        options: the function's own options, such as `frame="tool"`. Numbers of constraints are constants.

    Returns:
        A `casadi.Function` of one sample, whose arguments and results have names. A vector (n) is a column, a matrix
        (m, n) is one; of arrays with more axes the first ones together are the rows.

    Raises:
        MissingPackageError: casadi is not installed, or, for "external", no C compiler.
        OptionError: an option or the form is not possible.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.interop.to_casadi(robot, kt.aba)
    Function(aba:(q[2],v[2],tau[2])->(aba[2]) SXFunction)
    """
    check_installed("kt.interop.to_casadi", "casadi")
    if form not in ("SX", "external"):
        raise OptionError(f'kt.interop.to_casadi: form must be "SX" or "external", not {form!r:.60}')
    subject = Subject(
        robot,
        function,
        f_ext=f_ext,
        parameters=parameters,
        unroll=unroll,
        options=options,
        adapter="kt.interop.to_casadi",
    )
    called = identifier(subject.name if name is None else name)
    if name is not None and called != name:
        raise OptionError(f"kt.interop.to_casadi: {name!r:.60} cannot be the name of a function; {called!r} can")
    if form == "SX":
        if derivatives is not None:
            raise OptionError(
                'kt.interop.to_casadi: derivatives= is for form="external"; CasADi differentiates SX by itself'
            )
        return symbolic_function(subject, called)
    count = 1 if derivatives is None else derivatives
    if type(count) is not int or count not in (0, 1, 2):
        raise OptionError(f"kt.interop.to_casadi: derivatives must be 0, 1 or 2, not {derivatives!r:.60}")
    from kinetree.interop.casadi.external import external_function

    arguments = argument_names(subject)
    return external_function(subject, called, arguments, result_names(subject, arguments), count)


def symbolic_function(subject: Subject, name: str) -> casadi.Function:
    """The function as an expression."""
    import casadi

    node = subject.node("float64")
    if node.marked_program is not without_slopes(node.marked_program):
        raise OptionError(
            f"kt.interop.to_casadi: {subject.name} of {subject.source.subject} ends iterations by their results, "
            f"and CasADi "
            'would differentiate them step by step; use form="external", which has the derivatives of what they find'
        )
    arguments, constants = argument_names(subject), subject.numbers_of_options()
    symbols = [casadi.SX.sym(own, *matrix_shape(x.shape)) for own, x in zip(arguments, node.inputs, strict=True)]
    given = [
        np.ravel(constants[k]).tolist() if k in constants else flat(x, port)
        for k, (x, port) in enumerate(zip(symbols, node.inputs, strict=True))
    ]
    (numbers,) = on_symbols(node.program, *given)
    results = [matrix(numbers[part], port) for _, part, port in subject.results("float64")]
    own = [k for k in range(len(symbols)) if k not in constants]
    names = [arguments[k] for k in own]
    return casadi.Function(name, [symbols[k] for k in own], results, names, result_names(subject, arguments))


def argument_names(subject: Subject) -> list[str]:
    """The names of the arguments in CasADi."""
    names: list[str] = []
    for name in subject.names:
        names.append(identifier(name, names))
    return names


def result_names(subject: Subject, arguments: Sequence[str]) -> list[str]:
    """The names of the results in CasADi."""
    names: list[str] = []
    for name, _, _ in subject.results("float64"):
        names.append(identifier(name, [*arguments, *names]))
    return names


def adapted(subject: Subject) -> Callable[..., Any]:
    """A function of CasADi's symbols, for calls of kinetree's own functions: one sample."""
    function = symbolic_function(subject, identifier(subject.name))
    constants = subject.numbers_of_options()
    ports = [port for k, port in enumerate(subject.node("float64").inputs) if k not in constants]

    def call(*arguments: Any) -> Any:
        import casadi

        given = [_joined(x) for k, x in enumerate(subject.bound(arguments, {})) if k not in constants]
        for x, port in zip(given, ports, strict=True):
            rows, columns = matrix_shape(port.shape)
            if not hasattr(x, "is_dense"):
                real_array(f"{subject.name}: {port.name}", x, sample_shape(port.shape))
            shape = tuple(x.shape) if hasattr(x, "shape") else np.shape(x)  # NumPy's function would warn of symbols
            if shape not in ((rows, columns), port.shape):
                raise ShapeError(
                    f"{subject.name}: {port.name} has shape {shape}, but {subject.source.subject} needs one sample, "
                    f"{rows} by {columns}: CasADi's matrices have no axes for batches"
                )
        kinds = {type(x).__name__ for x in given if isinstance(x, casadi.SX | casadi.MX)}
        if len(kinds) > 1:
            raise DTypeError(
                f"{subject.name}: one call has symbols of casadi.MX and of casadi.SX: give those of one kind alone"
            )
        return function(*(x if hasattr(x, "is_dense") else casadi.DM(np.asarray(x)) for x in given))

    return call


def _joined(x: Any) -> Any:
    """A list with symbols as one matrix; anything else as it is."""
    if not isinstance(x, list | tuple) or framework_of(x) is None:
        return x
    import casadi

    return casadi.blockcat([[*row] if isinstance(row, list | tuple) else [row] for row in x])
