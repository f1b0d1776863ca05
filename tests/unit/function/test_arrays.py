"""What arrays may look like, going in and coming out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial import Inertia, Sym3, Vec3
from tests import functions

ARM = kt.zoo.load("arm6")
QUADRUPED = kt.zoo.load("quadruped")
RNG = np.random.default_rng(8)
Q, V, TAU = RNG.normal(size=(3, 5, 6))
EXPECTED = kt.aba(ARM, Q, V, TAU)


def test_time_by_one_broadcasts_with_samples() -> None:
    q = RNG.normal(size=(4, 1, 6))
    qdd = kt.aba(ARM, q, V, TAU[0])
    assert qdd.shape == (4, 5, 6)
    for t in range(4):
        for k in range(5):
            assert (qdd[t, k] == kt.aba(ARM, q[t, 0], V[k], TAU[0])).all()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 5)])
@pytest.mark.parametrize("function", [kt.crba, kt.center_of_mass, kt.potential_energy, kt.forward_kinematics])
def test_no_samples_give_no_results(function: Any, shape: tuple[int, ...]) -> None:
    one = function(ARM, Q[0])
    assert function(ARM, np.zeros((*shape, 6))).shape == (*shape, *np.shape(one))


def test_no_samples_broadcast_with_one_and_with_nothing_else() -> None:
    nothing = np.zeros((0, 6))
    assert kt.aba(ARM, nothing, V[:1], TAU[0]).shape == (0, 6)
    with pytest.raises(kt.errors.ShapeError, match=r"do not broadcast together: q \(0, 6\), v \(5, 6\), tau \(5, 6\)"):
        kt.aba(ARM, nothing, V, TAU)


def test_arguments_are_left_as_they_were() -> None:
    arrays = [Q.copy(), V.copy(), TAU.copy()]
    kt.aba(ARM, *arrays)
    assert all((a == b).all() for a, b in zip(arrays, (Q, V, TAU), strict=True))


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", ">f8", ">f4", "i1", "u2", "i8", "u8"])
def test_any_real_numbers_are_taken(kind: str) -> None:
    q = np.array([[1, 0, 1, 1, 0, 1]], kind)
    expected = kt.crba(ARM, [[1.0, 0.0, 1.0, 1.0, 0.0, 1.0]])
    result = kt.crba(ARM, q)
    single = np.dtype(kind) == np.float32
    assert result.dtype == (np.float32 if single else np.float64)
    np.testing.assert_allclose(result, expected, rtol=1e-5 if single else 0.0, atol=1e-6 if single else 0.0)


@pytest.mark.parametrize(
    "q",
    [
        np.zeros(6, np.longdouble),
        np.zeros(6, "M8[s]"),
        np.zeros(6, "m8[s]"),
        np.zeros(6, [("a", "f8")]),
        np.array(["0"] * 6),
        np.array([b"0"] * 6),
        [10**400] * 6,
        {"q": 1.0},
        {1.0, 2.0},
        None,
        object(),
        lambda: 0.0,
        [1.0, 2.0, None, 4.0, 5.0, 6.0],
        [1.0, 2.0, 3.0j, 4.0, 5.0, 6.0],
    ],
    ids=lambda q: type(q).__name__,
)
def test_anything_but_real_numbers_is_refused(q: Any) -> None:
    if getattr(q, "dtype", None) == np.float64:
        pytest.skip("a long double is a double on this platform")
    with pytest.raises(kt.errors.DTypeError, match=r"q must be an array of real numbers of shape \(…, 6\)"):
        kt.crba(ARM, q)


def test_subclasses_and_files_of_numbers_are_arrays(tmp_path: Path) -> None:
    on_disk = np.memmap(tmp_path / "q", dtype="f8", mode="w+", shape=(5, 6))
    on_disk[...] = Q
    result = kt.aba(ARM, on_disk, V, TAU)
    assert type(result) is np.ndarray
    assert (result == EXPECTED).all()


@pytest.mark.parametrize("layout", ["every other column", "Fortran", "reversed", "transposed", "unaligned"])
def test_out_may_lie_in_memory_in_any_way(layout: str) -> None:
    out = {
        "every other column": np.zeros((5, 12))[:, ::2],
        "Fortran": np.zeros((5, 6), order="F"),
        "reversed": np.zeros((5, 6))[::-1, ::-1],
        "transposed": np.zeros((6, 5)).T,
        "unaligned": np.zeros(5 * 6 * 8 + 1, np.uint8)[1:].view(np.float64).reshape(5, 6),
    }[layout]
    assert kt.aba(ARM, Q, V, TAU, out=out) is out
    assert (out == EXPECTED).all()


def test_out_may_be_an_argument() -> None:
    for k in range(3):
        arrays = [Q.copy(), V.copy(), TAU.copy()]
        kt.aba(ARM, *arrays, out=arrays[k])
        assert (arrays[k] == EXPECTED).all()


def test_out_must_have_the_broadcast_shape() -> None:
    out = np.empty((4, 5, 6))
    assert kt.aba(ARM, Q, np.zeros((4, 1, 6)), TAU[0], out=out) is out
    for wrong in ((5, 6), (1, 5, 6), (4, 5, 5), (4, 5)):
        with pytest.raises(kt.errors.ShapeError, match=r"out has shape .* but the result has \(4, 5, 6\)"):
            kt.aba(ARM, Q, np.zeros((4, 1, 6)), TAU[0], out=np.empty(wrong))


@pytest.mark.parametrize("out", [(np.empty((5, 6)),), "out", 0.0, np.float64(0.0)])
def test_an_out_that_is_no_array_is_refused(out: Any) -> None:
    with pytest.raises(kt.errors.DTypeError, match="aba: out must be a NumPy array, not "):
        kt.aba(ARM, Q, V, TAU, out=out)


def test_an_out_of_another_byte_order_or_dtype_is_refused() -> None:
    for dtype in (">f8", "f4", "c16", "i8"):
        with pytest.raises(kt.errors.DTypeError, match=r"aba: out has dtype .* but the result is float64"):
            kt.aba(ARM, Q, V, TAU, out=np.empty((5, 6), dtype))


def test_single_numbers_come_out_where_there_is_one_sample() -> None:
    energy = kt.kinetic_energy(ARM, Q[0], V[0])
    assert energy.shape == ()
    out = np.empty(())
    assert kt.kinetic_energy(ARM, Q[0], V[0], out=out) is out
    assert out == energy


def test_forces_broadcast_as_the_other_arguments_do() -> None:
    push = RNG.normal(size=(4, 1, 6))
    qdd = kt.aba(ARM, Q, V, TAU, f_ext={"tool": push, "forearm": np.ones(6)})
    assert qdd.shape == (4, 5, 6)
    each = kt.aba(ARM, Q[2], V[2], TAU[2], f_ext={"tool": push[3, 0], "forearm": np.ones(6)})
    assert (qdd[3, 2] == each).all()
    with pytest.raises(kt.errors.ShapeError, match=r"do not broadcast together: .*f_ext\['tool'\] \(3, 6\)"):
        kt.aba(ARM, Q, V, TAU, f_ext={"tool": np.zeros((3, 6))})


def test_no_forces_are_none() -> None:
    assert (kt.aba(ARM, Q, V, TAU, f_ext={}) == EXPECTED).all()
    np.testing.assert_allclose(kt.aba(ARM, Q, V, TAU, f_ext={"tool": np.zeros(6)}), EXPECTED, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("f_ext", [[], "tool", [("tool", np.zeros(6))], np.zeros(6), 1])
def test_forces_that_are_no_dict_are_refused(f_ext: Any) -> None:
    with pytest.raises(kt.errors.DTypeError, match="aba: f_ext must be a dict from frame names to arrays"):
        kt.aba(ARM, Q, V, TAU, f_ext=f_ext)


def test_a_frame_of_forces_that_is_no_name_is_refused() -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match="this robot has no frame 3"):
        kt.aba(ARM, Q, V, TAU, f_ext={3: np.zeros(6)})  # type: ignore[dict-item]


def rock() -> kt.Model:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", Inertia.from_com(2.0, Vec3(0.0, 0.0, 1.0), Sym3.scalar(1.0)))
    return builder.build()


def test_a_robot_without_joints_answers_every_function() -> None:
    robot = rock()
    for function in functions.FIXED.values():
        f = kt.compile(robot, function, **functions.options_of(function, "rock"))
        arguments = [np.zeros((3, 2, *shape)) for shape in functions.shapes(robot, function)]
        result = f(*arguments)
        assert result.shape[:2] == (3, 2)
        assert np.isfinite(result).all()
        out = np.full(result.shape, 7.0)
        assert f(*arguments, out=out) is out
        assert (out == result).all()


def test_a_robot_without_joints_still_checks_its_arguments() -> None:
    robot = rock()
    nothing = np.zeros((3, 0))
    with pytest.raises(kt.errors.ShapeError, match=r"q has shape \(3, 1\), but 'rock' needs \(…, 0\)"):
        kt.aba(robot, np.zeros((3, 1)), nothing, nothing)
    with pytest.raises(kt.errors.ShapeError, match="do not broadcast"):
        kt.aba(robot, np.zeros((2, 0)), nothing, nothing)
    assert kt.aba(robot, nothing, nothing, nothing, f_ext={"rock": np.ones((4, 1, 6))}).shape == (4, 3, 0)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(kt.integrate, ("q", "v")), (kt.difference, ("q", "q1")), (kt.difference, ("q0", "q")), (kt.crba, ("q",))],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_zero_quaternion_is_named_with_its_place_and_argument(
    function: Any, arguments: tuple[str, ...], dtype: type
) -> None:
    q = np.tile(QUADRUPED.neutral(), (2, 3, 1))
    bad = q.copy()
    bad[1, 2, 3:7] = -0.0
    given = [bad if a == "q" else np.zeros((2, 3, QUADRUPED.nv)) if a == "v" else q for a in arguments]
    name = function.definition.inputs[arguments.index("q")][0]
    with pytest.raises(
        kt.errors.ConfigurationError, match=rf"{name}\[1\]\[2\]: the quaternion of joint 'root_joint' .*zero"
    ):
        function(QUADRUPED, *(a.astype(dtype) for a in given))
