"""Identification of a Panda: how good exciting motions, estimates from noisy logs and estimates from a real robot are.

    python benchmarks/identification.py [excitation logs friction speed real] [--starts 3] [--seeds 5]
                                        [--published FOLDER]

- excitation: the condition number of the 43 base parameters along the best motion found, beside that of the motion of
  Gaz, Cognetti, Oliva, Robuffo Giordano and De Luca, "Dynamic identification of the Franka Emika Panda robot with
  retrieval of feasible parameters using penalty-based optimization" (2019), both by kinetree's regressor of the same
  robot file. Period, harmonics and limits are theirs; their hand stays out of two boxes, here it stays above the
  larger one's height and away from the base.
- logs: noisy logs of arms whose parameters differ from the file's: how many parameters the covariance calls
  identifiable within 2 %, the largest error of these, and whether errors are as large as the covariance says.
- friction: the same for simulated friction, Coulomb's and Stribeck's.
- speed: rows per second, and the memory that a long log takes.
- real: torques of a real Panda, from the files of that paper, on the part of the log that was not used, with three
  forms of dry friction.

--published is a checkout of github.com/marcocognetti/FrankaEmikaPandaDynModel; without it the published condition
numbers are those measured with it, and there is no real log.
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.identification import (
    Excitation,
    FourierTrajectory,
    Regression,
    exciting_trajectory,
    filtered,
    identify,
    log_of,
)
from robots import ROBOTS

PLANNED, LOGGED = 51.4, 55.9
"""The condition numbers of the published motion: one period as planned, and what the robot's log has."""
PERIOD = 40.0 / 3.0  # 2π / 0.15π
NOISE = np.array([0.3] * 4 + [0.1] * 3)
ENCODERS = 2e-5

whole = ROBOTS[1].load()
panda = whole.lock([name for name in whole.joints if "finger" in name])


@kt.program(q=panda)
def free_space(q):  # type: ignore[no-untyped-def]
    """How far the flange is above 0.3 m, and outside 0.3 m around the base's axis."""
    p = kt.frame_placement(panda, q, "panda_link8")[:3, 3]
    return np.stack([p[2] - 0.3, p[0] ** 2 + p[1] ** 2 - 0.3**2])


def published(folder: Path) -> tuple[FourierTrajectory, Any]:
    """The motion of the paper, and its log: times, positions and torques."""
    data = folder / "matlab/data/Exciting_Traj/Trajectory_1"
    numbers = np.loadtxt(data / "gen_params.txt")
    log = data / "rbt_log"
    q, tau = (np.loadtxt(log / f"exciting_traj_{part}.txt").reshape(-1, 7) for part in ("positions", "torques"))
    omega = 2.0 * np.pi / PERIOD * np.arange(1, 6)
    # Their sum begins with its cosines at t = 0.5 s, after the arm has got up speed.
    begin = q[500] + (numbers[7:] / omega).sum(axis=1)
    return FourierTrajectory(panda, PERIOD, begin, numbers[:7], numbers[7:]), (
        np.loadtxt(log / "exciting_traj_time.txt"), q, tau,
    )  # fmt: skip


def condition(trajectory: FourierTrajectory) -> float:
    base = kt.identification.base_parameters(panda)
    W = base.regressor(*trajectory.at(np.linspace(0.0, PERIOD, 1000, endpoint=False)))
    return float(np.linalg.cond(W.reshape(-1, len(base))))


def excitation(starts: int, folder: Path | None) -> None:
    planned = PLANNED if folder is None else condition(published(folder)[0])
    for name, options in {"limits of the robot": {}, "and its surroundings": {"keep_positive": free_space}}.items():
        start = time.perf_counter()
        found = exciting_trajectory(panda, period=PERIOD, starts=starts, **options)
        seconds = time.perf_counter() - start
        print(
            f"{name}: condition number {found.condition:.1f}, in {seconds:.0f} s; all starts: {found.worths.round(1)}"
        )
        assert found.condition <= min(planned, LOGGED)
    print(f"published: {planned:.1f} as planned, {LOGGED} as logged")


def changed(seed: int) -> kt.Model:
    rng = np.random.default_rng(seed)
    pi = kt.identification.inertial_parameters(panda).reshape(-1, 10)
    solid = pi[:, 0] > 0.0
    theta = kt.identification.log_cholesky.from_parameters(pi[solid])
    pi[solid] = kt.identification.log_cholesky.to_parameters(
        theta + rng.normal(size=theta.shape) * ([0.2] * 4 + [0.03] * 6)
    )
    return kt.identification.with_inertial_parameters(panda, pi.ravel())


