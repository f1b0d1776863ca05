"""The robot's own coordinates: places in q and v, and how those of followers and couplings depend on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.errors import ModelError
from kinetree.joints import Fixed
from kinetree.model.checks.parts import hint
from kinetree.model.elements import Coupling
from kinetree.model.problems import STRICT, Problems
from kinetree.model.specs import CouplingSpec, JointSpec, fault, shortest
from kinetree.records import record
from kinetree.tree.coordinate_map import CoordinateMap, Row

__all__ = ["Layout", "check_couplings"]

_DEPENDENT = 1e-9
"""Columns of a coupling are dependent if their smallest singular value is below this fraction of the largest."""


@record(frozen=True, slots=True)
class Layout:
    """Places of the coordinates of each joint and coupling."""

    starts: dict[str, tuple[int, int]]
    """(q_start, v_start) of each joint; those of its leader for a follower without coordinates."""
    couplings: dict[str, Coupling]
    coupling_of: dict[str, str]
    """The coupling that a joint takes part in."""
    map: CoordinateMap | None
    """None if all joints have coordinates of their own."""

    @staticmethod
    def of(joints: Sequence[JointSpec], couplings: Sequence[CouplingSpec]) -> Layout:
        """The layout for joints in the order of their slots."""
        specs = {spec.name: spec for spec in joints}
        coupled = {name: spec for spec in couplings for name in spec.joints}
        starts: dict[str, tuple[int, int]] = {}
        made: dict[str, Coupling] = {}
        nq = nv = 0
        for joint in joints:
            coupling = coupled.get(joint.name)
            if coupling is not None:
                if coupling.name not in made:
                    motors = (True,) * len(coupling.coordinates) if coupling.actuated is None else coupling.actuated
                    made[coupling.name] = Coupling(
                        coupling.name, coupling.joints, coupling.matrix, coupling.offset, coupling.coordinates, nq, nv,
                        motors,
                    )  # fmt: skip
                    nq, nv = nq + len(coupling.coordinates), nv + len(coupling.coordinates)
                starts[joint.name] = made[coupling.name].q_start, made[coupling.name].v_start
            elif joint.mimic is None:
                starts[joint.name] = nq, nv
                nq, nv = nq + joint.kind.nq, nv + joint.kind.nv
        of = {name: spec.name for name, spec in coupled.items()}
        if not coupled and len(starts) == len(joints):
            return Layout(starts, made, of, None)
        return Layout(starts, made, of, _map(joints, specs, made, of, starts, nq, nv))


def _map(
    joints: Sequence[JointSpec],
    specs: Mapping[str, JointSpec],
    couplings: Mapping[str, Coupling],
    coupling_of: Mapping[str, str],
    starts: dict[str, tuple[int, int]],
    nq: int,
    nv: int,
) -> CoordinateMap:
    """The map; the places of followers are added to `starts`."""
    rows: dict[str, tuple[list[Row], list[float], list[Row]]] = {}
    q_back: list[Row] = [()] * nq
    v_back: list[Row] = [()] * nv
    first_q = first_v = 0  # among the coordinates of all joints
    place: dict[str, tuple[int, int]] = {}
    for joint in joints:
        place[joint.name] = first_q, first_v
        kind = joint.kind
        if joint.mimic is None and joint.name not in coupling_of:
            q, v = starts[joint.name]
            rows[joint.name] = _ones(q, kind.nq), [0.0] * kind.nq, _ones(v, kind.nv)
            q_back[q : q + kind.nq] = _ones(first_q, kind.nq)
            v_back[v : v + kind.nv] = _ones(first_v, kind.nv)
        first_q, first_v = first_q + kind.nq, first_v + kind.nv
    for coupling in couplings.values():
        _add_coupling(coupling, specs, place, rows, q_back, v_back)
    for joint in joints:
        _follow(joint, specs, rows, starts)
    ordered = [rows[joint.name] for joint in joints]
    return CoordinateMap(
        nq,
        nv,
        tuple(row for q_rows, _, _ in ordered for row in q_rows),
        tuple(x for _, offset, _ in ordered for x in offset),
        tuple(row for _, _, v_rows in ordered for row in v_rows),
        tuple(q_back),
        tuple(v_back),
    )


def _add_coupling(
    coupling: Coupling,
    specs: Mapping[str, JointSpec],
    place: Mapping[str, tuple[int, int]],
    rows: dict[str, tuple[list[Row], list[float], list[Row]]],
    q_back: list[Row],
    v_back: list[Row],
) -> None:
    q_places, v_places = [], []
    k = 0
    for name in coupling.joints:
        n = specs[name].kind.nq
        part, offset = coupling.matrix[k : k + n], coupling.offset[k : k + n]
        rows[name] = (
            [_sparse(row, coupling.q_start) for row in part],
            list(offset),
            [_sparse(row, coupling.v_start) for row in part],
        )
        q_places += [place[name][0] + j for j in range(n)]
        v_places += [place[name][1] + j for j in range(n)]
        k += n
    for c, row in enumerate(left_inverse(coupling.matrix)):
        q_back[coupling.q_start + c] = tuple((q_places[j], x) for j, x in enumerate(row) if x)
        v_back[coupling.v_start + c] = tuple((v_places[j], x) for j, x in enumerate(row) if x)


def _follow(
    joint: JointSpec,
    specs: Mapping[str, JointSpec],
    rows: dict[str, tuple[list[Row], list[float], list[Row]]],
    starts: dict[str, tuple[int, int]],
) -> None:
    """Add the rows of a follower, and of those it follows, the leader first."""
    waiting = [joint]
    while waiting[-1].name not in rows:
        mimic = waiting[-1].mimic
        assert mimic is not None
        waiting.append(specs[mimic.joint])
    for follower in reversed(waiting[:-1]):
        assert follower.mimic is not None
        multiplier, leader = follower.mimic.multiplier, follower.mimic.joint
        (q_row,), (offset,), (v_row,) = rows[leader]
        rows[follower.name] = (
            [_scaled(q_row, multiplier)],
            [multiplier * offset + follower.mimic.offset],
            [_scaled(v_row, multiplier)],
        )
        starts[follower.name] = starts[leader]


def _ones(first: int, count: int) -> list[Row]:
    return [((first + k, 1.0),) for k in range(count)]


def _scaled(row: Row, factor: float) -> Row:
    return tuple((k, weight * factor) for k, weight in row if weight * factor)


def _sparse(row: Sequence[float], first: int) -> Row:
    return tuple((first + k, float(x)) for k, x in enumerate(row) if x)


def left_inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """L with L G = 1; if a row of G is a row of the identity, L takes that coordinate itself."""
    G = np.array(matrix, dtype=np.float64)
    rows: list[list[float]] = []
    for unit in np.eye(G.shape[1]):
        same = np.flatnonzero((unit == G).all(axis=1))
        if not len(same):
            return [list(map(float, row)) for row in np.linalg.pinv(G)]
        rows.append([float(k == same[0]) for k in range(len(G))])
    return rows


def check_couplings(
    couplings: Sequence[CouplingSpec], joints: Mapping[str, JointSpec], problems: Problems = STRICT
) -> None:
    """Check couplings: their joints exist, move and have plain coordinates of their own; the matrix has as many rows as
    these have, and independent columns."""
    taken: dict[str, str] = {}
    for spec in couplings:
        with problems.of():
            _check_coupling(spec, joints, taken)


def _check_coupling(spec: CouplingSpec, joints: Mapping[str, JointSpec], taken: dict[str, str]) -> None:
    def fail(sentence: str) -> ModelError:
        return fault(spec.where, f"coupling {spec.name!r} {sentence}", "bad-coupling")

    rows = 0
    for name in spec.joints:
        if name not in joints:
            raise fail(f"couples {name!r}, but there is no such joint: {hint(name, joints)}")
        joint = joints[name]
        if name in taken:
            raise fail(f"couples {name!r}, which {taken[name]!r} couples already; a joint takes part in one")
        if joint.mimic is not None:
            raise fail(f"couples {name!r}, which mimics {joint.mimic.joint!r}; couple that one")
        if joint.actuated is not None:
            raise fail(
                f"couples {name!r}, which has actuated={shortest(joint.actuated)}; motors act on the "
                "coupling's coordinates: give actuated= to add_coupling instead"
            )
        if isinstance(joint.kind, Fixed) or not joint.kind.is_flat:
            raise fail(
                f"couples {name!r} ({joint.kind.description}); it takes joints whose coordinates are plain "
                "numbers with v as their rates"
            )
        if joint.kind.recharts:
            raise fail(
                f"couples {name!r} ({joint.kind.description}), whose coordinates change over to others on the way; "
                "the coupling would not survive that"
            )
        taken[name] = spec.name
        rows += joint.kind.nq
    columns = len(spec.coordinates)
    if not columns or not rows:
        raise fail("needs at least one joint and one coordinate")
    if len(spec.matrix) != rows or any(len(row) != columns for row in spec.matrix):
        raise fail(
            f"needs a matrix of {rows} rows (the coordinates of its joints) and {columns} columns (its own: "
            f"{', '.join(map(repr, spec.coordinates))}), not {_shape(spec.matrix)}"
        )
    if len(spec.offset) != rows:
        raise fail(f"needs {rows} numbers of offset, not {len(spec.offset)}")
    if len(set(spec.coordinates)) != columns:
        raise fail(f"has two coordinates of one name among {list(spec.coordinates)}")
    G = np.array(spec.matrix, dtype=np.float64)
    if not (np.isfinite(G).all() and np.isfinite(spec.offset).all()):
        raise fail("has a matrix or an offset that is not finite")
    sizes = np.linalg.svd(G, compute_uv=False)
    if columns > rows or sizes[-1] <= _DEPENDENT * sizes[0]:
        raise fail("has a matrix with dependent columns: some motion of its coordinates would move no joint")


def _shape(matrix: Sequence[Sequence[float]]) -> str:
    lengths = {len(row) for row in matrix}
    return f"{len(matrix)} rows of {' or '.join(map(str, sorted(lengths)))}" if lengths else "an empty one"
