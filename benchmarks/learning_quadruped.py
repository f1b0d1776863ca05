"""PPO on the quadruped of kinetree, and on the same task written with mujoco.batch and NumPy: one learner, two worlds.

    python benchmarks/learning_quadruped.py [--steps 5e6] [--seeds 3] [--worlds 1024] [--threads 2] [--every 1e6]

First printed is by how much the two tasks differ in single steps from the same states, without what is random: contacts
of kinetree are solved further than MuJoCo's. Then both learn, one iteration each in turn, so that a busy machine is as
busy for both. `kinetree.learning.ppo.Learner` is the learner of both; the settings are those of kinetree's task. The
error is that of the velocity in the plane, over 9 s of 256 worlds without noise and pushes; it is measured every so
many steps, while no clock runs. Times are of the wall, and in brackets of the processors, all threads together.

The other environment: physics on all threads by `mujoco.batch`; everything else in arrays over all worlds; the
policy's mean by PyTorch. Masses, friction and gains are fields of the model, expanded to one row per world.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import torch
from mujoco.batch import Batch
from numpy.typing import NDArray

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.learning import PPO
from kinetree.learning.ppo import Learner, forward
from kinetree.learning.tasks import training_of
from kinetree.learning.tasks.quadruped import DAMPING, HOME, REACH, STIFFNESS, TROT

Array = NDArray[Any]
FRAME_SKIP, DT, STRIDE = 4, 0.02, 0.5
LOW, HIGH = np.transpose([(-0.8, 1.2), (-0.5, 0.5), (-1.0, 1.0)])
RADIUS = 0.02
NOISY = [*range(3, 9), *range(12, 36)]
"""The numbers of the observation that have noise."""
TERMS = (
    "velocity", "turning", "bobbing", "rolling", "upright", "height", "gait", "slip", "effort", "smoothness", "pose",
    "rest", "alive", "fall",
)  # fmt: skip
GOAL = 0.15
"""m/s"""


def model_of(robot: kt.Model) -> mujoco.MjModel:
    """The robot for MuJoCo, without the shapes that touch nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        spec = mujoco.MjSpec.from_string(kt.to_text(robot, "mjcf", lossy=True))
    for geom in [*spec.geoms]:
        if geom.name != "ground" and not (geom.contype and geom.parent.name.endswith("_foot")):
            spec.delete(geom)
    spec.option.timestep = DT / FRAME_SKIP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND  # 5 % faster here
    return spec.compile()


