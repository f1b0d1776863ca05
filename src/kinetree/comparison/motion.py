"""Two robots at random states: placements, mass matrices, bias and gravity forces, joint for joint."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from kinetree.comparison.own import OwnSide
from kinetree.comparison.result import Difference
from kinetree.comparison.side import Array, Side, State, UnfollowableError, inverse
from kinetree.comparison.structure import Pair
from kinetree.records import record

__all__ = ["motion"]

_MATRICES = ("mass matrix", "bias forces", "gravity forces")
_FLOOR = 1e-12
"""The part of the largest entry of M that counts as a diagonal entry at least, where a joint moves no inertia."""


@record(frozen=True, slots=True, eq=False)
class _Both:
    """One state of both; matrices and forces belong to the same coordinates, `names`."""

    q: Array
    names: list[str]
    here: State
    there: State
    ours: tuple[Array, Array, Array]
    theirs: tuple[Array, Array, Array]


def motion(pair: Pair, samples: int, seed: int, reported: Collection[str]) -> Iterator[Difference]:
    """Differences at random states of the joints that both have; `reported` are bodies with a known difference."""
    problem = ""
    for driver in (pair.ours, pair.theirs):
        if not isinstance(driver, OwnSide):
            continue
        try:
            states = _states(pair, driver, samples, seed)
        except UnfollowableError as error:
            problem = problem or str(error)
            continue
        yield from _compared(pair, states, reported)
        return
    for quantity in _MATRICES:
        pair.tally.fail(quantity, problem)


def _states(pair: Pair, driver: OwnSide, samples: int, seed: int) -> list[_Both]:
    """Random states of one side's own coordinates, and the same states of the other."""
    other: Side = pair.theirs if driver is pair.ours else pair.ours
    common = [name for name, kind in driver.kinds.items() if other.accepts(name, kind)]
    G, own_rows = driver.spread, driver.rows()
    is_common = np.zeros(len(G), dtype=bool)
    for name in common:
        is_common[own_rows[name]] = True
    columns = np.flatnonzero(~G[~is_common].any(axis=0) & G[is_common].any(axis=0))
    ours, others = G[is_common][:, columns], _rows(other, common)
    P = np.linalg.lstsq(others, ours)[0] if others.size else np.zeros((others.shape[1], len(columns)))
    if not np.allclose(others @ P, ours, rtol=0.0, atol=1e-9 * max(1.0, float(np.abs(ours).max(initial=0.0)))):
        names = [name for name in common if other.joints[name].follows != driver.joints[name].follows]
        raise UnfollowableError(
            f"{', '.join(map(repr, names))} follow other joints, or in another way, in {other.title}"
        )
    rng = np.random.default_rng(seed)
    configurations = driver.robot.random(rng, size=samples)
    velocities = rng.normal(size=(samples, driver.robot.nv))
    neutral = driver.robot.neutral()
    idle = [k for k in range(driver.robot.nv) if k not in set(columns.tolist())]
    for owner in driver.robot.owners:
        if set(range(owner.v_slice.start, owner.v_slice.stop)) & set(idle):
            configurations[:, owner.q_slice] = neutral[owner.q_slice]
    velocities[:, idle] = 0.0
    return [
        _both(pair, driver, other, common, columns, P, q, v) for q, v in zip(configurations, velocities, strict=True)
    ]


def _both(
    pair: Pair, driver: OwnSide, other: Side, common: list[str], columns: Any, P: Any, q: Array, v: Array
) -> _Both:
    ours = driver.own_state(q, v)
    qs, vs = driver.joint_coordinates(q, v)
    state = {name: qs[name] for name in common}, {name: vs[name] for name in common}
    theirs = other.state(driver.kinds, *state)
    M = ours.mass_matrix[np.ix_(columns, columns)], ours.bias_forces[columns], ours.gravity_forces[columns]
    N = P.T @ theirs.mass_matrix @ P, P.T @ theirs.bias_forces, P.T @ theirs.gravity_forces
    names = [driver.robot.v_names[k] for k in columns]
    if driver is pair.ours:
        return _Both(q, names, ours, theirs, M, N)
    return _Both(q, names, theirs, ours, N, M)


