"""What changes do with arguments that are wrong, and with kinds of joint whose images are not what they should be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DTypeError, KinetreeError, ModelError, NameNotFoundError, OptionError, ShapeError
from kinetree.model.changes.kinds import is_same

BALL = kt.solids.box(0.3, 0.2, 0.1, mass=1.0)


def with_kind(kind: kt.joints.JointKind) -> kt.Model:
    """Two bodies and a joint of the kind, "odd", between them."""
    builder = kt.ModelBuilder("two bodies")
    builder.add_body("base", BALL)
    builder.add_body("link", BALL)
    builder.add_joint("odd", kind, "base", "link", kt.lie.placement([0.1, 0.2, 0.3], rpy=[0.3, 0.2, 0.1]))
    return builder.build()


CHANGES: dict[str, Callable[[kt.Model], kt.Model]] = {
    "reversed": lambda robot: robot.rerooted("link"),
    "mirrored": lambda robot: robot.mirrored("x"),
    "scaled": lambda robot: robot.scaled(2.0),
}


def answering(base: type[kt.joints.JointKind], method: str, answer: Callable[..., Any]) -> type[kt.joints.JointKind]:
    """A class of a user's own whose method gives that."""
    return type("Odd", (base,), {method: lambda self, *_: answer(self)})


def raising(_: object) -> Any:
    raise ZeroDivisionError("no such thing")


class Lost(kt.joints.Helical):
    """Has no motion."""

    def calc(self, q: Any, v: Any) -> Any:  # noqa: ARG002
        raise LookupError("lost")


WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "a number": (lambda _: 3, "must return a kind of joint, or None if there is none, not 3"),
    "a word": (lambda _: "x", "must return a kind of joint, or None if there is none, not 'x'"),
    "an error": (raising, "raised ZeroDivisionError: no such thing"),
    "a kind of another size": (lambda _: kt.joints.Planar(), "nq = 3, where the kind itself has"),
}
FLAT_WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "another axis": (lambda _: kt.joints.Helical([0, 1, 0], 0.1), "that is not the .*placement X_J is another"),
    "a kind that raises": (lambda _: Lost([0, 0, 1], 0.1), "LookupError: lost"),
    "itself": (lambda self: self, "that is not the .*placement X_J is another"),
}


@pytest.mark.parametrize("method", CHANGES)
@pytest.mark.parametrize("case", [*WRONG, *FLAT_WRONG])
def test_images_of_a_user_s_flat_kind_that_are_none_are_refused(method: str, case: str) -> None:
    answer, message = {**WRONG, **FLAT_WRONG}[case]
    kind = answering(kt.joints.Helical, method, answer)([0, 0, 1], 0.1)  # type: ignore[call-arg]
    with pytest.raises(ModelError, match=rf"joint 'odd'.*{message}"):
        CHANGES[method](with_kind(kind))


@pytest.mark.parametrize("method", CHANGES)
@pytest.mark.parametrize("case", WRONG)
def test_images_of_a_user_s_ball_joint_that_are_none_are_refused(method: str, case: str) -> None:
    answer, message = WRONG[case]
    with pytest.raises(ModelError, match=rf"joint 'odd'.*{message}"):
        CHANGES[method](with_kind(answering(kt.joints.Spherical, method, answer)()))


@pytest.mark.parametrize("method", CHANGES)
def test_a_ball_about_another_point_is_no_image_of_a_ball_joint(method: str) -> None:
    moved = kt.joints.Placed(kt.joints.Spherical(), after=kt.lie.placement([0.0, 0.0, 0.2]))
    with pytest.raises(ModelError, match="joint 'odd'"):
        CHANGES[method](with_kind(answering(kt.joints.Spherical, method, lambda _: moved)()))


def test_coordinates_are_not_mirrored_by_a_wrong_kind_either() -> None:
    robot = with_kind(answering(kt.joints.Spherical, "mirrored", lambda _: "x")())
    with pytest.raises(ModelError, match=r"joint 'odd'.*Odd\.mirrored must return a kind"):
        robot.mirrored_configuration(robot.neutral())


class Ball(kt.joints.Spherical):
    """A user's own, whose inverse has other coordinates than its base class says."""

    def reversed(self) -> kt.joints.JointKind:
        return kt.joints.Reversed(self)


class Helix(kt.joints.Helical):
    """A user's own that inherits its images."""


@pytest.mark.parametrize("kind", [Ball(), Helix([0, 0, 1], 0.1)], ids=["ball", "helix"])
@pytest.mark.parametrize("method", CHANGES)
def test_right_images_of_a_user_s_own_kind_are_taken(kind: kt.joints.JointKind, method: str) -> None:
    assert CHANGES[method](with_kind(kind)).nv == kind.nv


def test_a_composite_s_velocity_mirrored_twice_is_the_very_same() -> None:
    robot = with_kind(
        kt.joints.Composite([kt.joints.Spherical(), (kt.Prismatic([1, 0, 0]), kt.lie.placement([0.0, 0.0, 0.001]))])
    )
    v = np.array([0.1, 0.2, 0.3, 0.001])
    for normal in "xyz":
        twice = robot.mirrored(normal).mirrored_velocity(robot.mirrored_velocity(v, normal), normal)
        np.testing.assert_array_equal(twice, v)


