"""Requests for derivatives: a function, the arguments of a call, and the names of the variables."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.calls import compiled_for, run
from kinetree.compiler.definition import Array, Definition, Mode
from kinetree.compiler.differentiation import derived
from kinetree.compiler.requests import default_options, definition_of, resolved_options
from kinetree.compiler.source import Source, direction_shape
from kinetree.errors import DTypeError, NameNotFoundError, OptionError, ShapeError
from kinetree.functions.dynamics import ABA, RNEA
from kinetree.functions.dynamics_derivatives import ABA_DERIVATIVES, RNEA_DERIVATIVES
from kinetree.inputs import array_or_foreign, sample_shape
from kinetree.model import check_robot
from kinetree.model.checks.parts import hint
from kinetree.model.external_forces import ExternalForces, is_force_key
from kinetree.programs import Program
from kinetree.programs.labels import called_as, reshaped

__all__ = ["Named", "Request", "Requested"]

Named = Mapping[str, ArrayLike]


class Requested(ABC):
    """Something that is differentiated, and the arguments of a call: the names it can be differentiated by."""

    name: str
    """Its own name."""
    names: Sequence[str]
    """The names of its arguments, in order."""
    known: Sequence[str]
    """The names that it can be differentiated by."""
    threads: int | None
    """How many threads may share a large batch."""

    @property
    @abstractmethod
    def source(self) -> Source:
        """The function to differentiate."""

    @property
    @abstractmethod
    def arrays(self) -> Sequence[Any]:
        """The arguments of the call, in order."""

    @abstractmethod
    def not_known(self, name: object) -> NoReturn:
        """Raise the error of a name that it cannot be differentiated by."""

    @abstractmethod
    def weights(self, weights: Any) -> Any:
        """The weights of all numbers of the value, checked."""

    @abstractmethod
    def derivative(
        self, mode: Mode, wrt: tuple[str, ...], more: Sequence[ArrayLike] = (), along: tuple[str, ...] = ()
    ) -> Any:
        """Run a derivative, on the arguments and these more."""

    @abstractmethod
    def matrices(self, names: tuple[str, ...]) -> dict[str, Any]:
        """The Jacobians by each of these names."""

    @abstractmethod
    def value(self, whole: Any) -> Any:
        """The value in the form in which it is returned."""

    @abstractmethod
    def changes(self, whole: Any) -> Any:
        """A derivative of the value in that form."""

    def jvp(self, tangents: Named) -> tuple[Any, Any]:
        """The value, and its change along a direction."""
        both = self.derivative("jvp", self.along("jvp", tangents), [*tangents.values()])
        axes = (slice(None),) * len(self.output)
        return self.value(both[..., 0, *axes]), self.changes(both[..., 1, *axes])

    def vjp(self, weights: Any, wrt: str | Sequence[str] | None) -> tuple[Any, dict[str, Any]]:
        """The value, and the gradients of a weighted sum of it by name."""
        names = self.wrt(wrt)
        flat = self.derivative("vjp", names, [self.weights(weights)])
        shape = self.output
        size = math.prod(shape)
        value = reshaped(flat[..., :size], (*flat.shape[:-1], *shape))
        return self.value(value), dict(self.apart(names, flat[..., size:]))

    def hvp(self, weights: Any, tangents: Named, wrt: str | Sequence[str] | None) -> dict[str, Any]:
        """The changes of these gradients along a direction."""
        names, along = self.wrt(wrt), self.along("hvp", tangents)
        flat = self.derivative("hvp", names, [self.weights(weights), *tangents.values()], along)
        return dict(self.apart(names, flat))

    def jacobian(self, wrt: str | Sequence[str]) -> Any:
        """The Jacobian by a name, or a dict of those by several."""
        if wrt is None:  # which stands for all names elsewhere
            raise OptionError("jacobian: wrt must be a name or a list of names, not None")
        matrices = self.matrices(self.wrt(wrt))
        return matrices[wrt] if isinstance(wrt, str) else matrices

    @cached_property
    def output(self) -> tuple[int, ...]:
        """The shape of one sample's value."""
        return self.source.output.shape

    def direction_shape(self, name: str) -> tuple[int, ...]:
        """The shape of a displacement of the argument of this name."""
        return direction_shape(self.source, self.names.index(name))

    def labelled(self, whole: Any, shape: tuple[int, ...], name: str | None = None) -> Any:
        """A labelled array (xarray) with the names and labels of the argument of this name, or else of the last one
        whose samples have this shape; anything else as it is."""
        if not hasattr(whole, "dims"):
            return whole
        given = zip(self.arrays, (port.shape for port in self.source.inputs), strict=True)
        like = [x for own, x in zip(self.names, given, strict=True) if name in (None, own)]
        return called_as(whole, shape, like, name or self.name)

    def along(self, mode: str, tangents: Named) -> tuple[str, ...]:
        """The names of the variables that the direction changes."""
        if not isinstance(tangents, Mapping) or not tangents:
            raise DTypeError(
                f"{mode}: tangents must be a dict from names of arguments to arrays, such as "
                f"{{{next(iter(self.known), 'x')!r}: …}}, not {tangents!r:.60}"
            )
        self._check(tuple(tangents))
        return tuple(tangents)

    def wrt(self, names: str | Sequence[str] | None) -> tuple[str, ...]:
        """The names to differentiate by; None stands for all."""
        if not (names is None or isinstance(names, Sequence)):
            raise OptionError(f"{self.name}: wrt must be a name or a list of names, not {names!r:.60}")
        found = tuple(self.known) if names is None else (names,) if isinstance(names, str) else tuple(names)
        self._check(found)
        if len(set(found)) != len(found) or not found:
            raise OptionError(f"{self.name}: wrt must name each argument once, and one at least: {found}")
        return found

    def apart(self, names: Sequence[str], flat: Any) -> Iterator[tuple[str, Any]]:
        """Split concatenated gradients by name."""
        start = 0
        for name in names:
            shape = self.direction_shape(name)
            end = start + math.prod(shape)
            gradient = reshaped(flat[..., start:end], (*flat.shape[:-1], *shape))
            yield name, self.labelled(gradient, shape, name)
            start = end

    def _check(self, names: Sequence[object]) -> None:
        for name in names:
            if not isinstance(name, str) or name not in self.known:
                self.not_known(name)