class MujocoQuadruped:
    """The task for many worlds, with those methods of `kt.learning.Environment` that the learner calls."""

    name, autoreset, max_steps = "quadruped in mujoco.batch", "same_step", 1000
    observation_size, action_size = 50, 12
    action_low, action_high = np.full(12, -np.inf), np.full(12, np.inf)

    def __init__(self, robot: kt.Model, push: float = 0.4, redraw: float = 5.0, noise: float = 1.0) -> None:
        self.model, self.push, self.redraw = model_of(robot), push, redraw
        self.noise = noise * np.repeat([0.05, 0.01, 0.01, 0.02], [3, 3, 12, 12])
        self.of_feet = [k for k in range(self.model.ngeom) if self.model.geom(k).name != "ground"]
        self.ground, self.trunk = self.model.geom("ground").id, self.model.body("trunk").id
        start = robot.neutral()
        start[7:] = HOME
        frames = [name for name in robot.frames if name.endswith("_foot")]
        self.height = RADIUS - float(kt.forward_kinematics(robot, start, frames=frames)[0, 2, 3])

    def reset(self, seed: int, worlds: int, dtype: str = "float64", threads: int | None = None) -> Any:
        n, self.dtype, self.threads = worlds, dtype, threads or 2
        self.rng = np.random.default_rng(seed)
        self.batch = Batch(self.model, n, self.threads)
        self.qpos, self.qvel, self.ctrl, self.places, self.warmstart = (
            self.batch.bind(x) for x in ("qpos", "qvel", "ctrl", "geom_xpos", "qacc_warmstart")
        )
        self.mass, self.friction, self.gain, self.bias = (
            self.batch.expand(x) for x in ("body_mass", "geom_friction", "actuator_gainprm", "actuator_biasprm")
        )
        self.command, self.phase = np.zeros((n, 3)), np.zeros(n)
        self.last, self.earlier, self.feet = np.zeros((n, 12)), np.zeros((n, 12)), np.zeros((n, 4, 3))
        self.steps, self.total = np.zeros((n, 1)), np.zeros(n)
        self.begin(np.arange(n))
        seen = self.observed(*self.in_trunk()).astype(dtype)
        return SimpleNamespace(
            state=self.steps.astype(dtype), observation=seen, recorded=dict.fromkeys(TERMS), numbers=seen
        )

    def parts_of_state(self, _: Any) -> dict[str, Array]:
        return {"step": self.steps[:, 0]}

    def drawn_commands(self, n: int) -> Array:
        return np.where(self.rng.random((n, 1)) < 0.1, 0.0, self.rng.uniform(LOW, HIGH, (n, 3)))

    def begin(self, ids: Array) -> None:
        """Another episode in some worlds."""
        rng, n = self.rng, len(ids)
        yaw = np.pi * rng.uniform(-1.0, 1.0, n)
        q = np.zeros((n, 19))
        q[:, 2], q[:, 3], q[:, 6] = self.height + 0.02, np.cos(0.5 * yaw), np.sin(0.5 * yaw)
        q[:, 7:] = HOME + 0.1 * rng.uniform(-1.0, 1.0, (n, 12))
        self.qpos[ids], self.qvel[ids], self.warmstart[ids] = q, 0.0, 0.0
        self.command[ids], self.phase[ids] = self.drawn_commands(n), rng.random(n)
        self.last[ids], self.earlier[ids], self.steps[ids], self.total[ids] = 0.0, 0.0, 0.0, 0.0
        self.mass[ids, self.trunk] = self.model.body_mass[self.trunk] * rng.uniform(0.85, 1.15, n)
        self.friction[ids, self.ground, 0] = rng.uniform(0.5, 1.1, n)
        self.stiffen(ids, STIFFNESS * rng.uniform(0.9, 1.1, (n, 12)))
        self.batch.forward(ids, stage=mujoco.mjtStage.mjSTAGE_POS)
        self.feet[ids] = self.places[ids][:, self.of_feet]

    def stiffen(self, ids: Any, stiffness: Array) -> None:
        self.gain[ids, :, 0], self.bias[ids, :, 1] = stiffness, -stiffness

    def in_trunk(self) -> tuple[Array, Array, Array]:
        """The direction of gravity, the velocity and the rates in the trunk's own axes."""
        w, x, y, z = self.qpos[:, 3:7].T
        down = -np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=-1)
        xyz, v = self.qpos[:, 4:7], self.qvel[:, :3]
        t = 2.0 * np.cross(v, xyz)
        return down, v + w[:, None] * t + np.cross(t, xyz), self.qvel[:, 3:6]

    def observed(self, down: Array, v: Array, rates: Array) -> Array:
        angle = 2.0 * np.pi * self.phase[:, None]
        seen = np.concatenate(
            [v, rates, down, self.command, self.qpos[:, 7:] - HOME, self.qvel[:, 6:] / 20.0, self.last, np.cos(angle),
             np.sin(angle)], axis=1,
        )  # fmt: skip
        seen[:, NOISY] += self.noise * self.rng.normal(size=(len(seen), len(NOISY)))
        return seen

    def step(self, action: Array) -> dict[str, Array]:
        """A step of all worlds, and another episode where one has ended."""
        rng, n = self.rng, len(action)
        self.ctrl[:] = HOME + REACH * action
        self.batch.step(nstep=FRAME_SKIP, stage=mujoco.mjtStage.mjSTAGE_POS)
        pushed = np.flatnonzero(rng.random(n) < DT / 8.0)
        self.qvel[pushed, :2] += self.push * rng.uniform(-1.0, 1.0, (len(pushed), 2))
        redrawn = np.flatnonzero(rng.random(n) < DT / self.redraw)
        self.command[redrawn] = self.drawn_commands(len(redrawn))
        self.phase[:] = (self.phase + DT / STRIDE) % 1.0
        change = action - 2.0 * self.last + self.earlier
        self.earlier[:], self.last[:] = self.last, action
        slip = (self.places[:, self.of_feet, :2] - self.feet[:, :, :2]) / DT
        self.feet[:] = self.places[:, self.of_feet]
        down, v, rates = self.in_trunk()
        has_fallen = (down[:, 2] > -0.5) | (self.qpos[:, 2] < 0.16)
        terms = self.rewards(down, v, rates, action, change, slip, has_fallen)
        seen = self.observed(down, v, rates)
        reward = sum(terms.values(), np.zeros(n))
        is_sound = np.isfinite(seen).all(1) & np.isfinite(reward)
        terminated = has_fallen | ~is_sound
        reward, final = np.where(is_sound, reward, 0.0), np.where(is_sound[:, None], seen, 0.0)
        self.steps += 1.0
        self.total += reward
        truncated = self.steps[:, 0] >= self.max_steps
        found = {
            "reward": reward, "terminated": terminated, "truncated": truncated, "final_observation": final,
            "episode_return": self.total.copy(), "episode_length": self.steps[:, 0].copy(),
            **{f"reward {name}": np.where(is_sound, x, 0.0) for name, x in terms.items()},
        }  # fmt: skip
        ended = np.flatnonzero(terminated | truncated)
        if len(ended):
            self.begin(ended)
            final = final.copy()
            final[ended] = self.observed(*self.in_trunk())[ended]
        return {**found, "next": final}

    def rewards(
        self, g: Array, v: Array, w: Array, action: Array, change: Array, slip: Array, has_fallen: Array
    ) -> dict[str, Array]:
        """The terms of the reward by name."""
        q, command = self.qpos, self.command
        moves = np.where((command**2).sum(1) > 0.01, 1.0, 0.0)
        wanted = 0.08 * np.maximum(np.sin(2.0 * np.pi * (self.phase[:, None] + TROT)), 0.0) * moves[:, None]
        effort = STIFFNESS * (HOME + REACH * action - q[:, 7:]) - DAMPING * self.qvel[:, 6:]
        astray = ((command[:, :2] - v[:, :2]) ** 2).sum(1)
        of_turning = (command[:, 2] - w[:, 2]) ** 2
        terms = (
            np.exp(-astray / 0.4) + np.exp(-astray / 0.04),
            0.5 * np.exp(-of_turning / 0.4) + 0.25 * np.exp(-of_turning / 0.04),
            -1.0 * v[:, 2] ** 2,
            -0.02 * (w[:, :2] ** 2).sum(1),
            -2.0 * (g[:, :2] ** 2).sum(1),
            -20.0 * (q[:, 2] - self.height) ** 2,
            -80.0 * ((self.feet[:, :, 2] - RADIUS - wanted) ** 2).sum(1),
            -0.1 * ((wanted == 0.0) * np.minimum((slip**2).sum(2), 1.0)).sum(1),
            -2e-4 * (effort**2).sum(1),
            -0.01 * (change**2).sum(1),
            -0.1 * (q[:, 7::3] ** 2).sum(1),
            -0.5 * (1.0 - moves) * ((q[:, 7:] - HOME) ** 2).sum(1),
            np.full(len(q), 1.0),
            -1.0 / DT * has_fallen,
        )
        return {name: DT * x for name, x in zip(TERMS, terms, strict=True)}

    def unroll(self, worlds: Any, policy: Any, weights: Array, steps: int, *, record: Sequence[str], **_: Any) -> Any:
        """Many steps with a policy, and with normal noise if it explores. Threads are those of `reset`."""
        explores = hasattr(policy, "policy")
        network = policy.policy if explores else policy
        n, start = len(self.phase), 2 * self.observation_size
        mean, std = weights[: self.observation_size], weights[self.observation_size : start]
        actor = torch.from_numpy(weights[start : network.size].astype(np.float32))
        plain = kt.learning.mlp(network.sizes, network.activation)
        deviation = np.exp(weights[network.size :]) if explores else 0.0
        seen, rows = worlds.observation, dict[str, Array]()
        for t in range(steps):
            x = torch.from_numpy(((seen - mean) / std).astype(np.float32))
            middle = forward(plain, network.activation, actor, x).detach().numpy().astype(np.float64)
            action = middle + deviation * self.rng.normal(size=middle.shape) if explores else middle
            found = self.step(action) | {"observation": seen, "mean": middle, "sample": action}
            for name in record:
                if not t:
                    rows[name] = np.empty((n, steps, *found[name].shape[1:]), self.dtype)
                rows[name][:, t] = found[name]
            seen = found["next"]
        return SimpleNamespace(state=self.steps, observation=seen, rows=rows)


