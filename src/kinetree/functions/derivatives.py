"""Derivatives of every public function with respect to any of its arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.arguments import dtype_beside
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition
from kinetree.compiler.differentiation import derived, input_names
from kinetree.compiler.requests import default_options, resolved_options
from kinetree.compiler.specialization import Specialization
from kinetree.errors import DTypeError, NameNotFoundError, OptionError, ShapeError
from kinetree.functions.dynamics import ABA, RNEA
from kinetree.functions.dynamics_derivatives import ABA_DERIVATIVES, RNEA_DERIVATIVES
from kinetree.inputs import real_array
from kinetree.model import Model, check_robot
from kinetree.model.checks.parts import hint
from kinetree.model.external_forces import ExternalForces, acting, is_force_key

__all__ = ["hvp", "jacobian", "jvp", "vjp"]

Named = Mapping[str, ArrayLike]


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
        robot: the robot.
        function: any of kinetree's functions of a robot's motion: `kt.aba`, `kt.frame_placement`, `kt.rollout`, …
        arguments: its own arguments, in order, such as (q, v, tau); leading axes broadcast.
        tangents: the direction, by argument name: {"q": …, "tau": …}. What is not named stays fixed. The direction of a
            configuration is a displacement (…, nv) as in `integrate(robot, q, δ)`; all others have the shape of their
            argument. "f_ext.FRAME" names an external force, and a parameter is named as in `parameters`.
        f_ext: external wrenches by frame name, `kt.WrenchOn` or `kt.ForceOn`, for functions that take them.
        parameters: values that override some of the robot's parameters; see docs/parameters.md.
        threads: how many threads may share a large batch; by default as many as there are cores.
        options: the function's own options, such as `frame="tool"`, `expressed_in="world"`, `passive=True`.

    Returns:
        (value, derivative), both in the shape of the function's result. For a function that returns a q, the derivative
        is that of its entries.

    Raises:
        OptionError: `function` is not one of kinetree's, or has no such option.
        NameNotFoundError: a tangent is given for something that is not one of its arguments.
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for the function.

    Source: Griewank and Walther, *Evaluating Derivatives* (2008), chapter 3: the program is differentiated exactly.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> energy, power = kt.jvp(robot, kt.potential_energy, ([0.3, 0.1],), {"q": [1.0, 0.0]})
    >>> bool(abs(power - kt.gravity_forces(robot, [0.3, 0.1])[0]) < 1e-12)
    True
    """
    request = _Request(robot, function, arguments, f_ext, parameters, options)
    wrt = request.along("jvp", tangents)
    both = request.run(derived(request.definition, "jvp", wrt), [*tangents.values()], threads)
    value, derivative = np.moveaxis(both, -1 - len(request.output), 0)
    return value, derivative


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
        robot: the robot.
        function: any of kinetree's functions of a robot's motion.
        arguments: its own arguments, in order, such as (q, v, tau); leading axes broadcast.
        weights: a weight for each entry of the function's value, in its shape.
        wrt: what to differentiate by: names of arguments, "f_ext.FRAME" or parameters; by default all that are given.
        f_ext: external wrenches by frame name, `kt.WrenchOn` or `kt.ForceOn`, for functions that take them.
        parameters: values that override some of the robot's parameters; see docs/parameters.md.
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
    """
    request = _Request(robot, function, arguments, f_ext, parameters, options)
    names = request.wrt(wrt)
    flat = request.run(derived(request.definition, "vjp", names), [request.weights(weights)], threads)
    size = math.prod(request.output)
    value = flat[..., :size].reshape((*flat.shape[:-1], *request.output))
    return value, dict(request.apart(names, flat[..., size:]))


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
        robot: the robot.
        function: any of kinetree's functions of a robot's motion.
        arguments: its own arguments, in order, such as (q, v, tau); leading axes broadcast.
        weights: a weight for each entry of the function's value, in its shape.
        tangents: the direction, by argument name, as for `jvp`.
        wrt: what to take gradients by, as for `vjp`.
        f_ext: external wrenches by frame name, `kt.WrenchOn` or `kt.ForceOn`, for functions that take them.
        parameters: values that override some of the robot's parameters; see docs/parameters.md.
        threads: how many threads may share a large batch; by default as many as there are cores.
        options: the function's own options, such as `frame="tool"`.

    Returns:
        The changes of the gradients, by name.

    Raises:
        OptionError, NameNotFoundError, ShapeError, DTypeError, ConfigurationError: as for `jvp`.

    Source: Pearlmutter, "Fast exact multiplication by the Hessian", Neural Computation 6 (1994): forward over reverse.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> v = [1.0, 2.0]
    >>> change = kt.hvp(robot, kt.kinetic_energy, ([0.3, 0.1], v), 1.0, {"v": [1.0, 0.0]}, wrt="v")
    >>> bool(abs(change["v"] - kt.crba(robot, [0.3, 0.1])[:, 0]).max() < 1e-12)
    True
    """
    request = _Request(robot, function, arguments, f_ext, parameters, options)
    names, along = request.wrt(wrt), request.along("hvp", tangents)
    given = [request.weights(weights), *tangents.values()]
    flat = request.run(derived(request.definition, "hvp", names, along), given, threads)
    return dict(request.apart(names, flat))


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
) -> Array:
    """The full Jacobian of a function by one of its arguments, an external force or a parameter.

    For `aba` and `rnea` by q, v, tau and qdd it is what `aba_derivatives` and `rnea_derivatives` give, which return all
    three at once. Everything else comes from the function's program, one direction at a time. Second derivatives are
    Jacobians of first ones: `kt.jacobian(robot, kt.rnea_derivatives, (q, v, qdd), wrt="q")`.

    Args:
        robot: the robot.
        function: any of kinetree's functions of a robot's motion.
        arguments: its own arguments, in order, such as (q, v, tau); leading axes broadcast.
        wrt: the name of an argument, "f_ext.FRAME" or a parameter.
        f_ext: external wrenches by frame name, `kt.WrenchOn` or `kt.ForceOn`, for functions that take them.
        parameters: values that override some of the robot's parameters; see docs/parameters.md.
        threads: how many threads may share a large batch; by default as many as there are cores.
        options: the function's own options, such as `frame="tool"`.

    Returns:
        (…, *value, *argument): the axes of the function's value, then those of the argument; a configuration has one of
        length nv, for displacements as in `integrate(robot, q, δ)`.

    Raises:
        OptionError, NameNotFoundError, ShapeError, DTypeError, ConfigurationError: as for `jvp`.

    Source: Griewank and Walther, *Evaluating Derivatives* (2008), chapter 3, and the source of `rnea_derivatives`.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.jacobian(robot, kt.center_of_mass, ([0.3, 0.1],), wrt="q").shape
    (3, 2)
    """
    request = _Request(robot, function, arguments, f_ext, parameters, options)
    if not isinstance(wrt, str):
        raise OptionError(f"jacobian: wrt must be one name, such as {request.names[0]!r}, not {wrt!r:.60}")
    request.check((wrt,))
    known, place = _RECURSIONS.get((request.definition, wrt), (None, 0))
    if known is not None and not request.resolved.get("limits"):
        kept = {name: value for name, value in request.options.items() if name in known.options}
        return _Request(robot, known, arguments, f_ext, parameters, kept).run(known, [], threads)[..., place, :, :]
    return request.run(derived(request.definition, "jacobian", (wrt,)), [], threads)


