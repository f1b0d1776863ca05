"""Derivatives of every public function with respect to any of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from numpy.typing import ArrayLike

from kinetree.compiler.definition import Array
from kinetree.functions.derivative_requests import Named
from kinetree.functions.program_requests import also_of_programs, requested
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces
from kinetree.programs import Program

__all__ = ["hvp", "jacobian", "jvp", "vjp"]


@overload
def jvp(
    program: Program,
    /,
    arguments: Sequence[ArrayLike] | Named,
    tangents: Named,
    *,
    threads: int | None = None,
) -> tuple[Any, Any]: ...


@overload
def jvp(
    robot: Model,
    function: Callable[..., Any],
    arguments: Sequence[ArrayLike],
    tangents: Named,
    *,
    f_ext: ExternalForces | None = None,
    parameters: Named | None = None,
    threads: int | None = None,
    **options: Any,
) -> tuple[Array, Array]: ...


@also_of_programs
def jvp(
    robot: Model,
    function: Callable[..., Any],
    arguments: Sequence[ArrayLike],
    tangents: Named,
    *,
    f_ext: ExternalForces | None = None,
    parameters: Named | None = None,
    threads: int | None = None,
    **options: Any,
) -> tuple[Array, Array]:
    """A function's value, and its derivative along a direction (forward mode, a Jacobian-vector product).

    Args:
        robot: the robot; or a program (`kt.program`), for which `function`, `f_ext`, `parameters` and options are left
            out.
        function: any of kinetree's functions of a robot's motion: `kt.aba`, `kt.frame_placement`, `kt.rollout`, …
        arguments: its own arguments, in order, such as (q, v, tau); leading axes broadcast. Those of a program may
            come in a dict by name, and those with defaults may be left out.
        tangents: the direction, by argument name: {"q": …, "tau": …}. Others stay fixed. The direction of a
            configuration is a displacement (…, nv) as in `integrate(robot, q, δ)`; all others have the shape of their
            argument, and booleans and whole numbers have none. "f_ext.FRAME" names an external force,
            "constraints.K.at", "constraints.lengths" and "constraints.gains" the numbers of constraints, and a
            parameter is named as in `parameters`.
        f_ext: external wrenches by frame name, `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn`, for functions that take
            them.
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        threads: how many threads may share a large batch; by default as many as there are cores.
        options: the function's own options, such as `frame="tool"`, `expressed_in="world"`, `passive=True`.

    Returns:
        (value, derivative), both in the shape of the function's result, or in the form of a program's results (a tuple,
        dict, dataclass, … of arrays). For a function that returns a q, the derivative is that of its entries.

    Raises:
        OptionError: `function` is not one of kinetree's, or has no such option; or a program's argument holds booleans
            or whole numbers.
        NameNotFoundError: a tangent is given for something that is not one of its arguments.
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for the function.

    Source: Griewank and Walther, *Evaluating Derivatives* (2008), chapter 3: the program is differentiated exactly.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> energy, power = kt.jvp(robot, kt.potential_energy, ([0.3, 0.1],), {"q": [1.0, 0.0]})
    >>> bool(abs(power - kt.gravity_forces(robot, [0.3, 0.1])[0]) < 1e-12)
    True
    >>> @kt.program(q=robot, gain=())
    ... def spring(q, gain):
    ...     return -gain * q
    >>> force, change = kt.jvp(spring, ([0.3, 0.1], 10.0), {"gain": 1.0})
    >>> change
    array([-0.3, -0.1])
    """
    return requested(robot, function, arguments, f_ext, parameters, threads, options).jvp(tangents)


@overload
def vjp(
    program: Program,
    /,
    arguments: Sequence[ArrayLike] | Named,
    weights: Any,
    *,
    wrt: str | Sequence[str] | None = None,
    threads: int | None = None,
) -> tuple[Any, dict[str, Array]]: ...


@overload
def vjp(
    robot: Model,
    function: Callable[..., Any],
    arguments: Sequence[ArrayLike],
    weights: ArrayLike,
    *,
    wrt: str | Sequence[str] | None = None,
    f_ext: ExternalForces | None = None,
    parameters: Named | None = None,
    threads: int | None = None,
    **options: Any,
) -> tuple[Array, dict[str, Array]]: ...


@also_of_programs
def vjp(
    robot: Model,
    function: Callable[..., Any],
    arguments: Sequence[ArrayLike],
    weights: ArrayLike,
    *,
    wrt: str | Sequence[str] | None = None,
    f_ext: ExternalForces | None = None,
    parameters: Named | None = None,
    threads: int | None = None,
    **options: Any,
) -> tuple[Array, dict[str, Array]]:
    """A function's value, and the gradient of a weighted sum of it (reverse mode, a vector-Jacobian product).

    Args:
        robot: the robot, or a program, as for `jvp`.
        function: any of kinetree's functions of a robot's motion.
        arguments: its own arguments, in order, such as (q, v, tau); leading axes broadcast.
        weights: a weight for each entry of the function's value, in its shape; for a program with several results in
            their form, where None, or a key missing in a dict, stands for zeros.
        wrt: the variables: names of arguments, "f_ext.FRAME" or parameters; by default all that are given.
        f_ext: external wrenches by frame name, `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn`, for functions that take
            them.
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        threads: how many threads may share a large batch; by default as many as there are cores.
        options: the function's own options, such as `frame="tool"`.

    Returns:
        (value, gradients by name). The gradient by a configuration is (…, nv), with respect to displacements; all
        others have the shape of their argument, with the leading axes of the whole batch.

    Raises:
        OptionError, NameNotFoundError, ShapeError, DTypeError, ConfigurationError: as for `jvp`.

    Source: Griewank and Walther, *Evaluating Derivatives* (2008), chapter 3: the program is differentiated backward.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> energy, gradient = kt.vjp(robot, kt.potential_energy, ([0.3, 0.1],), 1.0)
    >>> bool(abs(gradient["q"] - kt.gravity_forces(robot, [0.3, 0.1])).max() < 1e-12)
    True
    >>> @kt.program(x=2, y=2)
    ... def squares(x, y):
    ...     return {"x": x @ x, "y": y @ y}
    >>> value, gradient = kt.vjp(squares, ([1.0, 2.0], [3.0, 4.0]), {"x": 0.5}, wrt="x")
    >>> gradient
    {'x': array([1., 2.])}
    """
    return requested(robot, function, arguments, f_ext, parameters, threads, options).vjp(weights, wrt)


@overload
def hvp(
    program: Program,
    /,
    arguments: Sequence[ArrayLike] | Named,
    weights: Any,
    tangents: Named,
    *,
    wrt: str | Sequence[str] | None = None,
    threads: int | None = None,
) -> dict[str, Array]: ...


@overload
def hvp(
    robot: Model,
    function: Callable[..., Any],
    arguments: Sequence[ArrayLike],
    weights: ArrayLike,
    tangents: Named,
    *,
    wrt: str | Sequence[str] | None = None,
    f_ext: ExternalForces | None = None,
    parameters: Named | None = None,
    threads: int | None = None,
    **options: Any,
) -> dict[str, Array]: ...


@also_of_programs
def hvp(
    robot: Model,
    function: Callable[..., Any],
    arguments: Sequence[ArrayLike],
    weights: ArrayLike,
    tangents: Named,
    *,
    wrt: str | Sequence[str] | None = None,
    f_ext: ExternalForces | None = None,
    parameters: Named | None = None,
    threads: int | None = None,
    **options: Any,
) -> dict[str, Array]:
    """The change along a direction of the gradient that `vjp` gives: a Hessian-vector product.

    It is the Hessian of a weighted sum of the function's value, times the direction. A configuration moves along a
    displacement, and the gradient by it is by displacements from where it then is; on rotations such second derivatives
    are not symmetric.

    Args:
        robot: the robot, or a program, as for `jvp`.
        function: any of kinetree's functions of a robot's motion.
        arguments: its own arguments, in order, such as (q, v, tau); leading axes broadcast.
        weights: a weight for each entry of the function's value, in its shape or form, as for `vjp`.
        tangents: the direction, by argument name, as for `jvp`.
        wrt: the variables of the gradients, as for `vjp`.
        f_ext: external wrenches by frame name, `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn`, for functions that take
            them.
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        threads: how many threads may share a large batch; by default as many as there are cores.
        options: the function's own options, such as `frame="tool"`.

    Returns:
        The changes of the gradients, by name.

    Raises:
        OptionError, NameNotFoundError, ShapeError, DTypeError, ConfigurationError: as for `jvp`.

    Source: Pearlmutter, "Fast exact multiplication by the Hessian", Neural Computation 6 (1994): forward over reverse.

    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> v = [1.0, 2.0]
    >>> change = kt.hvp(robot, kt.kinetic_energy, ([0.3, 0.1], v), 1.0, {"v": [1.0, 0.0]}, wrt="v")
    >>> bool(abs(change["v"] - kt.crba(robot, [0.3, 0.1])[:, 0]).max() < 1e-12)
    True
    >>> @kt.program(x=2)
    ... def fourth_powers(x):
    ...     return np.sum(x**4)
    >>> kt.hvp(fourth_powers, ([1.0, 2.0],), 1.0, {"x": [1.0, 1.0]})
    {'x': array([12., 48.])}
    """
    return requested(robot, function, arguments, f_ext, parameters, threads, options).hvp(weights, tangents, wrt)


@overload
def jacobian(
    program: Program, /, arguments: Sequence[ArrayLike] | Named, *, wrt: str, threads: int | None = None
) -> Any: ...


@overload
def jacobian(
    program: Program,
    /,
    arguments: Sequence[ArrayLike] | Named,
    *,
    wrt: list[str] | tuple[str, ...],
    threads: int | None = None,
) -> dict[str, Any]: ...


@overload
def jacobian(
    robot: Model,
    function: Callable[..., Any],
    arguments: Sequence[ArrayLike],
    *,
    wrt: str,
    f_ext: ExternalForces | None = None,
    parameters: Named | None = None,
    threads: int | None = None,
    **options: Any,
) -> Array: ...


@overload
def jacobian(
    robot: Model,
    function: Callable[..., Any],
    arguments: Sequence[ArrayLike],
    *,
    wrt: list[str] | tuple[str, ...],
    f_ext: ExternalForces | None = None,
    parameters: Named | None = None,
    threads: int | None = None,
    **options: Any,
) -> dict[str, Array]: ...


@also_of_programs
def jacobian(
    robot: Model,
    function: Callable[..., Any],
    arguments: Sequence[ArrayLike],
    *,
    wrt: str | Sequence[str],
    f_ext: ExternalForces | None = None,
    parameters: Named | None = None,
    threads: int | None = None,
    **options: Any,
) -> Array | dict[str, Array]:
    """The full Jacobian of a function or program by one of its arguments, an external force or a parameter.

    For `aba` and `rnea` by q, v, tau and qdd it is what `aba_derivatives` and `rnea_derivatives` give, which return all
    three at once. Everything else comes from the function's program, one direction at a time. Second derivatives are
    Jacobians of first ones: `kt.jacobian(robot, kt.dynamics.rnea_derivatives, (q, v, qdd), wrt="q")`. A program may
    contain derivatives, and be differentiated with them; its Jacobians by several names come from one compiled
    function.

    Args:
        robot: the robot, or a program, as for `jvp`.
        function: any of kinetree's functions of a robot's motion.
        arguments: its own arguments, in order, such as (q, v, tau); leading axes broadcast.
        wrt: the name of an argument, "f_ext.FRAME", the numbers of constraints or a parameter, as in `jvp`; or a list
            of names.
        f_ext: external wrenches by frame name, `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn`, for functions that take
            them.
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        threads: how many threads may share a large batch; by default as many as there are cores.
        options: the function's own options, such as `frame="tool"`; one of the same name as an argument here comes
            with the function, as in `functools.partial(kt.kinematics.integrate_jacobian, wrt="v")`.

    Returns:
        (…, *value, *argument): the axes of the function's value, then those of the argument; a configuration has one of
        length nv, for displacements as in `integrate(robot, q, δ)`. For a program with several results each array of
        them, in their form, has these axes. For a list of names, a dict of these.

    Raises:
        OptionError, NameNotFoundError, ShapeError, DTypeError, ConfigurationError: as for `jvp`.

    Source: Griewank and Walther, *Evaluating Derivatives* (2008), chapter 3, and the source of `rnea_derivatives`.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.jacobian(robot, kt.center_of_mass, ([0.3, 0.1],), wrt="q").shape
    (3, 2)
    >>> @kt.program(q=robot, v=robot.nv, u=robot.nv)
    ... def next_velocity(q, v, u):
    ...     return v + 0.01 * kt.aba(robot, q, v, u)
    >>> by = kt.jacobian(next_velocity, ([0.3, 0.1], [0.0, 1.0], [0.0, 0.0]), wrt=["q", "v", "u"])
    >>> by["u"].shape
    (2, 2)
    """
    matrix: Array | dict[str, Array]
    matrix = requested(robot, function, arguments, f_ext, parameters, threads, options).jacobian(wrt)
    return matrix