def logs(seeds: int, motion: Excitation) -> None:
    for periods in (1, 10):
        t = 0.001 * np.arange(int(1000 * PERIOD * periods))
        q, v, qdd = motion.trajectory.at(t)
        counts, worst, ratios = [], 0.0, []
        for seed in range(seeds):
            truth, rng = changed(seed), np.random.default_rng(100 + seed)
            tau = kt.rnea(truth, q, v, qdd) + NOISE * rng.normal(size=q.shape)
            found = identify(log_of(panda, t, q + ENCODERS * rng.normal(size=q.shape), tau), cutoff=6.0)
            beta = found.estimate.base.of(kt.identification.inertial_parameters(truth))
            known = found.estimate.identifiable(0.02)
            for values in (found.estimate.values, found.consistent.values):
                worst = max(worst, float((abs(values - beta) / abs(beta))[known].max()))
            counts.append(int(known.sum()))
            ratios.append(np.mean(((found.estimate.values - beta) / found.estimate.deviations) ** 2))
            for ten in kt.identification.inertial_parameters(found.robot).reshape(-1, 10):
                assert ten[0] == 0.0 or np.linalg.eigvalsh(kt.identification.log_cholesky.pseudo_inertia(ten))[0] > 0.0
        assert worst < 0.02
        print(
            f"{periods} periods, {seeds} arms: {min(counts)} to {max(counts)} of {len(beta)} parameters identifiable "
            f"within 2 %, their largest error {100 * worst:.2f} %; squared errors {np.mean(ratios):.2f} of the variance"
        )


def friction(seeds: int, motion: Excitation) -> None:
    """Coulomb friction in all joints, with columns that pass the filter or do not; Stribeck's in two joints."""
    pi = kt.identification.inertial_parameters(panda, drives=True)
    pi[-21:] = np.array([[0.0, 0.5, 0.3]] * 4 + [[0.0, 0.2, 0.2]] * 3).ravel()  # armature, damping, friction
    arm = kt.identification.with_inertial_parameters(panda, pi, drives=True)
    t = 0.001 * np.arange(int(1500 * PERIOD))
    q, v, qdd = motion.trajectory.at(t)
    bumps = np.zeros(7)
    bumps[[1, 3]] = [0.4, 0.3]
    speeds = np.array([1.0, 0.1, 1.0, 0.2, 1.0, 1.0, 1.0])
    plain = kt.rnea(arm, q, v, qdd, passive=["damping", "friction"])
    dips = bumps * np.exp(-((v / speeds) ** 2)) * np.tanh(v / 0.01)
    for form, tau, filters in (("coulomb", plain, False), ("coulomb", plain, True), ("stribeck", plain + dips, True)):
        ratios, found = [], None
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            noisy = tau + NOISE * rng.normal(size=q.shape)
            log = filtered(log_of(panda, t, q + ENCODERS * rng.normal(size=q.shape), noisy), 6.0)
            found = identify(log if filters else replace(log, smoothing=None), drives=True, friction=form)
            beta = found.estimate.base.of(pi)
            errors = found.estimate.values[: len(beta)] - beta
            ratios.append(np.mean((errors / found.estimate.deviations[: len(beta)]) ** 2))
        name = f"{form}, columns {'filtered' if filters else 'not filtered'}"
        print(f"{name}: squared errors {np.mean(ratios):.2f} of the variance")
        if found is not None and form == "stribeck":
            print(found.friction)


def speed(motion: Excitation) -> None:
    t = 0.001 * np.arange(200_000)
    q, v, qdd = motion.trajectory.at(t)
    log = log_of(panda, t, q, kt.rnea(panda, q, v, qdd), v=v, qdd=qdd)
    equations = Regression(kt.identification.base_parameters(panda))
    equations.add(log.rows(0.0, 5.0))
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    equations.add(log)
    seconds = time.perf_counter() - start
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{len(log):,} rows in {seconds:.1f} s, {len(log) / seconds:,.0f} per second, {more:.0f} MiB more memory")


def real(folder: Path | None) -> None:
    if folder is None:
        print("real: no log without --published")
        return
    _, (t, q, tau) = published(folder)
    log = log_of(panda, t, q, tau).resampled(1000.0, bridge=0.01)
    for form in ("coulomb", "sigmoid", "stribeck"):
        print(
            identify(
                log.rows(0.0, 14.0), cutoff=5.0, drives=True, friction=form, offsets=True, validation=log.rows(14.0)
            )
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["excitation", "logs", "friction", "speed", "real"])
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--published", type=Path)
    given = parser.parse_args()
    if "excitation" in given.parts:
        excitation(given.starts, given.published)
    if {"logs", "friction", "speed"} & set(given.parts):
        motion = exciting_trajectory(panda, period=PERIOD, starts=1, steps=60)
        if "logs" in given.parts:
            logs(given.seeds, motion)
        if "friction" in given.parts:
            friction(given.seeds, motion)
        if "speed" in given.parts:
            speed(motion)
    if "real" in given.parts:
        real(given.published)


if __name__ == "__main__":
    main()
