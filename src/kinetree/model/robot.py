"""The robot: a frozen, validated tree of bodies with its names, limits and layout."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ActuationError, ConfigurationError, OptionError, ShapeError
from kinetree.inputs import holds_symbols, refuse_symbols, samples
from kinetree.joints import Prismatic
from kinetree.model.elements import Body, Coupling, Frame, Joint, Named
from kinetree.model.extras import Extras
from kinetree.model.limit_arrays import LimitArrays, limit_arrays
from kinetree.model.specs import Parts
from kinetree.records import record
from kinetree.spatial import Inertia
from kinetree.tree import UnrolledTree

__all__ = ["Robot", "no_motor", "refuse_zero_quaternions", "vector"]

T = TypeVar("T")


class Computed:
    """Slots for values that are computed at their first use, and then kept."""

    __slots__ = ("_actuated", "_hash", "_limits", "_nq", "_nv", "_owners", "_q_names", "_scenery", "_v_names")
    _hash: int
    _nq: int
    _nv: int
    _owners: tuple[Joint | Coupling, ...]
    _q_names: tuple[str, ...]
    _scenery: Any
    """The robot and the things that it will be assembled from; deleted afterwards."""
    _v_names: tuple[str, ...]
    _actuated: NDArray[np.bool_]
    _limits: LimitArrays

    def _keep(self, place: str, value: T) -> T:
        object.__setattr__(self, place, value)
        return value


@record(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class Robot(Computed):
    """A robot and its properties; nothing about it ever changes."""

    name: str
    tree: UnrolledTree
    bodies: Named[Body]
    """Every link of the file, moving or fixed, in file order."""
    joints: Named[Joint]
    """The moving joints; their order is that of q and v, in which followers have no entries."""
    couplings: Named[Coupling]
    """Coordinates in q and v that replace those of several joints."""
    frames: Named[Frame]
    """Every body's own frame and the frames added by name."""
    root: str
    """The body at the root; it moves only if the base is floating."""
    floating_base: bool
    notes: tuple[str, ...]
    """Merges and assumptions when the model was made, one sentence each."""
    singular_joints: tuple[str, ...]
    """Joints that move nothing with inertia: forward dynamics is not defined."""
    parts: Parts
    """The parts it was built from."""
    source: str = ""
    """Where it was read from."""

    @property
    def nq(self) -> int:
        """Number of coordinates of a configuration q."""
        try:
            return self._nq
        except AttributeError:
            shared = self.tree.coordinates
            return self._keep("_nq", sum(kind.nq for kind in self.tree.joint) if shared is None else shared.nq)

    @property
    def nv(self) -> int:
        """Number of degrees of freedom: of v, accelerations and joint forces."""
        try:
            return self._nv
        except AttributeError:
            shared = self.tree.coordinates
            return self._keep("_nv", sum(kind.nv for kind in self.tree.joint) if shared is None else shared.nv)

    def size(self, space: str | int) -> int:
        """Length of a q ("nq"), a v ("nv") or a row of joint forces ("forces"); a number is returned unchanged."""
        if isinstance(space, int):
            return space
        return self.nq if space == "nq" else self.nv

    @property
    def extras(self) -> Extras:
        """Anything else that its file says, such as actuators, tendons, sensors and keyframes."""
        return self.parts.extras

    @property
    def owners(self) -> tuple[Joint | Coupling, ...]:
        """The owners of the coordinates in q and v, in their order: joints that do not follow others, and couplings."""
        try:
            return self._owners
        except AttributeError:
            owners: dict[str, Joint | Coupling] = {}
            for joint in self.joints.values():
                if joint.coupling is not None:
                    owners.setdefault(f"coupling {joint.coupling}", self.couplings[joint.coupling])
                elif joint.mimic is None:
                    owners[f"joint {joint.name}"] = joint
            return self._keep("_owners", tuple(owners.values()))

    @property
    def one_by_one(self) -> Self:
        """The robot whose joints and bodies can be accessed individually, even while a trace loops over them."""
        return self

    @property
    def mass(self) -> float:
        """Total mass, kg, including a fixed base's own."""
        # Masses that are inputs are symbols in a trace.
        return sum((inertia.mass for inertia in self.tree.I), 0.0)  # type: ignore[return-value]

    def rigid_inertia(self, body: str) -> Inertia:
        """The inertia of everything that moves rigidly with a body, about its origin and in its axes.

        That is the body and all that is fixed to it, directly or through others: one moving unit, or the whole fixed
        base. `robot.bodies[body].inertia` is the body's own.

        Raises:
            NameNotFoundError: If the robot has no such body.

        >>> import kinetree as kt
        >>> arm = kt.zoo.load("arm6")
        >>> loaded = arm.attach_body("payload", kt.solids.sphere(0.1, mass=2.0), "tool")
        >>> hand = list(arm.joints.values())[-1].child
        >>> round(loaded.rigid_inertia(hand).mass - loaded.bodies[hand].mass, 9)
        2.0
        """
        own = self.bodies[body]
        return own.placement.inverse.back(self.tree.I[own.slot])

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Acceleration of free fall, m/s²."""
        return self.tree.gravity.linear.components()  # type: ignore[return-value]

    @property
    def q_names(self) -> list[str]:
        """One name per coordinate of q."""
        try:
            return [*self._q_names]
        except AttributeError:
            return [*self._keep("_q_names", _flat_names(self, "q_names"))]

    @property
    def v_names(self) -> list[str]:
        """One name per degree of freedom of v."""
        try:
            return [*self._v_names]
        except AttributeError:
            return [*self._keep("_v_names", _flat_names(self, "v_names"))]

    @property
    def quaternions(self) -> dict[str, slice]:
        """Slices of the quaternions (x, y, z, w) in q, by joint; numbered if a joint has several."""
        return {
            joint.name if len(joint.kind.quaternions) == 1 else f"{joint.name}[{k}]": slice(start, start + 4)
            for joint in self.joints.values()
            for k, first in enumerate(joint.kind.quaternions)
            for start in (joint.q_start + first,)
        }

    @property
    def driven_joints(self) -> list[Joint]:
        """The joints that have drive parameters: all that move, including followers, except a floating base's.

        They have friction, springs and rotors whether or not they have a motor: that is `actuated`.
        """
        return list(self.joints.values())[int(self.floating_base) :]

    @property
    def driven_nv(self) -> int:
        """The number of degrees of freedom of `driven_joints`."""
        return sum(joint.kind.nv for joint in self.driven_joints)

    @property
    def actuated(self) -> NDArray[np.bool_]:
        """Whether each degree of freedom of v has a motor, (nv,), read-only; a floating base's have none.

        `kt.simulate` rejects forces on those without. See `kinetree docs drives`.

        >>> import kinetree as kt
        >>> kt.zoo.load("quadruped").actuated[:8].tolist()
        [False, False, False, False, False, False, True, True]
        """
        try:
            return self._actuated
        except AttributeError:
            flags = np.array([flag for owner in self.owners for flag in owner.actuated], dtype=np.bool_)
            flags.flags.writeable = False
            return self._keep("_actuated", flags)

    @property
    def selection_matrix(self) -> NDArray[np.float64]:
        """S (number of motors, nv), with τ = Sᵀ u for motor torques u, and u = S τ: the identity's `actuated` rows.

        >>> import kinetree as kt
        >>> kt.zoo.load("quadruped").selection_matrix.shape
        (12, 18)
        """
        motors = np.flatnonzero(self.actuated)
        S = np.zeros((len(motors), self.nv))
        S[np.arange(len(motors)), motors] = 1.0
        return S

    def check_actuation(self, tau: ArrayLike, name: str = "tau") -> None:
        """Raise unless tau (…, nv) is zero at every degree of freedom without a motor (`actuated`).

        Raises:
            ActuationError: the message names the entry, the joint, and a remedy.
            ShapeError, DTypeError: for a tau that is not (…, nv).

        >>> import kinetree as kt, numpy as np
        >>> robot = kt.zoo.load("quadruped")
        >>> robot.check_actuation(robot.selection_matrix.T @ np.ones(12))
        """
        array = vector(self, name, tau, self.nv)
        idle = np.flatnonzero(~self.actuated)
        if holds_symbols(array):
            refuse_symbols(
                f"whether {name} is zero where there is no motor (on_unactuated='error')",
                "multiply it by robot.actuated, or check the program's result outside",
                array[..., idle],
            )
            return
        wrong = array[..., idle] != 0.0
        if not wrong.any():
            return
        *sample, column = (int(k) for k in np.argwhere(wrong)[0])
        place = (*sample, int(idle[column]))
        raise ActuationError(f"{name}{list(place)} is {array[place]:g}, but {no_motor(self, place[-1])}")

    def neutral(self) -> NDArray[np.float64]:
        """The configuration at which every joint's coordinates are neutral, shape (nq,).

        The two sides of most joints coincide there. It may lie outside the limits; coordinates of couplings are zero.
        """
        values: list[float] = []
        for owner in self.owners:
            values.extend(owner.kind.neutral() if isinstance(owner, Joint) else (0.0,) * len(owner.coordinates))
        return np.array(values, dtype=np.float64)

    @property
    def lower(self) -> NDArray[np.float64]:
        """The lower limit of each coordinate of q, (nq,), read-only; −inf without a limit.

        These are the joints' own: limits of joints that follow others are ignored. Components of quaternions have none.
        A coupling's coordinate has those that its joints' limits place on it alone; limits that bind several of its
        coordinates together are not in the array. See `kinetree docs drives`.

        >>> import kinetree as kt, numpy as np
        >>> robot = kt.zoo.load("arm6")
        >>> middle = (robot.lower + robot.upper) / 2
        >>> bool((robot.lower <= robot.random(0)).all())
        True
        """
        return self._limit_arrays().lower

    @property
    def upper(self) -> NDArray[np.float64]:
        """The upper limit of each coordinate of q, (nq,), read-only; inf without a limit: like `lower`."""
        return self._limit_arrays().upper

    @property
    def velocity_limit(self) -> NDArray[np.float64]:
        """The largest speed of each degree of freedom, (nv,), read-only; inf without a limit.

        Of couplings, and of joints that follow others, as in `lower`.
        """
        return self._limit_arrays().velocity

    @property
    def effort_limit(self) -> NDArray[np.float64]:
        """The largest force of each degree of freedom's motor, (nv,), N·m or N, read-only; inf without a limit.

        Of couplings, and of joints that follow others, as in `lower`. A degree of freedom without a motor has its
        number too: `actuated` says which have one.

        >>> import kinetree as kt, numpy as np
        >>> robot = kt.zoo.load("arm6")
        >>> tau = np.clip(np.full(robot.nv, 1e6), -robot.effort_limit, robot.effort_limit)
        >>> bool(np.isfinite(tau).all())
        True
        """
        return self._limit_arrays().effort

    def _limit_arrays(self) -> LimitArrays:
        try:
            return self._limits
        except AttributeError:
            return self._keep("_limits", limit_arrays(self.owners, self.joints, self.nq, self.nv))

    def random(
        self, rng: np.random.Generator | int | None = None, size: int | Sequence[int] | None = None
    ) -> NDArray[np.float64]:
        """Random configurations within `lower` and `upper`: one of shape (nq,), or (size, nq) or (*size, nq).

        If a joint has no limits: an angle within half a turn, a displacement within a metre, any orientation.

        Args:
            rng: A seed, or a generator, which moves on; by default every call is different.
            size: How many, or a tuple of leading axes; by default one, without such an axis.

        Raises:
            OptionError: For anything else as a seed or size.

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("quadruped")
        >>> robot.random(0).shape, robot.random(0, size=1000).shape, robot.random(0, size=(2, 3)).shape
        ((19,), (1000, 19), (2, 3, 19))
        """
        try:
            rng = np.random.default_rng(rng)
        except (TypeError, ValueError):
            raise OptionError(f"random takes a seed (a whole number) or a generator, not {rng!r:.60}") from None
        if size is None:
            pieces = [joint.kind.random(rng, joint.limits.lower, joint.limits.upper) for joint in self.joints.values()]
            return self._within_couplings(np.array(self.tree.joined(pieces, "nq"), dtype=np.float64))
        shape = _leading_axes(size)
        count = math.prod(shape)
        batches = [
            joint.kind.random_batch(rng, joint.limits.lower, joint.limits.upper, count)
            for joint in self.joints.values()
        ]
        columns: list[Any] = self.tree.joined([[*batch.T] for batch in batches], "nq")
        q = np.stack(columns, axis=-1) if columns else np.empty((count, 0))
        return self._within_couplings(q).reshape(*shape, self.nq)

    def _within_couplings(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same q; values drawn for the joints of a coupling can exceed the limits of its own coordinates."""
        for coupling in self.couplings.values():
            own = coupling.q_slice
            q[..., own] = np.clip(q[..., own], self.lower[own], self.upper[own])
        return q

    def integrate(self, q: ArrayLike, v: ArrayLike) -> NDArray[np.float64]:
        """Where q (…, nq) moves in unit time at the constant velocity v (…, nv), on the configuration manifold.

        Pass `v * dt` for a step of dt seconds. The inverse of `difference`. Leading axes broadcast.

        >>> import kinetree as kt, numpy as np
        >>> robot = kt.zoo.load("double_pendulum")
        >>> robot.integrate(robot.neutral(), np.array([0.1, 0.2])).tolist()
        [0.1, 0.2]
        """
        q, v = self._configuration("q", q), vector(self, "v", v, self.nv)
        return _by_owner(self, "integrate", (q, "q"), (v, "v"))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> NDArray[np.float64]:
        """The constant velocity (…, nv) that takes q0 (…, nq) to q1 (…, nq) in unit time.

        The inverse of `integrate`. Leading axes broadcast.
        """
        q0, q1 = self._configuration("q0", q0), self._configuration("q1", q1)
        return _by_owner(self, "difference", (q0, "q"), (q1, "q"))

    def check_configuration(self, q: ArrayLike, name: str = "q") -> None:
        """Raise unless q (…, nq) is a configuration: finite numbers, and no quaternion of zero length."""
        refuse_symbols(f"whether {name} is a configuration", "check it before it is given to the program", q)
        self._configuration(name, q)

    def _configuration(self, name: str, q: ArrayLike) -> NDArray[np.float64]:
        array = vector(self, name, q, self.nq)
        if holds_symbols(array):
            return array
        finite = np.isfinite(array)
        if not finite.all():
            where = tuple(int(k) for k in np.argwhere(~finite)[0])
            coordinate = self.q_names[where[-1]]
            raise ConfigurationError(f"{name}{list(where)} ({coordinate}) is {array[where]}: a configuration is finite")
        refuse_zero_quaternions(array, self.quaternions, name)
        return array