_RECURSIONS = {(ABA, name): (ABA_DERIVATIVES, k) for k, name in enumerate(("q", "v", "tau"))}
_RECURSIONS |= {(RNEA, name): (RNEA_DERIVATIVES, k) for k, name in enumerate(("q", "v", "qdd"))}


class _Request:
    """A function and the arguments of a call."""

    def __init__(
        self,
        robot: object,
        function: Callable[..., Any] | Definition,
        arguments: Sequence[ArrayLike],
        f_ext: ExternalForces | None,
        parameters: Named | None,
        options: Mapping[str, Any],
    ) -> None:
        self.robot = check_robot(robot)
        definition = function if isinstance(function, Definition) else getattr(function, "definition", None)
        if not isinstance(definition, Definition):
            raise OptionError(f"{function!r:.80} is not one of kinetree's functions; pass kt.aba, kt.rnea, …")
        self.definition = definition
        if isinstance(arguments, np.ndarray) or not isinstance(arguments, Sequence):
            own = ", ".join(name for name, _ in definition.inputs)
            what = "one array" if isinstance(arguments, np.ndarray) else type(arguments).__name__
            raise DTypeError(f"{definition.name}: arguments must be a tuple of its own ({own}), not {what}")
        self.arguments = arguments
        self.forces = _named(definition, "f_ext", "frames", f_ext)
        self.parameters = _named(definition, "parameters", "parameters", parameters)
        self.options = self._completed(function, options)
        self.resolved = resolved_options(definition, self.robot, self.options)
        self.names = input_names(definition, list(self.forces), list(self.parameters))
        self.arguments = [*self.arguments, *self._left_out()]

    def _left_out(self) -> Iterator[Array]:
        """Zeros for trailing arguments that are optional and not given."""
        first, inputs = len(self.arguments), self.definition.inputs
        if first and all(name in self.definition.optional for name, _ in inputs[first:]):
            for _, size in inputs[first:]:
                yield np.zeros(self.definition.width(size, self.robot, self.resolved), dtype_beside(self.arguments[0]))

    def _completed(self, function: object, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options with defaults from the function's own signature; a rollout has one step per row of tau."""
        given = {**(default_options(function) if callable(function) else {}), **options}
        if self.definition.is_step and "steps" not in given:
            given["steps"] = self._steps()
        # Kernels are looked up by the options that are on, in a fixed order.
        return {name: given[name] for name in sorted(given) if given[name] is not False and given[name] is not None}

    def _steps(self) -> int:
        """Number of steps: one per row of tau."""
        self._check_count()
        name, tau = self.definition.name, real_array("tau", self.arguments[2], f"(…, T, {self.robot.nv})")
        if tau.ndim < 2 or not tau.shape[-2]:
            raise ShapeError(
                f"{name}: tau has shape {tau.shape}, but {self.robot.name!r} needs (…, T, {self.robot.nv}), "
                "one row per step and at least one"
            )
        return int(tau.shape[-2])

    def _check_count(self) -> None:
        own = input_names(self.definition, (), ())
        if len(self.arguments) != len(own):
            listed = ", ".join(own) + ("," if len(own) == 1 else "")
            raise DTypeError(
                f"{self.definition.name}: arguments must be its own, ({listed}), and are {len(self.arguments)} instead"
            )

    @property
    def output(self) -> tuple[int, ...]:
        """The shape of one sample's value."""
        return self._specialization.output.shape

    @cached_property
    def _specialization(self) -> Specialization:
        forces = tuple(acting(self.robot.frames, key) for key in self.forces)
        return Specialization(self.definition, self.robot, self.resolved, forces, tuple(self.parameters))

    def check(self, names: Sequence[str]) -> None:
        """Raise if there is no such argument."""
        for name in names:
            if not isinstance(name, str) or name not in self.names:
                raise NameNotFoundError(
                    f"{self.definition.name} cannot be differentiated by {name!r:.60}: "
                    f"{hint(str(name), self.names)} (it has {', '.join(self.names)}; external forces and parameters "
                    "must be given in f_ext= and parameters=)"
                )

    def along(self, mode: str, tangents: Named) -> tuple[str, ...]:
        """The names of what the direction changes."""
        if not isinstance(tangents, Mapping) or not tangents:
            raise DTypeError(
                f"{mode}: tangents must be a dict from names of arguments to arrays, such as {{{self.names[0]!r}: …}}, "
                f"not {tangents!r:.60}"
            )
        self.check(tuple(tangents))
        return tuple(tangents)

    def wrt(self, names: str | Sequence[str] | None) -> tuple[str, ...]:
        if not (names is None or isinstance(names, Sequence)):
            raise OptionError(f"{self.definition.name}: wrt must be a name or a list of names, not {names!r:.60}")
        found = tuple(self.names) if names is None else (names,) if isinstance(names, str) else tuple(names)
        self.check(found)
        if len(set(found)) != len(found) or not found:
            raise OptionError(f"{self.definition.name}: wrt must name each argument once, and one at least: {found}")
        return found

    def weights(self, weights: ArrayLike) -> ArrayLike:
        shape = self.output
        given = real_array("weights", weights, f"({', '.join(('…', *map(str, shape)))})").shape
        if shape and given[-len(shape) :] != shape:
            expected = ", ".join(("…", *map(str, shape)))
            raise ShapeError(f"{self.definition.name}: weights have shape {given}, but its value has ({expected})")
        return weights

    def run(self, definition: Definition, more: Sequence[ArrayLike], threads: int | None) -> Array:
        self._check_count()
        return run(
            definition,
            self.robot,
            [*self.arguments, *more],
            f_ext=self.forces or None,
            parameters=self.parameters or None,
            threads=threads,
            **self.options,
        )

    def apart(self, names: Sequence[str], flat: Array) -> Iterator[tuple[str, Array]]:
        """Split concatenated gradients by name."""
        start = 0
        for name in names:
            shape = self._direction_shape(name)
            end = start + math.prod(shape)
            yield name, flat[..., start:end].reshape((*flat.shape[:-1], *shape))
            start = end

    def _direction_shape(self, name: str) -> tuple[int, ...]:
        if dict(self.definition.inputs).get(name) == "nq":
            return (self.robot.nv,)
        return self._specialization.inputs[self.names.index(name)].shape


def _named(definition: Definition, argument: str, what: str, given: Named | None) -> dict[Any, ArrayLike]:
    if given is not None and not isinstance(given, Mapping):
        raise DTypeError(
            f"{definition.name}: {argument} must be a dict from names of {what} to arrays, not {type(given).__name__}"
        )
    for name in given or ():
        if not (isinstance(name, str) or (argument == "f_ext" and is_force_key(name))):
            raise OptionError(f"{definition.name}: the names of {what} in {argument} are strings, not {name!r:.60}")
    return dict(given or {})
