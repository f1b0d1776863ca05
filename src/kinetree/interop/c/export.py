"""`kinetree.interop.to_c`: a function or its derivatives as C99."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kinetree.codegen.c.names import identifier, is_reserved
from kinetree.codegen.c.real import REALS
from kinetree.compiler.calls import dtype_name
from kinetree.errors import OptionError, nearest_names
from kinetree.interop.c.source import CSource
from kinetree.interop.c.writing import casadi_source, plain_source
from kinetree.interop.node import Node
from kinetree.interop.subject import Subject
from kinetree.model import Model
from kinetree.model.external_forces import ForceKey
from kinetree.programs import Program

__all__ = ["to_c"]

_LONGEST_NAME = 23
"""So that all names made of it have at most 31 characters, all of which every compiler distinguishes."""
_STRAIGHT = 2_000
"""Operations up to which a function is written out; C compilers take seconds for more, and code gets large."""


def to_c(
    robot: Model | Program,
    function: Callable[..., Any] | None = None,
    *,
    f_ext: Sequence[ForceKey] = (),
    parameters: Sequence[str] = (),
    unroll: bool | None = None,
    dtype: str = "float64",
    name: str | None = None,
    derivative: str | Sequence[str] | None = None,
    by: Sequence[str] | str | None = None,
    interface: str = "plain",
    derivatives: int | None = None,
    **options: Any,
) -> CSource:
    """Write one of kinetree's functions, or a program of your own, as C99 without dependencies. See `kinetree docs c`.

    The C function takes arrays of one sample: its arguments, in the order of the public function, then its results;
    matrices are stored row by row. It allocates nothing, has no state, and is reentrant. Its memory outside the stack
    is its last argument, `w`. Quaternions need not be of length 1; one of zeros gives NaN.

    Args:
        robot: the robot; or a program (`kt.program`) alone, which knows its robots and options.
        function: `kt.aba`, `kt.rnea`, …
        f_ext: the frames on which external forces act, as for `kt.compile`; each becomes an argument.
        parameters: the robot's parameters that become arguments, as for `kt.compile`.
        unroll: True writes out every body's arithmetic, False loops over bodies in less code and with working memory;
            by default functions of more than 2,000 operations loop, if they can.
        dtype: "float64" for C's double, "float32" for float.
        name: the name of the C function and of its files, up to 23 characters; by default that of the robot and of the
            function.
        derivative: "forward" for the tangents of the results, given those of arguments; "reverse" for the cotangents of
            arguments, given those of the results; both by the numbers of each argument, by those of q as well. Both,
            as ("reverse", "forward"), are second derivatives: the tangents of these cotangents, the product of a
            Hessian and a vector. (For Jacobians write a program that calls `kt.jacobian`.)
        by: the arguments that a derivative is by; all by default.
        interface: "plain", or "casadi" for CasADi's convention, by which `casadi.external` calls functions.
        derivatives: how many times CasADi can differentiate the function: 1 by default, for first derivatives and
            approximate Hessians, 2 for exact Hessians, 0 for values only.
        options: the function's own options, such as `frame="tool"`, or `steps=100` of `kt.rollout`.

    Returns:
        The texts, as a `CSource`: `made.save("src")` writes them into files.

    Raises:
        OptionError: an option, the dtype or the name is not possible.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> made = kt.interop.to_c(robot, kt.gravity_forces, dtype="float32", name="gravity")
    >>> print(made.header[made.header.index("void"):].splitlines()[0])
    void gravity(const float q[2], float gravity_forces[2]);
    """
    real = dtype_name(dtype)
    if real not in REALS:
        raise OptionError(f"kt.interop.to_c: dtype must be float64 or float32, not {real}")
    _check_interface(interface, derivatives, real)
    asked = partial(
        Subject, robot, function, f_ext=f_ext, parameters=parameters, options=options, adapter="kt.interop.to_c"
    )
    subject = asked(unroll=unroll)
    if unroll is None and _is_long(subject, real) and subject.can_loop:
        subject = asked(unroll=False)
    node = _derived(subject, subject.node(real), derivative, by)
    if not sum(port.size for port in node.outputs):
        raise OptionError(f"kt.interop.to_c: {node.name} of {subject.source.subject} has no numbers as a result")
    c_name = _chosen_name(subject, node, name)
    if interface == "casadi":
        return casadi_source(subject, node, c_name, 1 if derivatives is None else derivatives)
    return plain_source(subject, node, c_name)


def _check_interface(interface: str, derivatives: int | None, dtype: str) -> None:
    if interface not in ("plain", "casadi"):
        raise OptionError(f'kt.interop.to_c: interface must be "plain" or "casadi", not {interface!r:.60}')
    if interface == "plain" and derivatives is not None:
        raise OptionError(
            'kt.interop.to_c: derivatives= is for interface="casadi"; a plain function takes derivative="reverse"'
        )
    if derivatives is not None and (type(derivatives) is not int or derivatives not in (0, 1, 2)):
        raise OptionError(f"kt.interop.to_c: derivatives must be 0, 1 or 2, not {derivatives!r:.60}")
    if interface == "casadi" and dtype != "float64":
        raise OptionError('kt.interop.to_c: interface="casadi" is in double precision, as CasADi is; leave out dtype')


def _is_long(subject: Subject, dtype: str) -> bool:
    program = subject.node(dtype).program
    return program.is_straight and program.operation_counts().total() > _STRAIGHT


def _derived(
    subject: Subject, node: Node, derivative: str | Sequence[str] | None, by: Sequence[str] | str | None
) -> Node:
    """The node that was asked for."""
    names = subject.names
    if derivative is None:
        if by is not None:
            raise OptionError(
                'kt.interop.to_c: by= is for derivatives; give derivative="forward" or derivative="reverse" too'
            )
        return node
    modes = [derivative] if isinstance(derivative, str) else derivative
    if not isinstance(modes, Sequence) or not modes or any(mode not in ("forward", "reverse") for mode in modes):
        raise OptionError(
            f'kt.interop.to_c: derivative must be "forward" or "reverse", or a sequence of these, not '
            f"{derivative!r:.60}"
        )
    if by is not None and not (isinstance(by, Sequence) and by):
        raise OptionError(f"kt.interop.to_c: by must be names of arguments, such as {list(names)}, not {by!r:.60}")
    variables = names if by is None else (by,) if isinstance(by, str) else tuple(by)
    for one in variables:
        if one not in names:
            raise OptionError(
                f"kt.interop.to_c: {subject.name} has no argument {one!r:.60}: {nearest_names(str(one), names)}"
            )
    numbers = [names.index(one) for one in dict.fromkeys(variables)]
    for mode in modes:
        node = node.forward(numbers) if mode == "forward" else node.reverse(numbers)
    return node


def _chosen_name(subject: Subject, node: Node, name: str | None) -> str:
    if name is None:
        own = identifier(node.name, longest=_LONGEST_NAME)
        room = _LONGEST_NAME - len(own) - 1
        robot = subject.robot_name
        return own if robot is None or room < 2 else identifier(f"{identifier(robot, longest=room)}_{own}")
    if not isinstance(name, str) or identifier(name) != name or is_reserved(name):
        raise OptionError(
            f"kt.interop.to_c: {name!r:.60} cannot be the name of a C function and its files: letters, digits and _ "
            f"make a name, which has no meaning in C, such as {identifier(str(name), longest=_LONGEST_NAME)!r}"
        )
    if len(name) > _LONGEST_NAME:
        raise OptionError(
            f"kt.interop.to_c: the name {name!r:.60} is longer than {_LONGEST_NAME} characters, which leave room "
            "for endings in the 31 that C compilers distinguish"
        )
    return name