def _leading_axes(size: int | Sequence[int]) -> tuple[int, ...]:
    try:
        if isinstance(size, str | bytes):
            raise TypeError
        given = tuple(size) if isinstance(size, Iterable) else (size,)
        shape = tuple(operator.index(n) for n in given)
        if any(isinstance(n, bool | np.bool_) for n in given) or any(n < 0 for n in shape):
            raise TypeError
    except TypeError:
        raise OptionError(f"size is how many, such as 1000, or a tuple of lengths, not {size!r:.60}") from None
    return shape


def no_motor(model: Robot, column: int) -> str:
    """The end of a message about a force at a degree of freedom that has no motor."""
    owner = next(owner for owner in model.owners if column < owner.v_slice.stop)
    dof = f"{model.v_names[column]!r} of {model.name!r} has no motor"
    outside = (
        "give 0 there, and forces from outside as f_ext, by frame name, kt.dynamics.WrenchOn or kt.dynamics.ForceOn"
    )
    if model.floating_base and column < next(iter(model.joints.values())).v_slice.stop:
        return f"{dof}, as the base floats; {outside}"
    return f"{dof}; {outside}; or give it one: robot.with_actuation({{{owner.name!r}: True}})"


def refuse_zero_quaternions(q: NDArray[Any], quaternions: Mapping[str, slice], name: str = "q") -> None:
    """Raise if a quaternion in q (…, nq) has no direction; `quaternions` as in `Model.quaternions`.

    Its squared length must be usable as a divisor. NaN and infinity pass: they stay in their sample.
    """
    tiny = np.finfo(q.dtype).tiny
    for joint, part in quaternions.items():
        x = q[..., part]
        with np.errstate(over="ignore", under="ignore"):
            squared = np.einsum("...i,...i", x, x)
        if ((squared >= tiny) & (squared < np.inf)).all():
            continue
        wrong = (squared < tiny) | (np.isinf(squared) & np.isfinite(x).all(axis=-1))
        if wrong.any():
            index = tuple(int(k) for k in np.argwhere(wrong)[0])
            size = "zero" if not x[index].any() else "too large or too small to normalise"
            where = "".join(f"[{k}]" for k in index)
            owner = next((what for what in ("shape", "body") if name.startswith(f"{what}.")), "joint")
            raise ConfigurationError(
                f"{name}{where}: the quaternion of {owner} {joint!r} ({name}[…, {part.start}:{part.stop}]) is {size}, "
                "which is not an orientation; the identity is (0, 0, 0, 1)"
            )


