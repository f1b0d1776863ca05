"""Functions and programs in PyTorch have the values that they have in NumPy, to the bit, in the users' form."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

import kinetree as kt

torch = pytest.importorskip("torch", reason="torch is not installed")
ARM, PENDULUM = kt.zoo.load("arm7"), kt.zoo.load("double_pendulum")
TOP = kt.zoo.load("double_pendulum", floating_base=True)


def state(robot: kt.Model, *batch: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [robot.random(rng, batch), *(rng.normal(size=(*batch, robot.nv)) for _ in range(2))]


def same(found: Any, expected: np.ndarray) -> None:
    assert isinstance(found, torch.Tensor)
    assert (str(found.dtype), found.shape) == (f"torch.{expected.dtype}", expected.shape)
    np.testing.assert_array_equal(found.detach(), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("batch", [(), (21,)])
def test_values_are_those_of_numpy(dtype: str, batch: tuple[int, ...]) -> None:
    aba, given = kt.interop.to_torch(ARM, kt.aba), [x.astype(dtype) for x in state(ARM, *batch)]
    expected, tensors = kt.aba(ARM, *given), [*map(torch.from_numpy, given)]
    same(aba(*tensors), expected)
    same(aba(tensors[0].requires_grad_(), *tensors[1:]), expected)  # the way of calls with derivatives
    energy = kt.interop.to_torch(ARM, kt.kinetic_energy)
    same(energy(*tensors[:2]), np.asarray(kt.kinetic_energy(ARM, *given[:2])))


def test_leading_axes_broadcast() -> None:
    aba = kt.interop.to_torch(PENDULUM, kt.aba)
    q, v, tau = state(PENDULUM, 3, 4)
    for given in [
        (q[0, 0], v[0, 0], tau[0, 0]),
        (q, v[0], tau[:, :1]),
        (q[:, :1], v[0], tau[0, 0]),
        (q[:0], v[0], tau[:0]),
    ]:
        expected, tensors = kt.aba(PENDULUM, *given), [*map(torch.tensor, given)]
        same(aba(*tensors), expected)
        same(aba(tau=tensors[2], q=tensors[0].requires_grad_(), v=tensors[1]), expected)


def test_tensors_are_not_copied_and_may_have_any_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    aba = kt.interop.to_torch(PENDULUM, kt.aba)
    q, v, tau = torch.tensor(np.stack(state(PENDULUM, 6))).transpose(1, 2).contiguous().transpose(1, 2)
    expected = kt.aba(PENDULUM, *(x.numpy() for x in (q, v, tau)))
    monkeypatch.setattr(torch.Tensor, "contiguous", None)
    for made in (q, q.clone().requires_grad_()):
        same(aba(made, v, tau), expected)
        same(aba(made[::2], v[::2], tau[0]), kt.aba(PENDULUM, q.numpy()[::2], v.numpy()[::2], tau.numpy()[0]))
        same(aba(made[0].expand(5, 2), v[0], tau[0]), np.tile(expected[:1], (5, 1)))
    turned = torch.complex(v, -v).conj().imag  # a tensor that is negated when it is read
    assert turned.is_neg()
    same(aba(q, turned, tau), expected)


def test_arguments_by_name_lists_and_numbers() -> None:
    aba = kt.interop.to_torch(PENDULUM, kt.aba)
    expected = kt.aba(PENDULUM, [0.1, 0.2], [0.0, 0.0], [1.0, 2.0])
    same(aba([0.1, 0.2], tau=[1, 2], v=np.zeros(2, int)), expected)
    same(aba(np.array([[0.2, 0.1]]).astype(">f8")[0, ::-1], [0, 0.0], torch.tensor([1, 2])), expected)
    angle = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    same(aba([angle, 0.2], [0, 0], [1, 2]), expected)
    aba([angle, 0.2], [0, 0], [1, 2])[0].backward()
    assert float(angle.grad) == pytest.approx(
        kt.jacobian(PENDULUM, kt.aba, ([0.1, 0.2], [0, 0], [1, 2]), wrt="q")[0, 0]
    )
    assert aba.names == ("q", "v", "tau")
    assert repr(aba) == "<aba(q[2], v[2], tau[2]) of 'double_pendulum' for PyTorch>"


def test_the_dtype_is_single_if_all_tensors_of_real_numbers_are() -> None:
    aba, single, double = kt.interop.to_torch(PENDULUM, kt.aba), torch.ones(2), torch.ones(2, dtype=torch.float64)
    assert aba(single, [0.0, 0.1], torch.tensor([1, 2])).dtype == torch.float32
    assert aba(single, single, double).dtype == aba(double, single, single).dtype == torch.float64
    assert aba(single, np.zeros(2), single).dtype == torch.float64
    assert aba(single, single.half(), single).dtype == torch.float32
    assert aba([0, 1], [0, 1], [0, 1]).dtype == aba(*(torch.tensor([0, 1]),) * 3).dtype == torch.float64


def test_kinetrees_own_functions_have_the_same_dtype() -> None:
    aba, single, double = kt.interop.to_torch(PENDULUM, kt.aba), torch.ones(2), torch.ones(2, dtype=torch.float64)
    whole, half, one = torch.tensor([1, 2]), single.half(), np.ones(2, np.float32)
    for given in [
        (single, whole, single),
        (whole, single, [0.0, 1.0]),
        (whole, whole, whole),
        (single, half, one),
        (one, single, np.ones(2)),
        (double, single, whole),
    ]:
        assert kt.aba(PENDULUM, *given).dtype == aba(*given).dtype
    for given in [(half, half, half), (single, single > 0, single)]:
        messages = []
        for call in (aba, lambda *x: kt.aba(PENDULUM, *x)):
            with pytest.raises(kt.errors.DTypeError) as refusal:
                call(*given)
            messages.append(str(refusal.value))
        assert messages[0] == messages[1]
    pushed = kt.aba(PENDULUM, single, whole, single, f_ext={"tip": torch.ones(6, dtype=torch.int32)})
    assert pushed.dtype == torch.float32
    assert controller(single, 1.0, torch.tensor(2)).torque.dtype == torch.float32
    assert controller([0.0, 1.0], double[0], 2).torque.dtype == torch.float64
    for wrong in ((torch.tensor(2.5), True), (2, torch.tensor(1))):
        with pytest.raises(
            kt.errors.DTypeError, match=r"controller: (count|on) must be a tensor of (whole numbers|booleans)"
        ):
            controller(single, 1.0, *wrong)


def test_options_forces_and_parameters() -> None:
    q, v, tau = state(ARM, 5)
    given = [*map(torch.tensor, (q, v, tau))]
    jacobian = kt.interop.to_torch(ARM, kt.frame_jacobian, frame="tool", expressed_in="world")
    same(jacobian(given[0]), kt.frame_jacobian(ARM, q, "tool", expressed_in="world"))
    aba = kt.interop.to_torch(ARM, kt.aba, f_ext=["tool"], parameters=["gravity", "body.hand.mass"])
    push, gravity, mass = np.ones(6), np.array([0.0, 0.0, -1.6]), np.linspace(1.0, 2.0, 5)
    expected = kt.aba(ARM, q, v, tau, f_ext={"tool": push}, parameters={"gravity": gravity, "body.hand.mass": mass})
    same(aba(*given, *map(torch.tensor, (push, gravity, mass))), expected)
    named = {"f_ext.tool": push, "gravity": gravity, "body.hand.mass": mass}
    same(aba(*given, **named), expected)
    assert aba.names == ("q", "v", "tau", *named)


def test_numbers_of_constraints_may_be_left_out() -> None:
    held = [kt.constraints.Contact("tool", at=(0.0, 0.1, 0.2))]
    f, given = kt.interop.to_torch(ARM, kt.constraints.constrained_dynamics, constraints=held), state(ARM, 3)
    expected = kt.compile(ARM, kt.constraints.constrained_dynamics, constraints=held)(*given)
    same(f(*map(torch.tensor, given)), expected)
    assert f(*(torch.tensor(x, dtype=torch.float32) for x in given)).dtype == torch.float32


def test_a_rollout_has_its_number_of_steps() -> None:
    rollout = kt.interop.to_torch(PENDULUM, kt.rollout, steps=4)
    q, v, tau = state(PENDULUM, 3)
    forces = np.repeat(tau[:, None], 4, 1)
    same(rollout(*map(torch.tensor, (q, v, forces)), 0.01), kt.rollout(PENDULUM, q, v, forces, 0.01))


class Found(NamedTuple):
    torque: Any
    used: dict[str, Any]


@kt.program(q=PENDULUM, gain=(), count=int, on=bool)
def controller(q, gain, count, on=True):
    torque = np.where(on, -gain * q * count, kt.gravity_forces(PENDULUM, q))
    return Found(torque, {"on": on, "count": count + 1, "mass": kt.crba(PENDULUM, q)})


def test_results_of_programs_have_their_form_and_dtypes() -> None:
    q, _, gain = state(PENDULUM, 6)
    f, given = kt.interop.to_torch(controller), [*map(torch.tensor, (q, gain[:, 0]))]
    found, expected = f(*given, 3, on=torch.tensor(gain[:, 1] > 0)), controller(q, gain[:, 0], 3, gain[:, 1] > 0)
    assert type(found) is Found
    for x, y in zip((found.torque, *found.used.values()), (expected.torque, *expected.used.values()), strict=True):
        same(x, y)
    assert f(given[0].float(), 1.0, torch.tensor(3)).torque.dtype == torch.float32
    assert not f(given[0].requires_grad_(), 1.0, 3, on=False).used["on"].requires_grad


def test_nan_stays_in_its_sample_and_quaternions_have_a_direction() -> None:
    given = state(ARM, 9)
    given[1][4, 2] = np.nan
    found = kt.interop.to_torch(ARM, kt.aba)(*map(torch.tensor, given))
    assert found[4].isnan().any()
    same(found, kt.aba(ARM, *given))


def test_a_quaternion_of_no_direction_is_an_error() -> None:
    given = [*map(torch.tensor, state(TOP, 3))]
    given[0][1, 3:7] = 0.0
    for q in (given[0], given[0].clone().requires_grad_()):
        with pytest.raises(kt.errors.ConfigurationError, match="quaternion"):
            kt.interop.to_torch(TOP, kt.aba)(q, *given[1:])


def test_robots_without_joints() -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", kt.solids.box(1.0, 1.0, 1.0, mass=2.0))
    rock, nothing = builder.build(), torch.zeros(3, 0, dtype=torch.float64)
    assert kt.interop.to_torch(rock, kt.aba)(nothing, nothing, nothing).shape == (3, 0)
    assert kt.interop.to_torch(rock, kt.crba)(nothing).shape == (3, 0, 0)
    center = kt.interop.to_torch(rock, kt.center_of_mass)
    same(center(nothing), kt.center_of_mass(rock, nothing.numpy()))
    assert torch.func.vmap(torch.func.jacrev(center))(nothing).shape == (3, 3, 0)


def test_kinetrees_own_functions_take_tensors() -> None:
    given = state(PENDULUM, 4)
    q, v, tau = map(torch.tensor, given)
    same(kt.aba(PENDULUM, q, v, tau), kt.aba(PENDULUM, *given))
    assert kt.aba(PENDULUM, q.float(), v.float(), tau.float()).dtype == torch.float32
    assert kt.aba(PENDULUM, q, v.requires_grad_(), tau).requires_grad

    @kt.program(q=PENDULUM, on=bool)
    def twice(q, on):
        return {"twice": np.where(on, 2.0, 0.0) * q}

    same(twice(q, torch.tensor(True))["twice"], 2.0 * given[0])


def test_they_are_copied_and_pickled_with_networks() -> None:
    aba, given = kt.interop.to_torch(PENDULUM, kt.aba), [*map(torch.tensor, state(PENDULUM, 4))]
    expected = aba(given[0].requires_grad_(), *given[1:])
    expected.sum().backward()
    for other in (copy.deepcopy(aba), pickle.loads(pickle.dumps(aba))):
        same(other(*given), expected.detach().numpy())