# -- what is measured


def difference(robot: kt.Model) -> str:
    """How far the two environments are apart after single steps from the same states."""
    env = kt.learning.task("quadruped", push=None, redraw=1e12, max_steps=None, noise={})
    other, layout = MujocoQuadruped(robot, 0.0, np.inf, 0.0), kt.interop.Layout(robot, "mujoco")
    worlds, rng = env.reset(seed=1, worlds=64), np.random.default_rng(1)
    other.reset(1, 64)
    observations, ends, largest = list[Array](), 0, dict.fromkeys(TERMS, 0.0)
    for _ in range(50):
        now = env.parts_of_state(worlds.state)
        other.qpos[:], other.qvel[:] = layout.q_to(now["q"]), layout.v_to(now["q"], now["v"])
        for name in ("command", "phase", "last", "earlier", "feet"):
            getattr(other, name)[:] = now[name]
        other.mass[:, other.trunk] = now["drawn body.trunk.mass"]
        other.friction[:, other.ground] = now["drawn shape.ground.friction"]
        of_servos = [f"drawn actuator.{other.model.actuator(k).name}.kp" for k in range(12)]
        other.stiffen(np.arange(64), np.stack([now[name] for name in of_servos], axis=1))
        action = rng.normal(size=(64, 12))
        found, worlds = other.step(action), env.step(worlds.state, action)
        observations.append(np.abs(found["final_observation"] - worlds.final_observation).max(1))
        ends += int((found["terminated"] != worlds.terminated).sum())
        for name in TERMS:
            largest[name] = max(largest[name], np.abs(found[f"reward {name}"] - worlds.recorded[name]).max())
    worst = max(TERMS, key=largest.__getitem__)
    assert len(worlds.terms) == len(TERMS)
    return (
        f"single steps from the same states: observations differ by {np.max(observations):.1g} at most (median "
        f"{np.median(observations):.1g}), terms of the reward by {largest[worst]:.1g} ({worst}), {ends} ends differ"
    )