def _flat_names(model: Robot, attribute: str) -> tuple[str, ...]:
    names: list[str] = []
    for owner in model.owners:
        suffixes = getattr(owner.kind, attribute) if isinstance(owner, Joint) else owner.coordinates
        names += [f"{owner.name}.{suffix}" if suffix else owner.name for suffix in suffixes]
    return tuple(names)


def vector(model: Robot, name: str, x: ArrayLike, n: int) -> NDArray[np.float64]:
    return samples(name, x, (n,), repr(model.name)).astype(np.float64, copy=False)


def _by_owner(model: Robot, method: str, *arguments: tuple[NDArray[np.float64], str]) -> NDArray[np.float64]:
    """Call a method of each joint's kind with a list of arrays, one per coordinate, and stack the results."""
    try:
        shape = np.broadcast_shapes(*(array.shape[:-1] for array, _ in arguments))
    except ValueError:
        shapes = " and ".join(str(array.shape) for array, _ in arguments)
        raise ShapeError(f"the leading axes of {shapes} do not broadcast together") from None
    spaces = [space for _, space in arguments]
    if any(holds_symbols(array) for array, _ in arguments):
        from kinetree.symbolic import by_sample

        cores = [(model.size("n" + space),) for space in spaces]
        into = (model.nq if method == "integrate" else model.nv,)
        convert = partial(_columns, model, method, spaces)
        inside: NDArray[np.float64] = by_sample(convert, [x for x, _ in arguments], cores, into)
        return inside
    numbers = [[array[..., k] for k in range(array.shape[-1])] for array, _ in arguments]
    columns = _columns(model, method, spaces, *numbers)
    result = np.empty((*shape, len(columns)))
    for k, column in enumerate(columns):
        result[..., k] = column
    return result


def _columns(model: Robot, method: str, spaces: Sequence[str], *numbers: Sequence[Any]) -> list[Any]:
    """The results of a method of each joint's kind, one number or array per coordinate."""
    columns: list[Any] = []
    for owner in model.owners:
        own = {"q": owner.q_slice, "v": owner.v_slice}
        kind = owner.kind if isinstance(owner, Joint) else _FLAT
        columns.extend(getattr(kind, method)(*(x[own[space]] for x, space in zip(numbers, spaces, strict=True))))
    return columns


_FLAT = Prismatic((0.0, 0.0, 1.0))
"""Coordinates of couplings move like those of any joint with v as the rates of q."""
