"""Whole states in another library's layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import (
    ConfigurationError,
    DTypeError,
    ModelError,
    NameNotFoundError,
    OptionError,
    listed,
    nearest_names,
)
from kinetree.inputs import common_axes, holds_symbols, samples
from kinetree.layouts.bases import Basis
from kinetree.layouts.coordinates import Coordinates, Numbers
from kinetree.layouts.table import LIBRARIES, Written, written
from kinetree.model import Coupling, Joint, Model, check_robot
from kinetree.model.robot import refuse_zero_quaternions
from kinetree.records import record
from kinetree.symbolic import by_sample

__all__ = ["Layout"]

Array = NDArray[Any]


@record(frozen=True, slots=True)
class _Part:
    """One joint or one coupling: where its numbers are in our arrays and in theirs."""

    name: str
    q: slice
    v: slice
    their_q: list[int]
    their_v: slice
    coordinates: Coordinates
    basis: Basis


class Layout:
    """Converts a robot's q, v, q̈ and τ to another library's layout, and back.

    Args:
        robot: The robot.
        library: "pinocchio", "mujoco", "drake", "rbdl" or "dart"; "dart-6.16" for DART up to 6.16, whose free joint
            has its velocity in other axes than that of 6.17 and later.
        joint_order: The names of all joints that have coordinates, in the order of the library's own model; a coupling
            is listed by its name. By default the order in which the library itself puts them when it reads the robot's
            URDF: depth first, the joints on one body by name in Pinocchio, RBDL and DART, as in the file in MuJoCo and
            Drake. Needed only for models that were made in another way.

    Methods with `_to` take kinetree's numbers and return the library's; those with `_from` take the library's,
    including q and v, and return kinetree's. Arrays are (…, n), leading axes broadcast, and float32 stays float32. The
    two methods of a pair are inverses up to rounding; an angle that is written as its cosine and sine comes back within
    half a turn, and a quaternion that is written as angles may come back with another sign and length. Velocities,
    accelerations and forces depend on q where the two use different axes: forces keep their power, accelerations are
    the derivatives of the library's v. Joints that follow others have no coordinates in either.

    Raises:
        OptionError: For a library that is not one of these.
        NameNotFoundError: If `joint_order` names a joint that the robot does not have.
        ModelError: If the order does not name each joint once, or a joint's kind has no counterpart.
        DTypeError: If `joint_order` is not a list.
        ShapeError, DTypeError, ConfigurationError: From the methods, for arrays that do not fit.

    Source: `kinetree docs layouts` lists the joint that each kind corresponds to in each library.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("quadruped")
    >>> mujoco = kt.interop.Layout(robot, "mujoco")
    >>> mujoco.q_names[3:7]
    ['root_joint.qw', 'root_joint.qx', 'root_joint.qy', 'root_joint.qz']
    >>> qpos = mujoco.q_to(robot.neutral())
    >>> qpos[:7].tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    >>> bool((mujoco.q_from(qpos) == robot.neutral()).all())
    True
    """

    def __init__(self, robot: Model, library: str, *, joint_order: Sequence[str] | None = None) -> None:
        self.robot: Model = check_robot(robot)
        if not isinstance(library, str) or library not in LIBRARIES:
            *most, last = map(repr, LIBRARIES)
            raise OptionError(f"library must be {', '.join(most)} or {last}, not {library!r:.60}")
        self.library = library
        order = owners_as_read(robot, library) if joint_order is None else owners_in_order(robot, joint_order)
        self.joint_order: tuple[str, ...] = tuple(owner.name for owner in order)
        """The order of the joints in the library."""
        ways = [_written(robot, owner, library) for owner in order]
        early = sum(len(way.coordinates.names) - len(way.coordinates.late) for way in ways)
        self._parts: list[_Part] = []
        q_end = v_end = 0
        for owner, (coordinates, basis) in zip(order, ways, strict=True):
            places = []
            for k in range(len(coordinates.names)):
                if k in coordinates.late:
                    places.append(early)
                    early += 1
                else:
                    places.append(q_end)
                    q_end += 1
            own_v = slice(v_end, v_end + len(basis.names))
            v_end = own_v.stop
            self._parts.append(_Part(owner.name, owner.q_slice, owner.v_slice, places, own_v, coordinates, basis))
        self.nq = early
        """The number of coordinates of the library's q."""
        self.nv = v_end
        """The number of degrees of freedom of the library's v, the same as kinetree's."""

    def __repr__(self) -> str:
        return f"Layout of {self.robot.name!r} in {LIBRARIES[self.library]}: nq = {self.nq}, nv = {self.nv}"

    @property
    def q_names(self) -> list[str]:
        """A name for each coordinate of the library's q."""
        names = [""] * self.nq
        for part in self._parts:
            for k, name in zip(part.their_q, part.coordinates.names, strict=True):
                names[k] = f"{part.name}.{name}" if name else part.name
        return names

    @property
    def v_names(self) -> list[str]:
        """A name for each degree of freedom of the library's v."""
        return [f"{part.name}.{name}" if name else part.name for part in self._parts for name in part.basis.names]

    def q_to(self, q: ArrayLike) -> Array:
        """The library's q from kinetree's (…, nq)."""
        return self._result(self._ours("q_to", q=q), self.nq, lambda p, x: p.coordinates.to(x["q"]), "their_q")

    def q_from(self, q: ArrayLike) -> Array:
        """Kinetree's q from the library's (…, layout.nq)."""
        given = self._theirs("q_from", q=q)
        return self._result(given, self.robot.nq, lambda p, x: p.coordinates.back(x["q"]), "q", theirs=True)

    def v_to(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The library's v from kinetree's (…, nv), at kinetree's q."""
        given = self._ours("v_to", q=q, v=v)
        return self._result(given, self.nv, lambda p, x: p.basis.to(x["q"], x["v"]), "their_v")

    def v_from(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Kinetree's v from the library's (…, nv), at the library's q."""
        given = self._theirs("v_from", q=q, v=v)

        def convert(part: _Part, x: dict[str, Numbers]) -> Numbers:
            return part.basis.back(part.coordinates.back(x["q"]), x["v"])

        return self._result(given, self.nv, convert, "v", theirs=True)

    def qdd_to(self, q: ArrayLike, v: ArrayLike, qdd: ArrayLike) -> Array:
        """The derivative of the library's v from that of kinetree's, q̈ (…, nv), at kinetree's q and v."""
        given = self._ours("qdd_to", q=q, v=v, qdd=qdd)

        def convert(part: _Part, x: dict[str, Numbers]) -> Numbers:
            return _sum(part.basis.to(x["q"], x["qdd"]), part.basis.drift(x["q"], x["v"]), 1.0)

        return self._result(given, self.nv, convert, "their_v")

    def qdd_from(self, q: ArrayLike, v: ArrayLike, qdd: ArrayLike) -> Array:
        """q̈, the derivative of kinetree's v, from that of the library's (…, nv), at the library's q and v."""
        given = self._theirs("qdd_from", q=q, v=v, qdd=qdd)

        def convert(part: _Part, x: dict[str, Numbers]) -> Numbers:
            ours = part.coordinates.back(x["q"])
            drift = part.basis.drift(ours, part.basis.back(ours, x["v"]))
            return part.basis.back(ours, _sum(x["qdd"], drift, -1.0))

        return self._result(given, self.nv, convert, "v", theirs=True)

    def tau_to(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """The library's joint forces from kinetree's (…, nv), at kinetree's q: with its v, the power is the same."""
        given = self._ours("tau_to", q=q, tau=tau)
        return self._result(given, self.nv, lambda p, x: p.basis.force_to(x["q"], x["tau"]), "their_v")

    def tau_from(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Kinetree's joint forces from the library's (…, nv), at the library's q."""
        given = self._theirs("tau_from", q=q, tau=tau)

        def convert(part: _Part, x: dict[str, Numbers]) -> Numbers:
            return part.basis.force_back(part.coordinates.back(x["q"]), x["tau"])

        return self._result(given, self.nv, convert, "v", theirs=True)

    def _ours(self, method: str, **given: ArrayLike) -> _Arrays:
        arrays = _Arrays.checked(self, method, self.robot.nq, f"{self.robot.name!r}", given)
        if not holds_symbols(arrays.arrays["q"]):
            refuse_zero_quaternions(arrays.arrays["q"], self.robot.quaternions)
        return arrays

    def _theirs(self, method: str, **given: ArrayLike) -> _Arrays:
        where = f"{self.robot.name!r} in the layout of {LIBRARIES[self.library]}"
        arrays = _Arrays.checked(self, method, self.nq, where, given)
        for part in () if holds_symbols(arrays.arrays["q"]) else self._parts:
            for group in part.coordinates.directions:
                _refuse_zero(arrays.arrays["q"], part, [part.their_q[k] for k in group], group)
        return arrays

    def _result(
        self,
        given: _Arrays,
        n: int,
        convert: Callable[[_Part, dict[str, Numbers]], Numbers],
        into: str,
        theirs: bool = False,
    ) -> Array:
        def converted(*numbers: Sequence[Any]) -> list[Any]:
            """The entries of the result, from those of each argument."""
            entries: list[Any] = [0.0] * n
            whole = dict(zip(given.arrays, numbers, strict=True))
            for part in self._parts:
                own = {
                    name: _at(x, getattr(part, ("their_" if theirs else "") + ("q" if name == "q" else "v")))
                    for name, x in whole.items()
                }
                place = getattr(part, into)
                places = place if isinstance(place, list) else range(place.start, place.stop)
                for k, x in zip(places, convert(part, own), strict=True):
                    entries[k] = x
            return entries

        arrays = list(given.arrays.values())
        if any(map(holds_symbols, arrays)):
            inside: Array = by_sample(converted, arrays, [(x.shape[-1],) for x in arrays], (n,), np.dtype(given.dtype))
            return inside
        result = np.empty((*given.shape, n), dtype=given.dtype)
        for k, x in enumerate(converted(*map(_numbers, arrays))):
            result[..., k] = x
        return result


@record(frozen=True, slots=True)
class _Arrays:
    """The arguments of a method, in double precision."""

    arrays: dict[str, Array]
    shape: tuple[int, ...]
    dtype: Any

    @staticmethod
    def checked(layout: Layout, method: str, nq: int, where: str, given: dict[str, ArrayLike]) -> _Arrays:
        arrays = {}
        single = True
        for name, x in given.items():
            n = nq if name == "q" else layout.nv
            array = samples(f"Layout.{method}: {name}", x, (n,), where)
            single = single and array.dtype == np.float32
            arrays[name] = array.astype(np.float64, copy=False)
        shape = common_axes(f"Layout.{method}", {name: array.shape[:-1] for name, array in arrays.items()})
        return _Arrays(arrays, shape, np.float32 if single else np.float64)


def _numbers(array: Array) -> Numbers:
    """One array per entry, even for a single sample: `kinetree.expr` does not take NumPy scalars."""
    rows = np.atleast_2d(array)
    return [rows[..., k] for k in range(rows.shape[-1])]


def _at(numbers: Sequence[Any], places: slice | list[int]) -> Numbers:
    """The numbers at these places."""
    return [numbers[k] for k in places] if isinstance(places, list) else list(numbers[places])


def _sum(a: Numbers, b: Numbers, sign: float) -> Numbers:
    return [a_k + sign * b_k for a_k, b_k in zip(a, b, strict=True)]


def _written(robot: Model, owner: Joint | Coupling, library: str) -> Written:
    if isinstance(owner, Coupling):
        return Written(Coordinates.unchanged(owner.coordinates), Basis(owner.coordinates))
    form = written(owner.kind, library)
    if form is None:
        raise ModelError(
            f"joint {owner.name!r} of {robot.name!r} ({owner.kind.description}) has no counterpart in "
            f"{LIBRARIES[library]} that kinetree knows: its v are not the rates of its q, and how that library would "
            "write them is not in kinetree's table; convert its numbers by hand, or give the joint a kind that is"
        )
    return form


def _refuse_zero(q: Array, part: _Part, places: list[int], group: tuple[int, ...]) -> None:
    """Raise if numbers that stand for a direction cannot be normalised; NaN and infinity stay in their sample."""
    x = q[..., places]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squared = np.einsum("...i,...i", x, x)
    wrong = (squared < np.finfo(x.dtype).tiny) | (np.isinf(squared) & np.isfinite(x).all(axis=-1))
    if wrong.any():
        index = tuple(int(k) for k in np.argwhere(wrong)[0])
        size = "are too large or too small to normalise" if x[index].any() else "are all zero"
        names = ", ".join(part.coordinates.names[k] for k in group)
        where = "".join(f"[{k}]" for k in index)
        raise ConfigurationError(f"q{where}: {names} of joint {part.name!r} {size}, which is not an orientation")


SORTED_SIBLINGS = frozenset(["dart", "dart-6.16", "pinocchio", "rbdl"])
"""The libraries that go through a body's joints by name, as the URDF parser they share does; others by the file."""


def owners_as_read(robot: Model, library: str) -> list[Joint | Coupling]:
    """The joints and couplings that have coordinates, in the order of this library's model of the robot's URDF.

    All of them go depth first through the bodies, fixed joints included; merging bodies does not change the order. A
    coupling comes where the first of its joints does.
    """
    below: dict[str, list[str]] = {}
    child = {spec.name: spec.child for spec in robot.parts.joints}
    for spec in robot.parts.joints:
        below.setdefault(spec.parent, []).append(spec.name)
    if library in SORTED_SIBLINGS:
        for names in below.values():
            names.sort()
    owner_of: dict[str, Joint | Coupling] = {}
    for owner in robot.owners:
        owner_of.update(dict.fromkeys(owner.joints if isinstance(owner, Coupling) else (owner.name,), owner))
    owners = {owner.name: owner for owner in robot.owners[: int(robot.floating_base)]}
    ahead = below.get(robot.root, [])[::-1]
    while ahead:
        name = ahead.pop()
        if name in owner_of:
            owners.setdefault(owner_of[name].name, owner_of[name])
        ahead += below.get(child[name], [])[::-1]
    return list(owners.values())


def owners_in_order(robot: Model, order: Sequence[str]) -> list[Joint | Coupling]:
    """The joints and couplings that have coordinates, in the order of these names."""
    try:
        if isinstance(order, str | bytes | Set):
            raise TypeError
        names = list(order)
    except TypeError:
        raise DTypeError(f"joint_order is a list of names, not {order!r:.60}") from None
    owners = {owner.name: owner for owner in reversed(robot.owners)}
    in_order: list[Joint | Coupling] = []
    for name in names:
        if not isinstance(name, str) or name not in owners:
            raise _no_owner(robot, name, reversed(owners))
        if owners[name] in in_order:
            raise ModelError(f"joint_order names {name!r} twice; list each joint once")
        in_order.append(owners[name])
    missing = [repr(owner.name) for owner in robot.owners if owner not in in_order]
    if missing:
        left_out = listed(missing, most=5)
        raise ModelError(f"joint_order leaves out {left_out}; it must name every joint that has coordinates")
    return in_order


def _no_owner(robot: Model, name: object, owners: Iterable[str]) -> Exception:
    joint = robot.joints[name] if isinstance(name, str) and name in robot.joints else None
    if joint is None:
        near = nearest_names(str(name), owners)
        return NameNotFoundError(f"joint_order names {name!r:.80}, but {robot.name!r} has no such joint: {near}")
    if joint.mimic is not None:
        why = f"mimics {joint.mimic.joint!r} and has no coordinates of its own; leave it out"
    else:
        why = f"is part of the coupling {joint.coupling!r}; name that instead, once"
    return ModelError(f"joint_order names {name!r}, which {why}")
