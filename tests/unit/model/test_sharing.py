"""What is wrong with a mimic or a coupling is said by name when the robot is made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt

from .bodies import ball

Z = kt.Revolute([0, 0, 1])


def builder() -> kt.ModelBuilder:
    made = kt.ModelBuilder("arm")
    made.add_body("base")
    for name, kind in (("a", Z), ("b", Z), ("c", kt.Prismatic([1, 0, 0])), ("f", kt.Free()), ("w", kt.Fixed())):
        made.add_body(f"{name} body", ball())
        made.add_joint(name, kind, "base", f"{name} body")
    return made


def couple(**changes: Any) -> kt.Model:
    made = builder()
    made.add_coupling(
        **{"name": "pair", "joints": ["a", "b"], "matrix": [[1, 1], [1, -1]], "coordinates": ["s", "d"], **changes}
    )
    return made.build()


def test_a_coupling_stands_where_its_first_joint_stood() -> None:
    assert couple().q_names[:3] == ["pair.s", "pair.d", "c"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joints": ["a", "x"]}, "coupling 'pair' couples 'x', but there is no such joint"),
        ({"joints": ["a", "f"]}, "couples 'f' (free); it takes joints whose coordinates are plain numbers"),
        ({"joints": ["a", "w"]}, "couples 'w' (fixed)"),
        ({"joints": ["a", "a"]}, "couples 'a', which 'pair' couples already"),
        ({"matrix": [[1, 1]]}, "needs a matrix of 2 rows (the coordinates of its joints) and 2 columns"),
        ({"matrix": [[1, 1], [1]]}, "not 2 rows of 1 or 2"),
        ({"matrix": [[1, 1], [1, 1]]}, "dependent columns"),
        ({"matrix": [[1, 0], [np.inf, 1]]}, "not finite"),
        ({"matrix": 3}, "its matrix must be rows of numbers, not 3"),
        ({"offset": [1.0]}, "needs 2 numbers of offset, not 1"),
        ({"coordinates": ["s", "s"]}, "two coordinates of one name"),
        ({"coordinates": "sd"}, "its coordinates must be a list of names"),
        ({"joints": [], "matrix": [], "coordinates": []}, "needs at least one joint and one coordinate"),
        ({"joints": ["a"], "matrix": [[1, 1]]}, "dependent columns"),
    ],
)
def test_a_wrong_coupling_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.errors.ModelError) as caught:
        couple(**changes)
    assert message in str(caught.value)


def test_a_coupling_of_a_follower_is_refused() -> None:
    made = kt.ModelBuilder("arm")
    made.add_body("base")
    for name, mimic in (("a", None), ("b", kt.model.Mimic("a"))):
        made.add_body(f"{name} body", ball())
        made.add_joint(name, Z, "base", f"{name} body", mimic=mimic)
    made.add_coupling("pair", ["b"], [[1]], coordinates=["s"])
    with pytest.raises(kt.errors.ModelError, match="couples 'b', which mimics 'a'; couple that one"):
        made.build()


def test_two_couplings_of_one_name_are_refused() -> None:
    made = builder()
    made.add_coupling("pair", ["a"], [[1]], coordinates=["s"])
    with pytest.raises(kt.errors.ModelError, match="two couplings named 'pair'"):
        made.add_coupling("pair", ["b"], [[1]], coordinates=["s"])


def test_a_circle_of_mimics_is_refused_by_name() -> None:
    made = kt.ModelBuilder("arm")
    made.add_body("base")
    for name, leader in (("a", "b"), ("b", "a")):
        made.add_body(f"{name} body", ball())
        made.add_joint(name, Z, "base", f"{name} body", mimic=kt.model.Mimic(leader))
    with pytest.raises(kt.errors.ModelError, match="mimics itself in a circle"):
        made.build()
