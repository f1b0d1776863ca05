"""Everything that reads arrays reads them in one way: what would lose a mask or digits is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.inputs import is_masked, real_array

ARM = kt.zoo.load("double_pendulum")
PARAMETERS = kt.identification.inertial_parameters(ARM)
TEN = np.array([1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 2.0])
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float64)
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
TWO, THREE = np.array([0.1, 0.2]), np.array([0.0, 0.0, 1.0])
TIP = next(iter(ARM.frames))

READERS: dict[str, tuple[Callable[[Any], object], np.ndarray[Any, Any]]] = {
    "a function": (lambda x: kt.crba(ARM, x), TWO),
    "a function's last argument": (lambda x: kt.aba(ARM, TWO, TWO, x), TWO),
    "a compiled function": (lambda x: kt.compile(ARM, kt.crba)(x), TWO),
    "external forces": (lambda x: kt.rnea(ARM, TWO, TWO, TWO, f_ext={TIP: x}), np.zeros(6)),
    "parameters": (lambda x: kt.crba(ARM, TWO, parameters={"gravity": x}), THREE),
    "a restitution": (
        lambda x: kt.constraints.impact(ARM, TWO, TWO, [kt.constraints.Contact(TIP, [1.0, 0, 0])], restitution=x),
        np.zeros(1),
    ),
    "a layout": (lambda x: kt.interop.Layout(ARM, "mujoco").q_to(x), TWO),
    "base parameters": (lambda x: kt.identification.base_parameters(ARM).of(x), PARAMETERS),
    "base parameters at other numbers": (
        lambda x: kt.identification.base_parameters(ARM, parameters={"gravity": x}),
        THREE,
    ),
    "a rollout": (lambda x: kt.rollout(ARM, TWO, TWO, x, 0.01), np.zeros((3, 2))),
    "a direction": (lambda x: kt.jvp(ARM, kt.crba, (TWO,), {"q": x}), TWO),
    "weights": (lambda x: kt.vjp(ARM, kt.gravity_forces, (TWO,), x), TWO),
    "integrate": (lambda x: ARM.integrate(x, TWO), TWO),
    "difference": (lambda x: ARM.difference(TWO, x), TWO),
    "check_configuration": (ARM.check_configuration, TWO),
    "lock at q": (lambda x: ARM.lock([], x), TWO),
    "lock at a value": (lambda x: ARM.lock({next(iter(ARM.joints)): x}), np.array([0.1])),
    "mirrored_configuration": (ARM.mirrored_configuration, TWO),
    "a simulation's q": (lambda x: kt.simulate(ARM, q=x, duration=0.01), TWO),
    "a simulation's tau": (lambda x: kt.simulate(ARM, tau=x, duration=0.01), TWO),
    "with_inertial_parameters": (lambda x: kt.identification.with_inertial_parameters(ARM, x), PARAMETERS),
    "log_cholesky": (kt.identification.log_cholesky.to_parameters, np.zeros(10)),
    "pseudo_inertia": (kt.identification.log_cholesky.pseudo_inertia, TEN),
    "the matrix of an inertia": (lambda x: kt.solids.inertia(1.0, (0, 0, 0), x), np.eye(3)),
    "the axes of an inertia": (lambda x: kt.solids.inertia(1.0, (0, 0, 0), np.eye(3), axes=x), np.eye(3)),
    "the vertices of a mesh": (lambda x: kt.solids.mesh(x, FACES, mass=1.0), CORNERS),
    "directions of a contact": (lambda x: kt.constraints.Contact("tip", x), THREE),
    "the place of a contact": (lambda x: kt.constraints.Contact("tip", at=x), THREE),
}
LISTS: dict[str, tuple[Callable[[Any], object], np.ndarray[Any, Any]]] = {
    "an axis": (kt.Revolute, THREE),
    "a row of MultiDof": (lambda x: kt.joints.MultiDof.angular_first([x]), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])),
    "radii": (kt.joints.Ellipsoid, np.array([1.0, 2.0, 3.0])),
    "signs": (lambda x: kt.joints.Euler("ZYX", signs=x), np.array([1.0, -1.0, 1.0])),
    "gravity": (lambda x: kt.ModelBuilder("r", gravity=x), THREE),
    "a position": (kt.lie.placement, THREE),
    "a centre of mass": (lambda x: kt.solids.inertia(1.0, x, np.eye(3)), THREE),
}


def masked(x: np.ndarray[Any, Any]) -> np.ma.MaskedArray[Any, Any]:
    """The same numbers, of which the last is masked."""
    mask = np.zeros(x.shape, bool)
    mask.reshape(-1)[-1] = True
    return np.ma.array(x, mask=mask)


@pytest.mark.parametrize(("read", "x"), [*READERS.values(), *LISTS.values()], ids=[*READERS, *LISTS])
def test_a_masked_array_is_refused_everywhere(read: Callable[[Any], object], x: np.ndarray[Any, Any]) -> None:
    read(x)
    with pytest.raises(kt.KinetreeError, match=r"not a masked array|not masked_array"):
        read(masked(x))


@pytest.mark.parametrize(("read", "x"), READERS.values(), ids=READERS)
def test_numbers_wider_than_64_bits_are_refused_everywhere(
    read: Callable[[Any], object], x: np.ndarray[Any, Any]
) -> None:
    if np.dtype(np.longdouble).itemsize == 8:
        pytest.skip("long double is double here")
    with pytest.raises(kt.KinetreeError):
        read(x.astype(np.longdouble))
    read(x.astype(np.float32))


@pytest.mark.parametrize("wrap", [lambda x: [x, x], lambda x: ([x], [x]), lambda x: [[0.0, x]]])
def test_a_masked_array_is_found_in_a_list_too(wrap: Callable[[Any], Any]) -> None:
    assert is_masked(wrap(masked(TWO)))
    assert not is_masked(wrap(TWO))
    assert is_masked([1.0, np.ma.masked])
    with pytest.raises(
        kt.errors.DTypeError, match=r"x must be an array of real numbers of shape .n., not a masked array"
    ):
        real_array("x", wrap(masked(TWO)), "(n)")


def test_a_list_that_holds_itself_ends() -> None:
    endless: list[Any] = [1.0]
    endless.append(endless)
    assert not is_masked(endless)
    with pytest.raises(kt.errors.DTypeError):
        real_array("x", endless, "(n)")


@pytest.mark.parametrize(
    "read", [kt.identification.log_cholesky.to_parameters, kt.identification.log_cholesky.jacobian]
)
@pytest.mark.parametrize(
    ("place", "value"), [((1, 3), np.nan), ((0, 9), np.inf), ((1, 0), 400.0), ((0, 2), 355.0), ((1, 7), 1e160)]
)
def test_a_theta_beyond_all_numbers_is_refused_with_its_place(
    read: Callable[[Any], object], place: tuple[int, int], value: float
) -> None:
    theta = np.zeros((2, 10))
    read(theta)
    theta[place] = value
    with pytest.raises(kt.errors.ModelError, match=rf"theta\[{place[0]}\]") as raised:
        read(theta)
    assert ("finite" in str(raised.value)) or ("64-bit" in str(raised.value))