def pendulum() -> kt.Model:
    return kt.zoo.load("double_pendulum")


REFUSED: dict[str, tuple[Callable[[], object], type[KinetreeError], str]] = {
    "attach to a list": (lambda: pendulum().attach(pendulum(), ["tool"], prefix="b_"), NameNotFoundError, "tool"),  # type: ignore[arg-type]
    "a normal that is an array": (lambda: pendulum().mirrored(np.array([0, 1, 0])), OptionError, "normal must be"),  # type: ignore[arg-type]
    "a ragged configuration": (lambda: pendulum().mirrored_configuration([[1], [2, 3]]), DTypeError, "real numbers"),
    "a length out of all proportion": (lambda: pendulum().scaled(1e200), OptionError, "from 1e-06 to 1e"),
    "a vanishing length": (lambda: pendulum().scaled(1e-150), OptionError, "not 1e-150"),
    "a vanishing mass": (lambda: pendulum().scaled(1.0, mass=1e-300), OptionError, "mass must be from 1e-18"),
    "nothing to merge": (lambda: kt.model.merge(None, name="x"), ModelError, "takes a list of robots"),  # type: ignore[arg-type]
    "a number of placements": (
        lambda: kt.model.merge([pendulum()], name="x", placements=3),  # type: ignore[arg-type]
        ShapeError,
        "a list with one for each",
    ),
    "a floating base that is a word": (
        lambda: pendulum().rerooted(pendulum().root, floating_base="x"),  # type: ignore[arg-type]
        OptionError,
        "floating_base must be True, False, or None",
    ),
    "a joint's name in a list": (lambda: pendulum().lock([["shoulder"]]), ModelError, "is not a name"),  # type: ignore[list-item]
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_arguments_are_refused_in_words(case: str) -> None:
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()


def test_the_least_and_the_greatest_length_keep_all_masses() -> None:
    robot = pendulum()
    for length in (1e-6, 1e6):
        assert robot.scaled(length).mass == pytest.approx(robot.mass * length**3, rel=1e-12)


def test_a_locked_quaternion_is_reported_with_length_one() -> None:
    locked = with_kind(kt.joints.Spherical()).lock({"odd": [0.0, 0.0, 0.0, 2.0]})
    assert "'odd' at (0, 0, 0, 1)" in locked.notes[0]


def test_a_follower_that_cannot_be_turned_round_is_locked_by_its_leader() -> None:
    builder = kt.ModelBuilder("chain")
    for name in ("a", "b", "c", "d"):
        builder.add_body(name, BALL)
    builder.add_joint("first", kt.Revolute([0, 0, 1]), "a", "b")
    builder.add_joint("second", kt.Revolute([0, 0, 1]), "b", "c", mimic=kt.model.Mimic("first", 2.0))
    kind = answering(kt.Revolute, "reversed", lambda _: None)([0, 0, 1])  # type: ignore[call-arg]
    builder.add_joint("third", kind, "c", "d", mimic=kt.model.Mimic("second", 0.5))
    robot = builder.build()
    with pytest.raises(ModelError, match=r"joint 'third' .* or lock 'first' first, which it follows"):
        robot.rerooted("d")
    assert robot.lock("first").rerooted("d").nq == 0


def test_a_coupled_joint_that_cannot_be_turned_round_is_locked_by_its_coupling() -> None:
    builder = kt.ModelBuilder("pair")
    for name in ("a", "b", "c"):
        builder.add_body(name, BALL)
    kind = answering(kt.Revolute, "reversed", lambda _: None)([0, 0, 1])  # type: ignore[call-arg]
    builder.add_joint("one", kind, "a", "b")
    builder.add_joint("two", kt.Revolute([0, 0, 1]), "b", "c")
    builder.add_coupling("wrist", ["one", "two"], [[1.0], [2.0]], coordinates=["turn"])
    robot = builder.build()
    with pytest.raises(ModelError, match=r"or lock coupling 'wrist' first"):
        robot.rerooted("b")
    assert robot.lock("wrist").rerooted("b").nq == 0


def test_a_text_with_an_unknown_kind_says_what_to_do_in_python_and_on_the_command_line() -> None:
    class Wobbly(kt.Revolute):
        pass

    text = kt.to_text(with_kind(Wobbly([0, 0, 1])))
    with pytest.raises(
        ModelError, match=r"no kind of joint named 'Wobbly' \(.*\)\. One of your own .*kinds=\[Wobbly\]; "
    ):
        kt.from_text(text)
    assert kt.from_text(text, kinds=[Wobbly]).nq == 1


def test_far_places_are_compared_relative_to_their_distance() -> None:
    near, far = kt.lie.placement([1.0, 2.0, 3.0]), kt.lie.placement([1e12, 2e12, 3e12])
    assert is_same(far, kt.lie.placement([1e12 + 1e-3, 2e12, 3e12]))
    assert not is_same(far, kt.lie.placement([1e12 + 1e6, 2e12, 3e12]))
    assert not is_same(near, kt.lie.placement([1.0, 2.0, 3.0 + 1e-5]))
