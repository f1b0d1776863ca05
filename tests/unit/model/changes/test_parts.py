"""A builder that starts from a robot."""

from __future__ import annotations

import pytest

import kinetree as kt
from kinetree.model.fingerprint import fingerprint
from tests.unit.model.bodies import ball
from tests.unit.model.changes.test_lock import hand


@pytest.mark.parametrize("floating_base", [True, False])
def test_a_robot_is_built_again_from_its_parts(floating_base: bool) -> None:
    robot = hand(floating_base)
    for again in (
        kt.ModelBuilder.of(robot.parts).build(),
        kt.ModelBuilder.of(robot).build(),
        kt.ModelBuilder.of(robot.parts).build(),
    ):
        assert fingerprint(again) == fingerprint(robot)
        assert again.parts == robot.parts
        assert again.notes == robot.notes


def test_the_base_may_be_another_than_that_of_the_robot() -> None:
    assert not kt.ModelBuilder.of(hand(True)).build(floating_base=False).floating_base


def test_warnings_of_a_reader_are_reported_once_and_kept() -> None:
    builder = kt.ModelBuilder("odd")
    builder.add_body("a", ball())
    builder.suspect("odd.urdf:3", "body 'a' looks odd")
    with pytest.warns(kt.errors.ModelWarning, match="looks odd"):
        robot = builder.build()
    assert kt.ModelBuilder.of(robot.parts).build().notes == ("odd.urdf:3: body 'a' looks odd",)


def test_parts_of_one_name_are_refused() -> None:
    builder = kt.ModelBuilder.of(hand())
    with pytest.raises(kt.errors.ModelError, match="there are two bodies named 'palm'"):
        builder.add_parts(hand().parts)


def test_a_builder_starts_from_nothing_but_a_robot() -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r"a builder starts from a Model or from its parts, not from 'arm.urdf'"
    ):
        kt.ModelBuilder.of("arm.urdf")  # type: ignore[arg-type]