def _rows(side: Side, joints: list[str]) -> Array:
    rows = side.rows()
    picked = [k for name in joints for k in range(rows[name].start, rows[name].stop)]
    return side.spread[picked]


def _compared(pair: Pair, states: list[_Both], reported: Collection[str]) -> Iterator[Difference]:
    """Tally all states, and report where each quantity is worst if it differs."""
    for state in states:
        _tally_placements(pair, state)
        M, N = state.ours[0], state.theirs[0]
        if not M.size:
            continue
        diagonal = np.maximum(np.diag(M), np.diag(N))
        unit = np.sqrt(np.maximum(diagonal, _FLOOR * float(diagonal.max())))
        unit = np.where(unit > 0.0, unit, 1.0)
        _tally(pair, "mass matrix", np.abs(M - N) / np.outer(unit, unit), state.names)
        for k, quantity in ((1, "bias forces"), (2, "gravity forces")):
            a, b = state.ours[k] / unit, state.theirs[k] / unit
            scale = max(float(np.abs(a).max()), float(np.abs(b).max()), float(unit.max()))
            _tally(pair, quantity, np.abs(a - b) / scale, state.names)
    yield from _first_moved(pair, states, reported)
    for quantity in _MATRICES:
        error, where = pair.tally.worst(quantity)
        if error > pair.tolerance:
            yield _of_matrix(pair, quantity, error, where)


def _tally(pair: Pair, quantity: str, errors: Array, names: list[str]) -> None:
    place = np.unravel_index(int(np.argmax(np.where(np.isnan(errors), np.inf, errors))), errors.shape)
    where = ", ".join(repr(names[k]) for k in dict.fromkeys(int(k) for k in place))
    pair.tally.add(quantity, float(errors[place]), where)


def _of_matrix(pair: Pair, quantity: str, error: float, where: str) -> Difference:
    remark = pair.theirs.remarks.get(quantity, "")
    reason = f"is off by {error:.2g} of its scale" + (f": {remark}" if remark else "")
    return Difference("", f"{quantity} at {where}", quantity, "", "", reason)


def _tally_placements(pair: Pair, state: _Both) -> None:
    for name, T in state.here.placements.items():
        if name in state.there.placements:
            pair.tally.add("placements", _apart(T, state.there.placements[name], pair.size), f"body {name!r}")


def _first_moved(pair: Pair, states: list[_Both], reported: Collection[str]) -> Iterator[Difference]:
    """The first body that is at its place in the neutral configuration and elsewhere in another."""
    for name, joint in pair.ours.joints.items():
        theirs = pair.theirs.joints.get(name)
        if theirs is None or joint.child in reported or joint.child != theirs.child or joint.parent != theirs.parent:
            continue
        relative: Callable[[State], Array] = lambda state, joint=joint: _relative(state, joint.parent, joint.child)  # type: ignore[misc]  # noqa: E731
        for state in states:
            if joint.child not in state.there.placements or (
                joint.parent and joint.parent not in state.there.placements
            ):
                continue
            error = _apart(relative(state.here), relative(state.there), pair.size)
            if error > pair.tolerance:
                why = f"carries its body elsewhere at the same coordinates, by {error:.2g} of the robot's size or rad"
                yield Difference(joint.child, f"joint {name!r}", "motion", "", "", why)
                return


def _relative(state: State, parent: str, child: str) -> Array:
    T = state.placements[child]
    return inverse(state.placements[parent]) @ T if parent else T


def _apart(A: Array, B: Array, size: float) -> float:
    return max(float(np.linalg.norm(A[:3, 3] - B[:3, 3])) / size, float(np.abs(A[:3, :3] - B[:3, :3]).max()))