class Request(Requested):
    """A function of a robot and the arguments of a call."""

    def __init__(
        self,
        robot: object,
        function: Callable[..., Any] | Definition,
        arguments: Sequence[ArrayLike],
        f_ext: ExternalForces | None,
        parameters: Named | None,
        threads: int | None,
        options: Mapping[str, Any],
        *,
        fixed: int = 0,
    ) -> None:
        """The first `fixed` inputs are not differentiated by."""
        definition = function if isinstance(function, Definition) else definition_of(robot, function)
        self.robot, self.definition, self.name = check_robot(robot), definition, definition.name
        self.threads = threads
        if isinstance(arguments, np.ndarray) or not isinstance(arguments, Sequence):
            own = ", ".join(name for name, _ in definition.inputs)
            what = "one array" if isinstance(arguments, np.ndarray) else type(arguments).__name__
            raise DTypeError(f"{definition.name}: arguments must be a tuple of its own ({own}), not {what}")
        self.arguments = arguments
        self.forces: dict[Any, ArrayLike] = {} if f_ext is None else _named(definition, "f_ext", "frames", f_ext)
        self.parameters = {} if parameters is None else _named(definition, "parameters", "parameters", parameters)
        self.options: dict[str, Any] = self._completed(function, options)
        self.numbers: list[Array] = []
        if definition.numbers:
            resolved = resolved_options(definition, self.robot, self.options)
            self.numbers = definition.arrays_of_numbers(self.options)
            self.options |= {name: resolved[name] for name in definition.numbers if name in self.options}
        self._compiled = compiled_for(definition, robot, self.options, tuple(self.forces), tuple(self.parameters))
        self.names: Sequence[str] = self._compiled.source.names
        self.known: Sequence[str] = self.names[fixed:]

    def _completed(self, function: object, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options with defaults from the function's own signature; a rollout has one step per row of tau."""
        completed = {**(default_options(function) if callable(function) else {}), **options}
        if self.definition.is_step and completed.get("steps") is None:
            completed["steps"] = self._steps()
        return completed

    def _steps(self) -> int:
        """Number of steps: one per row of tau."""
        self._check_count()
        forces = self.arguments[self.definition.state]
        if isinstance(forces, Program):
            raise OptionError(
                f"derivatives of {self.definition.name} are of motions under given forces, not under a controller: "
                "make a program that takes the steps by kt.programs.scan, and differentiate that"
            )
        name, tau = self.definition.name, array_or_foreign("tau", forces, f"(…, T, {self.robot.nv})")
        if tau.ndim < 2 or not tau.shape[-2]:
            raise ShapeError(
                f"{name}: tau has shape {tau.shape}, but {self.robot.name!r} needs (…, T, {self.robot.nv}), "
                "one row per step and at least one"
            )
        return int(tau.shape[-2])

    def _check_count(self) -> None:
        own = [name for name, _ in self.definition.inputs] + ["dt"] * self.definition.takes_dt
        if not 0 <= len(own) - len(self.arguments) <= len(self.definition.optional):
            listed = ", ".join(own) + ("," if len(own) == 1 else "")
            raise DTypeError(
                f"{self.definition.name}: arguments must be its own, ({listed}), and are {len(self.arguments)} instead"
            )

    def value(self, whole: Any) -> Any:
        return self.labelled(whole, self.output)

    changes = value

    @property
    def source(self) -> Source:
        return self._compiled.source

    @property
    def arrays(self) -> Sequence[Any]:
        given = [*self.arguments, *self.numbers, *self.forces.values(), *self.parameters.values()]
        return self._compiled.left_out.filled(given)

    def not_known(self, name: object) -> NoReturn:
        raise NameNotFoundError(
            f"{self.name} cannot be differentiated by {name!r:.60}: {hint(str(name), self.known)} (it has "
            f"{', '.join(self.known)}; external forces and parameters must be given in f_ext= and parameters=)"
        )

    def weights(self, weights: ArrayLike) -> ArrayLike:
        shape = self.output
        given = tuple(array_or_foreign("weights", weights, sample_shape(shape)).shape)
        if shape and given[-len(shape) :] != shape:
            expected = ", ".join(("…", *map(str, shape)))
            raise ShapeError(f"{self.definition.name}: weights have shape {given}, but its value has ({expected})")
        return weights

    def derivative(
        self, mode: Mode, wrt: tuple[str, ...], more: Sequence[ArrayLike] = (), along: tuple[str, ...] = ()
    ) -> Any:
        return self._run(derived(self.definition, mode, wrt, along), more, self.options)

    def matrices(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: self._matrix(name) for name in names}

    def _matrix(self, name: str) -> Any:
        """The Jacobian by one name: from a recursion for all of them, if there is one."""
        known, place = _RECURSIONS.get((self.definition, name), (None, 0))
        if known is None or self.options.get("limits"):
            return self.derivative("jacobian", (name,))
        options = {option: value for option, value in self.options.items() if option in known.options}
        return self._run(known, (), options)[..., place, :, :]

    def _run(self, definition: Definition, more: Sequence[ArrayLike], options: Mapping[str, Any]) -> Array:
        self._check_count()
        if self.options.get("divide"):
            from kinetree.functions.step_division import warn_where_stiff

            asked: Mapping[str, Any] = resolved_options(self.definition, self.robot, self.options)
            warn_where_stiff(
                f"a derivative of {self.name}", self.robot, self.arguments[0], self.arguments[-1], asked["integrator"],
                asked["passive"], getattr(asked.get("actuators"), "actuation", None),
            )  # fmt: skip
        return run(
            definition,
            self.robot,
            [*self.arguments, *more],
            f_ext=self.forces or None,
            parameters=self.parameters or None,
            numbers=self.numbers,
            threads=self.threads,
            **options,
        )


def _named(definition: Definition, argument: str, what: str, given: Named) -> dict[Any, ArrayLike]:
    if not isinstance(given, Mapping):
        raise DTypeError(
            f"{definition.name}: {argument} must be a dict from names of {what} to arrays, not {type(given).__name__}"
        )
    for name in given:
        if not (isinstance(name, str) or (argument == "f_ext" and is_force_key(name))):
            raise OptionError(f"{definition.name}: the names of {what} in {argument} are strings, not {name!r:.60}")
    return dict(given)


_RECURSIONS = {(ABA, name): (ABA_DERIVATIVES, k) for k, name in enumerate(("q", "v", "tau"))}
_RECURSIONS |= {(RNEA, name): (RNEA_DERIVATIVES, k) for k, name in enumerate(("q", "v", "qdd"))}
