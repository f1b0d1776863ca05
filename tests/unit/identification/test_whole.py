"""From logs to a robot: the figures that are promised, reports, payloads, and the command."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.identify import _target as identified_file
from kinetree.identification import (
    Excitation,
    Identification,
    Log,
    exciting_trajectory,
    filtered,
    identify,
    identify_payload,
    log_of,
)
from tests.robots import load_robot
from tests.unit.cli.conftest import Command, kinetree  # noqa: F401
from tests.unit.cli.test_command_line import KEYS

from .motions import PENDULUM, changed, exact_log, waves

PUBLISHED = 51.4
"""The condition number of the 43 base parameters along one period of the exciting motion that Gaz et al. (2019)
published for the Panda, by this regressor of this robot; 55.9 along what their robot logged."""
NOISE = np.array([0.3, 0.3, 0.3, 0.3, 0.1, 0.1, 0.1])
PERIOD = 40.0 / 3.0  # theirs, with the same five harmonics


@cache
def panda() -> kt.Model:
    whole = load_robot("panda")
    return whole.lock([name for name in whole.joints if "finger" in name])


@cache
def excitation() -> Excitation:
    return exciting_trajectory(panda(), period=PERIOD, harmonics=5, starts=1, steps=24)


@cache
def truth() -> kt.Model:
    return changed(panda(), seed=1)


@cache
def noisy_log(periods: int, seed: int = 0) -> Log:
    """A log at 1 kHz with noise of torques, and of positions as encoders have it."""
    rng = np.random.default_rng(seed)
    time = 0.001 * np.arange(int(1000 * PERIOD * periods))
    q, v, qdd = excitation().trajectory.at(time)
    tau = kt.rnea(truth(), q, v, qdd) + NOISE * rng.normal(size=q.shape)
    return log_of(panda(), time, q + 2e-5 * rng.normal(size=q.shape), tau)


@cache
def found() -> Identification:
    return identify(noisy_log(3), cutoff=6.0)


def test_the_excitation_is_better_than_a_published_one() -> None:
    assert excitation().condition < PUBLISHED / 2.0
    assert max(excitation().used) < 1.0


def test_what_the_covariance_says_is_identifiable_is_within_two_percent() -> None:
    base = found().estimate.base
    beta = base.of(kt.identification.inertial_parameters(truth()))
    known = found().estimate.identifiable(0.02)
    assert known.sum() >= 15
    for values in (found().estimate.values, found().consistent.values):
        assert (abs(values - beta) < 0.02 * abs(beta))[known].all()
    errors = (found().estimate.values - beta) / found().estimate.deviations
    assert np.mean(errors**2) < 2.0  # 1 in the mean of many logs


def test_the_estimated_inertias_are_possible() -> None:
    bodies = kt.identification.inertial_parameters(found().robot).reshape(-1, 10)
    smallest = [
        np.linalg.eigvalsh(kt.identification.log_cholesky.pseudo_inertia(ten))[0] for ten in bodies if ten[0] > 0.0
    ]
    assert min(smallest) > 0.0
    assert found().consistent.held == ()


def test_torques_of_other_motions_are_predicted() -> None:
    rng = np.random.default_rng(3)
    q, v, qdd = panda().random(rng, size=200), rng.normal(size=(200, 7)), 3.0 * rng.normal(size=(200, 7))
    wanted = kt.rnea(truth(), q, v, qdd)
    error, before = (np.sqrt(np.mean((kt.rnea(r, q, v, qdd) - wanted) ** 2, axis=0)) for r in (found().robot, panda()))
    assert (error < 0.1 * NOISE).all()
    assert (error < before / 20.0).all()


def test_the_report_and_its_picture(tmp_path: Path) -> None:
    text = repr(found())
    assert "known within 2 % (three standard deviations): " in text
    assert "warning" not in text
    assert len(found().table().splitlines()) == 44
    assert found().plot(tmp_path / "report").suffix == ".png"
    assert (tmp_path / "report.png").stat().st_size > 50_000
    assert found().plot().axes
    with pytest.raises(kt.errors.OptionError, match=r"not as '\.jpg'"):
        found().plot(tmp_path / "report.jpg")
    with pytest.raises(kt.errors.OptionError, match="has other bodies"):
        found().applied_to(PENDULUM)
    whole = found().applied_to(load_robot("panda"))
    assert whole.nq == 9
    assert np.array_equal(
        kt.identification.inertial_parameters(whole), kt.identification.inertial_parameters(found().robot)
    )


def test_a_payload_is_found() -> None:
    box = kt.solids.box(0.1, 0.1, 0.2, mass=1.5, placement=kt.lie.placement([0.02, 0.01, 0.1]))
    log = noisy_log(1)
    time = log.time
    q, v, qdd = excitation().trajectory.at(time)
    loaded = truth().attach_body("box", box, "panda_hand_tcp")
    tau = kt.rnea(loaded, q, v, qdd) + NOISE * np.random.default_rng(4).normal(size=q.shape)
    payload = identify_payload(filtered(log_of(truth(), time, log.q, tau), 6.0), "panda_hand_tcp", name="box")
    assert payload.mass == pytest.approx(1.5, rel=0.01)
    assert np.allclose(payload.center_of_mass, [0.02, 0.01, 0.1], atol=2e-3)
    assert np.allclose(np.diag(payload.inertia), [0.00625, 0.00625, 0.0025], atol=1.5e-3)
    assert (np.linalg.eigvalsh(payload.inertia) > 0.0).all()
    assert "payload of 1.5 kg" in repr(payload).replace("1.501", "1.5").replace("1.499", "1.5")
    assert "box" in payload.robot.bodies
    with pytest.raises(kt.errors.NameNotFoundError):
        identify_payload(filtered(log, 6.0), "hand")
    with pytest.raises(kt.errors.LogError, match="no velocities or accelerations"):
        identify_payload(log, "panda_hand")


def test_what_is_suspicious_is_in_the_report_and_another_motion_validates() -> None:
    heavier = changed(PENDULUM, 7)
    log, other = exact_log(PENDULUM, heavier), exact_log(PENDULUM, heavier, step=0.013)
    assert log.v is not None
    odd = log_of(PENDULUM, log.time, log.q, log.tau, v=np.degrees(log.v), qdd=log.qdd)
    result = identify([odd], validation=other)
    assert "degrees per second" in result.warnings[0]
    assert "warning: the velocities are 57.3 times" in repr(result)
    assert "of another motion" in repr(result)
    still = identify(log_of(PENDULUM, log.time, log.q, kt.gravity_forces(heavier, log.q), v=0 * log.q, qdd=0 * log.q))
    assert any("does not excite" in sentence for sentence in still.warnings)
    with pytest.raises(kt.errors.LogError, match="identify takes logs"):
        identify([])
    with pytest.raises(kt.errors.LogError, match="different robots"):
        identify([log, exact_log(heavier, heavier)])
    with pytest.raises(kt.errors.OptionError, match="drives must be True or False"):
        identify(log, drives=1)  # type: ignore[arg-type]


def test_the_command_writes_a_robot_file(kinetree: Command, tmp_path: Path) -> None:  # noqa: F811
    robot = kt.zoo.load("double_pendulum")
    heavier = changed(robot, 3)
    time = 0.005 * np.arange(3000)
    q, v, qdd = waves(robot, time)
    tau = kt.rnea(heavier, q, v, qdd) + 0.01 * np.random.default_rng(0).normal(size=q.shape)
    header = ",".join(["time", *(f"q.{n}" for n in robot.q_names), *(f"tau.{n}" for n in robot.v_names), "current"])
    np.savetxt(tmp_path / "log.csv", np.column_stack([time, q, tau, time]), delimiter=",", header=header, comments="")
    result = kinetree("identify", "log.csv", "double_pendulum", "--cutoff", "10", "--table", "--plot", "report.png")
    assert result.code == 0, result.err
    assert "current" in result.err
    assert "identification of 'double_pendulum'" in result.out
    assert "double_pendulum_identified.json" in result.out
    assert Path("report.png").exists()
    made = kt.load("double_pendulum_identified.json")
    assert np.allclose(kt.gravity_forces(made, q[:100]), kt.gravity_forces(heavier, q[:100]), atol=0.05)
    again = kinetree(
        "identify", "log.csv", "double_pendulum", "--cutoff", "10", "--drives", "-o", "other.urdf", "--lossy", "--json"
    )
    assert again.code == 0, again.err
    document = json.loads(again.out)
    assert (list(document), document["files"]) == (KEYS["identify"], ["other.urdf"])
    assert len(document["parameters"]) > len(document["torque_errors"]["after"]) == 2
    assert Path("other.urdf").exists()
    command = ("identify", "log.csv", "double_pendulum", "--cutoff", "10", "--friction", "sigmoid")
    refused = kinetree(*command)
    assert refused.code == 2
    assert "give --drives, too" in " ".join(refused.err.replace("│", " ").split())
    assert "friction (sigmoid)" in kinetree(*command, "--drives", "-o", "third.json").out


@pytest.mark.parametrize(
    ("model", "written"),
    [("a/arm.URDF", "arm.urdf"), ("arm.mjcf", "arm.mjcf"), ("arm.urdf.xacro", "arm.urdf.json"), ("arm6", "arm6.json")],
)
def test_the_robot_is_written_in_the_format_of_its_file(model: str, written: str) -> None:
    name, _, suffix = written.rpartition(".")
    assert str(identified_file(model, kt.zoo.load("arm6"))) == f"{name}_identified.{suffix}"


def test_the_command_reports_faults(kinetree: Command, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "log.csv").write_text("time,q.a\n0,1\n1,2\n")
    result = kinetree("identify", "log.csv", "double_pendulum", "--cutoff", "10")
    assert result.code == 1
    assert "has no column 'q." in result.err
    names = [f"{kind}.{name}" for kind in ("q", "tau") for name in PENDULUM.v_names]
    (tmp_path / "log.csv").write_text(f"time,{','.join(names)}\n0,1,1,1,1\n1,2,2,2,2\n")
    result = kinetree("identify", "log.csv", "double_pendulum")
    assert result.code == 2
    assert "--cutoff" in result.err