def error(env: Any, policy: Any, weights: Array, threads: int | None) -> tuple[float, int]:
    """The mean error of the velocity in the plane, m/s, of a policy without noise, and the number of falls."""
    worlds = env.reset(99, 256, threads=threads)
    rows = env.unroll(worlds, policy, weights, 500, record=("observation", "terminated"), threads=threads).rows
    seen = rows["observation"][:, 50:]
    return float(np.linalg.norm(seen[..., :2] - seen[..., 9:11], axis=-1).mean()), int(rows["terminated"].sum())


class Run:
    """A learner with its clocks."""

    def __init__(self, env: Any, settings: PPO, seed: int, threads: int, quiet: Any) -> None:
        self.learner, self.quiet = Learner(env, settings, seed, threads), quiet
        self.wall = self.processor = self.of_environment = 0.0
        self.steps, self.reached, self.returns = 0, "never", list[float]()
        self.error, self.falls = np.nan, 0

    def iterate(self) -> None:
        wall, processor = time.perf_counter(), time.process_time()
        figures = self.learner.iterate()
        spent = time.perf_counter() - wall
        self.wall, self.processor = self.wall + spent, self.processor + time.process_time() - processor
        self.of_environment += spent * figures["environment"]
        self.steps += self.learner.steps
        if np.isfinite(figures["return"]):
            self.returns.append(figures["return"])

    def evaluate(self) -> None:
        learner = self.learner
        self.error, self.falls = error(self.quiet, learner.policy, learner.weights, learner.threads)
        if self.error < GOAL and self.reached == "never":
            self.reached = f"{self.wall:.0f} ({self.processor:.0f}) at {self.steps / 1e6:.1f} M"

    def row(self, seed: int, name: str) -> str:
        rate, last = self.steps / self.of_environment, np.mean(self.returns[-20:] or [np.nan])
        return (
            f"| {seed} | {name} | {self.steps / 1e6:.1f} M | {self.wall:.0f} ({self.processor:.0f}) | "
            f"{self.of_environment / self.wall:.0%} | {rate / 1e3:.1f} k | {last:.2f} | {self.error:.3f} | "
            f"{self.falls} | {self.reached} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=float, default=5e6)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--worlds", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--every", type=float, default=1e6)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    env, quiet = kt.learning.task("quadruped"), kt.learning.task("quadruped", push=None)
    print(difference(env.robot), flush=True)
    usual: dict[str, Any] = {name: x for name, x in training_of("quadruped")["ppo"].items() if name != "steps"}
    settings = PPO(**{**usual, **({"worlds": given.worlds} if given.worlds else {})})
    first = Learner(env, settings, 0, given.threads)  # compiled before a clock runs
    first.iterate()
    error(quiet, first.policy, first.weights, given.threads)
    print(
        "| seed | environment | steps | s | environment's share | its steps/s | return | error, m/s | falls | < 0.15 |"
    )
    print("|--:|---|--:|--:|--:|--:|--:|--:|--:|---|")
    for seed in range(given.seeds):
        pairs = {
            "kinetree": (env, quiet),
            "mujoco.batch": (MujocoQuadruped(env.robot), MujocoQuadruped(env.robot, push=0.0)),
        }
        runs = {name: Run(x, settings, seed, given.threads, quiet) for name, (x, quiet) in pairs.items()}
        own, other = runs.values()
        following = given.every
        while own.steps < given.steps:
            for run in runs.values():
                run.iterate()
            if own.steps >= min(following, given.steps):
                following += given.every
                for name, run in runs.items():
                    run.evaluate()
                    print(run.row(seed, name), flush=True)
        print(
            f"| {seed} | ratio | | {other.wall / own.wall:.2f} ({other.processor / own.processor:.2f}) | | "
            f"{other.of_environment / own.of_environment:.1f} | | | | |",
            flush=True,
        )
    print(f"load of the machine: {os.getloadavg()[1]:.1f}")


if __name__ == "__main__":
    main()
