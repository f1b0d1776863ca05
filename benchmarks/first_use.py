"""How long a user waits for the compiler: the first result of each case, in a process of its own with an empty cache.

    python benchmarks/first_use.py [--cases humanoid g1 …] [--against CHECKOUT] [--rounds 1]
    python benchmarks/first_use.py --run-time [--against CHECKOUT]
    python benchmarks/first_use.py --calibrate [--cases hopper …]
    python benchmarks/first_use.py --chains [--joints 10 25 50 100 150 200] [--functions crba …] [--modes value jvp …]

The first table has the seconds of the first result, as a user waits for it on an idle machine: the processor time of
the thread that asks, since other work on the machine takes turns. Then those of the first result with optimised code
(`KINETREE_OPTIMIZE=now`); of the first result in a second process, which finds its code on disk; and the peak memory.
"stewart" has a row for all functions of a platform, and one for each of them alone: what they share is compiled once.
With `--against` another checkout runs the same cases in turn, on its own sources. `--run-time` compares calls of
optimised code of twenty functions on four robots, for which both checkouts take turns.

`--calibrate` compiles forty kernels of 1,000 to 1,000,000 operations in both tiers and prints the costs of the phases
of compiling, as `kinetree/announcement.py` has them, and how far its estimates are from the time that was needed. The
costs are those of every other kernel; how good the estimates are is printed for the others apart.

`--chains` is the first use of every function and of its derivatives on chains and trees of 10 to 200 joints, in seconds
of the process's own time: "jvp" and "vjp" by all arguments, "jacobian" by the first. Chains turn about x, y and z in
turn; in trees each body hangs on a random earlier one.

The robots are those of the packages example-robot-data and gymnasium.
"""

from __future__ import annotations

import argparse
import inspect
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import kinetree as kt
from robots import ROBOTS

HERE = Path(__file__).resolve().parents[1]
Use = Callable[[], object]
"""Something to do, whose time is measured."""
PUBLIC = {
    name: getattr(room, name)
    for room in (kt.kinematics, kt.dynamics, kt.constraints, kt.contact, kt.sim, kt)
    for name in room.__all__
}


# -- robots


def loaded(name: str) -> kt.Model:
    """A robot of example-robot-data, gymnasium or the zoo; "zoo quadruped" is on its ground."""
    for robot in ROBOTS:
        if robot.name == name:
            return robot.load()
    if name.startswith("zoo "):
        return kt.zoo.load(name[4:]).on_ground()
    if not name.startswith("gymnasium "):
        return kt.zoo.load(name)
    file = distribution("gymnasium").locate_file(f"gymnasium/envs/mujoco/assets/{name[10:]}.xml")
    return kt.load(str(file))


def on_its_feet(name: str) -> kt.Model:
    """A legged robot on the ground, which its feet and its trunk may touch."""
    from contact_rollouts import SCENES, written

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scene.xml")
        written(SCENES[name], path)
        return kt.load(path)


def stewart() -> tuple[kt.Model, list[kt.constraints.Loop]]:
    """A platform on six legs that get longer, each with a universal joint below; loops hold their ends to the plate."""
    builder = kt.ModelBuilder("Stewart platform")
    builder.add_body("ground")
    builder.add_body("plate", kt.solids.cylinder(0.4, 0.05, mass=20.0))
    builder.add_joint("plate", kt.Free(), "ground", "plate", kt.lie.placement((0.0, 0.0, 1.0)))
    loops = []
    for k in range(6):
        below, above = (np.pi / 3.0 * (k + side * 0.5 - (k % 2) * side) for side in (0.0, 1.0))
        foot, end = (r * np.array([np.cos(a), np.sin(a), 0.0]) for r, a in ((0.6, below), (0.4, above)))
        along = end + np.array([0.0, 0.0, 1.0]) - foot
        tilt = [-np.arctan2(along[1], along[2]), np.arcsin(along[0] / np.linalg.norm(along)), 0.0]
        builder.add_body(f"cross {k}", kt.solids.sphere(0.02, mass=0.1))
        builder.add_body(f"tube {k}", kt.solids.cylinder(0.03, 0.5, mass=2.0))
        builder.add_body(f"rod {k}", kt.solids.cylinder(0.02, 0.5, mass=1.0))
        builder.add_joint(f"roll {k}", kt.Revolute([1, 0, 0]), "ground", f"cross {k}", kt.lie.placement(foot, rpy=tilt))
        builder.add_joint(f"pitch {k}", kt.Revolute([0, 1, 0]), f"cross {k}", f"tube {k}")
        builder.add_joint(f"leg {k}", kt.Prismatic([0, 0, 1]), f"tube {k}", f"rod {k}")
        builder.add_frame(f"end {k}", f"rod {k}", kt.lie.placement((0.0, 0.0, float(np.linalg.norm(along)))))
        builder.add_frame(f"corner {k}", "plate", kt.lie.placement(end))
        loops.append(kt.constraints.Loop(f"end {k}", f"corner {k}"))
    return builder.build(), loops


# -- cases


class Case(NamedTuple):
    """A case that a user waits for."""

    goal: str
    make: Callable[[], Use]
    """Loads what is needed; what it returns is measured."""
    shows_optimised: bool = False
    shows_warm: bool = False


def rollout(robot: Callable[[], kt.Model], **options: Any) -> Use:
    """Three steps with contacts."""
    r = robot()
    arrays = r.neutral(), np.zeros(r.nv), np.zeros((3, r.nv))
    return lambda: kt.rollout(r, *arrays, 0.002, contact=True, **options)


def call(name: str, function: str, samples: int = 0, **options: Any) -> Use:
    """A function of q, v and joint forces, of one sample or of a batch."""
    robot, of = loaded(name), PUBLIC[function]
    definition = of.definition
    sizes = [size for _, size in definition.inputs[: len(definition.inputs) - len(definition.optional)]]
    flat = [robot.neutral() if size == "nq" else np.full(robot.nv, 0.1) for size in sizes]
    arrays = [np.tile(x, (samples, 1)) for x in flat] if samples else flat
    return lambda: of(robot, *arrays, **options)


def derivative(name: str, function: str, mode: str) -> Use:
    """A derivative of a function of q, v and joint forces."""
    robot, of = loaded(name), PUBLIC[function]
    names = [key for key, _ in of.definition.inputs]
    arrays = [robot.neutral() if size == "nq" else np.full(robot.nv, 0.1) for _, size in of.definition.inputs]
    if mode == "jacobian":
        return lambda: kt.jacobian(robot, of, arrays, wrt=names[0])
    if mode == "vjp":
        return lambda: kt.vjp(robot, of, arrays, np.ones(of.definition.shape(robot, {})))
    return lambda: kt.jvp(robot, of, arrays, dict.fromkeys(names, np.ones(robot.nv)))


def repeated(name: str, times: int) -> Use:
    """A user's program whose steps are written out."""
    robot = loaded(name)

    @kt.program(q=robot, v=robot.nv)
    def steps(q: Any, v: Any) -> Any:
        for _ in range(times):
            v = v + 1e-3 * kt.aba(robot, q, v, np.zeros(robot.nv))
            q = kt.integrate(robot, q, 1e-3 * v)
        return v

    return lambda: steps(robot.neutral(), np.full(robot.nv, 0.1))


def several(name: str) -> Use:
    """A user's program with several matrices."""
    robot = loaded(name)

    @kt.program(q=robot, v=robot.nv)
    def matrices(q: Any, v: Any) -> Any:
        return kt.dynamics.coriolis_matrix(robot, q, v), kt.mass_matrix_inverse(robot, q), kt.crba(robot, q)

    return lambda: matrices(robot.neutral(), np.full(robot.nv, 0.1))


PLATFORM: dict[str, Callable[..., object]] = {
    "nearest_configuration": lambda robot, q, _, loops: kt.constraints.nearest_configuration(robot, q, loops),
    "nearest_velocity": lambda robot, q, v, loops: kt.constraints.nearest_velocity(robot, q, v, loops),
    "constraint_errors": lambda robot, q, _, loops: kt.constraints.constraint_errors(robot, q, constraints=loops),
    "constraint_jacobian": lambda robot, q, _, loops: kt.constraints.constraint_jacobian(robot, q, constraints=loops),
    "constrained_dynamics": lambda robot, q, v, loops: kt.constraints.constrained_dynamics(
        robot, q, v, 0.0 * v, constraints=loops
    ),
    "constraint_forces": lambda robot, q, v, loops: kt.constraints.constraint_forces(
        robot, q, v, 0.0 * v, constraints=loops
    ),
    "simulate": lambda robot, q, v, loops: kt.simulate(robot, q=q, v=v, constraints=loops, duration=0.01),
}
"""The functions that simulate and control a Stewart platform."""


def platform(*functions: str) -> Use:
    """Functions of a Stewart platform, one after the other."""
    robot, loops = stewart()
    with patch.dict(os.environ, KINETREE_CACHE="off"):  # these kernels are not those that are measured
        q, v = robot.neutral(), np.zeros(robot.nv)
        for _ in range(10):
            J, error = (
                kt.constraints.constraint_jacobian(robot, q, loops),
                kt.constraints.constraint_errors(robot, q, loops),
            )
            q = kt.integrate(robot, q, -np.linalg.pinv(J) @ error)
    robot, loops = stewart()

    def use() -> None:
        for name in functions:
            PLATFORM[name](robot, q, v, loops)

    return use


def gait() -> Use:
    """A trot of an ANYmal on hard ground, two steps, from standing still."""
    robot, feet, dt = loaded("ANYmal"), ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"), 0.02
    bent = {"HFE": 0.7, "KFE": -1.0}
    angles = {
        joint: (1.0 if joint[1] == "F" else -1.0) * x
        for joint in robot.joints
        for part, x in bent.items()
        if joint.endswith(part)
    }
    q0 = robot.neutral()
    for joint, angle in angles.items():
        q0[robot.joints[joint].q_slice] = angle
    homes = {foot: kt.frame_placement(robot, q0, foot)[:3, 3] for foot in feet}
    cone = np.array([[1.0, 0.0, -0.7], [-1.0, 0.0, -0.7], [0.0, 1.0, -0.7], [0.0, -1.0, -0.7], [0.0, 0.0, -1.0]])

    def residuals(q: Any, v: Any, moved: Sequence[str], goal: Any) -> list[Any]:
        away = np.concatenate([kt.difference(robot, q0, q), 0.1 * v])
        swings = [10.0 * (kt.frame_placement(robot, q, foot)[:3, 3] - x) for foot, x in zip(moved, goal, strict=True)]
        return [away, *swings]

    def phase(held: Sequence[str], knots: int) -> kt.control.Phase:
        moved = [foot for foot in feet if foot not in held]
        goal = [homes[foot] + np.array([0.05, 0.0, 0.05]) for foot in moved]

        def cost(q: Any, v: Any, u: Any, forces: Any) -> Any:
            slips = [np.maximum(cone @ f, 0.0) for f in forces.reshape(-1, 3)]
            return dt**0.5 * np.concatenate([*residuals(q, v, moved, goal), *slips, 0.01 * u])

        ports = {"q": robot, "v": robot.nv, "u": 12, "forces": 3 * len(held)}
        contacts = [kt.constraints.Contact(foot, velocity_gain=50.0) for foot in held]
        return kt.control.Phase(knots, dt, kt.program(**ports)(cost), constraints=contacts)

    def end(q: Any, v: Any) -> Any:
        return np.concatenate(residuals(q, v, (), ()))

    def use() -> None:
        turns = (feet, 5), ((feet[0], feet[3]), 10), (feet, 5), ((feet[1], feet[2]), 10), (feet, 5)
        last = kt.program(q=robot, v=robot.nv)(end)
        problem = kt.control.OptimalControl(robot, [phase(held, knots) for held, knots in turns], last)
        kt.control.ilqr(problem, q0, np.zeros(robot.nv), np.zeros((problem.steps, 12)), iterations=5)

    return use


def command(*words: str, times: int = 1) -> Use:
    """The command line; the last time counts."""
    folder = tempfile.mkdtemp()
    run = partial(
        subprocess.run, [sys.executable, "-m", "kinetree", *words], cwd=folder, check=True, capture_output=True
    )
    for _ in range(times - 1):
        run()
    return run


HUMANOID = partial(rollout, partial(loaded, "gymnasium humanoid"), integrator="semi_implicit_euler")
CASES = {
    "humanoid": Case("5 s / 15 s", HUMANOID, shows_optimised=True),
    **{
        name: Case(goal, partial(rollout, partial(on_its_feet, name)), shows_optimised=True)
        for name, goal in {"g1": "2 s", "go2": "1 s", "anymal_c": "1 s"}.items()
    },
    "panda aba": Case("0.15 s", partial(call, "Panda", "aba"), shows_optimised=True, shows_warm=True),
    "talos aba": Case("0.4 s", partial(call, "Talos", "aba"), shows_optimised=True, shows_warm=True),
    "talos aba_derivatives": Case("4 s", partial(call, "Talos", "aba_derivatives"), shows_optimised=True),
    "gait": Case("20 s, warm 3 s", gait, shows_warm=True),
    "stewart": Case("12 s", partial(platform, *PLATFORM), shows_optimised=True, shows_warm=True),
    **{f"stewart {name}": Case("", partial(platform, name), shows_optimised=True) for name in PLATFORM},
    "kinetree simulate": Case("12 s", partial(command, "simulate")),
    "simulate double_pendulum, 2nd": Case("1.5 s", partial(command, "simulate", "double_pendulum", times=2)),
}


def worked() -> float:
    """Processor time of this thread, and of the processes that were started and waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


def measure(name: str) -> None:
    """Print the seconds of a case, and the peak memory in MB of this process and of those that it started."""
    warnings.simplefilter("ignore")
    use = CASES[name].make()
    start = worked()
    use()
    seconds = worked() - start
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps((seconds, peak / 1e3)))


def asked(checkout: Path, arguments: Sequence[str], **environment: str) -> list[Any]:
    """The output of this file, run with the sources of a checkout."""
    paths = os.pathsep.join(filter(None, (str(checkout / "src"), os.environ.get("PYTHONPATH", ""))))
    env = {**os.environ, "PYTHONPATH": paths, "KINETREE_CACHE": "on", **environment}
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, env=env)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return []
    return [json.loads(line) for line in done.stdout.splitlines()]


def first_uses(names: Sequence[str], checkouts: Mapping[str, Path], rounds: int) -> None:
    """Print the table of first uses."""
    print(f"{'case':31}{'goal':16}{'':8}{'first':>8}{'optim.':>8}{'warm':>8}{'MB':>7}")
    for name in names:
        case, goal = CASES[name], CASES[name].goal
        best: dict[str, np.ndarray[Any, Any]] = {key: np.full(4, np.inf) for key in checkouts}
        for _ in range(rounds):
            for key, checkout in checkouts.items():
                row = np.full(4, np.nan)
                with tempfile.TemporaryDirectory() as folder:
                    for k, folder_name, mode in (0, "a", "background"), (1, "b", "now"), (2, "a", "background"):
                        if (k == 1 and not case.shows_optimised) or (k == 2 and not case.shows_warm):
                            continue
                        cache = str(Path(folder, folder_name))
                        options = {"KINETREE_CACHE_DIR": cache, "KINETREE_OPTIMIZE": mode}
                        if found := asked(checkout, ["--one", name], **options):
                            row[k], peak = found[0]
                            row[3] = np.fmax(row[3], peak)
                best[key] = np.fmin(best[key], row)
        for key, row in best.items():
            cells = "".join(f"{x:8.2f}" if np.isfinite(x) else f"{'':8}" for x in row[:3])
            print(f"{name:31}{goal:16}{key:8}{cells}{row[3]:7.0f}", flush=True)
            name = goal = ""


# -- run time


TIMED = (
    *("aba", "rnea", "crba", "bias_forces", "gravity_forces", "coriolis_matrix", "mass_matrix_inverse"),
    *(
        "mass_matrix_solve",
        "forward_kinematics",
        "center_of_mass",
        "center_of_mass_jacobian",
        "center_of_mass_velocity",
    ),
    *("momentum", "centroidal_momentum", "centroidal_momentum_matrix", "kinetic_energy", "potential_energy"),
    *("aba_derivatives", "rnea_derivatives", "joint_torque_regressor"),
)


def measure_calls() -> None:
    """Print for each function and robot the shortest time of one call, in µs, as often as a line is read."""
    warnings.simplefilter("ignore")
    calls = {}
    for robot in ROBOTS:
        for name in TIMED:
            use = call(robot.name, name)
            use()
            calls[f"{name} {robot.name}"] = use
    for _ in sys.stdin:
        found = {}
        for name, use in calls.items():
            times = []
            for _ in range(50):
                start = time.perf_counter()
                use()
                times.append(time.perf_counter() - start)
            found[name] = 1e6 * min(times)
        print(json.dumps(found), flush=True)


def run_times(checkouts: Mapping[str, Path], rounds: int) -> None:
    """Print the ratios of run times, after to before."""
    processes = {}
    for key, checkout in checkouts.items():
        paths = os.pathsep.join(filter(None, (str(checkout / "src"), os.environ.get("PYTHONPATH", ""))))
        env = {**os.environ, "PYTHONPATH": paths, "KINETREE_OPTIMIZE": "now"}
        processes[key] = subprocess.Popen(
            [sys.executable, __file__, "--calls"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        )
    best: dict[str, dict[str, float]] = {key: {} for key in checkouts}
    for _ in range(rounds):
        for key, process in processes.items():
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("again\n")
            process.stdin.flush()
            for name, x in json.loads(process.stdout.readline()).items():
                best[key][name] = min(x, best[key].get(name, np.inf))
    for process in processes.values():
        process.communicate()
    after, *before = best.values()
    for name, x in after.items():
        print(f"{name:40}{x:9.2f} µs" + "".join(f"{other[name]:9.2f} µs  {x / other[name]:6.3f}" for other in before))
    for other in before:
        ratios = [x / other[name] for name, x in after.items()]
        print(f"median ratio {np.median(ratios):.3f}, from {min(ratios):.3f} to {max(ratios):.3f}")


# -- the estimate of the announcements


def kernels() -> dict[str, Callable[[], Use]]:
    """Forty kernels, from short to long."""
    made: dict[str, Callable[[], Use]] = {}
    for robot in ("UR5", "Panda", "ANYmal", "Talos"):
        for function in ("aba", "rnea_derivatives", "aba_derivatives"):
            made[f"{function} {robot}"] = partial(call, robot, function)
        made[f"batch of aba {robot}"] = partial(call, robot, "aba", 16)
        made[f"vjp of rnea {robot}"] = partial(derivative, robot, "rnea", "vjp")
    for function in ("coriolis_matrix", "mass_matrix_inverse", "joint_torque_regressor"):
        made[f"{function} Talos"] = partial(call, "Talos", function)
    made["jvp of aba Talos"] = partial(derivative, "Talos", "aba", "jvp")
    made["batch of derivatives Talos"] = partial(call, "Talos", "rnea_derivatives", 16)
    made["jacobian of crba Panda"] = partial(derivative, "Panda", "crba", "jacobian")
    made["matrices ANYmal"], made["matrices Talos"] = partial(several, "ANYmal"), partial(several, "Talos")
    for times in (10, 30, 100):
        made[f"{times} steps UR5"] = partial(repeated, "UR5", times)
    for robot in ("gymnasium half_cheetah", "gymnasium hopper", "gymnasium pusher_v5", "zoo quadruped"):
        made[robot] = partial(rollout, partial(loaded, robot))
    for robot in ("gymnasium ant", "gymnasium walker2d_v5"):
        for integrator in ("semi_implicit_euler", "rk4"):
            made[f"{robot} {integrator}"] = partial(rollout, partial(loaded, robot), integrator=integrator)
    made["humanoid"] = HUMANOID
    made["humanoid rk4"] = partial(rollout, partial(loaded, "gymnasium humanoid"), integrator="rk4")
    return made


def measure_phases(name: str) -> None:
    """Print for each compilation of a kernel the phases, the numbers that they depend on, the first estimate of all of
    it, and the peak memory in MB; times are seconds of this thread's own time."""
    from kinetree import announcement

    warnings.simplefilter("ignore")
    announcement._clock = time.thread_time
    announcement._PATIENCE = 1e9
    estimates: dict[int, float] = {}
    turn = announcement._Work.turn

    def turned(self: Any, entered: Any = None) -> None:
        turn(self, entered)
        if self.is_known and id(self) not in estimates:
            estimates[id(self)] = (now := time.thread_time()) - self.begin + self.remaining(now)

    class Reports(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if hasattr(record, "spent") and "compiling" in record.spent:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
                estimate = estimates.popitem()[1]
                print(json.dumps((record.spent, record.numbers, estimate, peak)), flush=True)  # type: ignore[attr-defined]

    announcement._Work.turn = turned  # type: ignore[method-assign]
    use = kernels()[name]()
    logger = logging.getLogger("kinetree")
    logger.setLevel(logging.DEBUG)
    logger.addHandler(Reports())
    use()


def _quantiles(values: Sequence[float]) -> str:
    """The tenth, the half and nine tenths of them are below these."""
    return "".join(f"{np.quantile(values, x):10.3f}" for x in (0.1, 0.5, 0.9)) if values else ""


def calibrate(names: Sequence[str], tier: str) -> None:
    """Print the phases of kernels, the costs that follow from every other one, and how good the estimates are."""
    from kinetree.announcement import COSTS, RATIOS, Cost

    print(f'\ncosts of "{tier}"')
    rows: list[tuple[Any, Any, float]] = []
    others: list[tuple[Any, Any, float]] = []
    print(f"{'kernel':36}{'recorded':>10}{'statements':>11}{'MB text':>8}{'MB':>6}{'estimate':>9}{'needed':>8} ratio")
    for k, name in enumerate(names):
        for spent, numbers, estimate, peak in asked(
            HERE, ["--phases", name], KINETREE_CACHE="off", KINETREE_OPTIMIZE=tier
        ):
            needed = numbers["seconds"]
            (others if k % 2 else rows).append((spent, numbers, estimate / needed))
            sizes = f"{numbers['recorded']:10,}{numbers['statements']:11,}{numbers['characters'] / 1e6:8.2f}{peak:6.0f}"
            print(f"{name:36}{sizes}{estimate:9.2f}{needed:8.2f}{estimate / needed:7.2f}", flush=True)
    for phase, costs in COSTS.items():
        cost = costs if isinstance(costs, Cost) else costs[tier == "now"]
        of = cost.of
        pairs = [(numbers, spent[phase]) for spent, numbers, _ in rows if phase in spent and numbers.get(of)]
        if pairs and cost.each_alive:
            per_second = [np.array([1.0, numbers["alive"]]) * numbers[of] / seconds for numbers, seconds in pairs]
            each, alive = 1e6 * np.linalg.lstsq(np.array(per_second), np.ones(len(pairs)))[0]
            print(f"{phase:12} µs for each of {of:11}{each:10.3f} and {alive:.6f} for each value alive")
        else:
            quantiles = _quantiles([1e6 * seconds / numbers[of] for numbers, seconds in pairs])
            print(f"{phase:12} µs for each of {of:11}{quantiles}")
    for name, (of, _) in RATIOS.items():
        ratios = [numbers[name] / numbers[of] for _, numbers, _ in rows if numbers.get(of)]
        print(f"{name:12}    for each of {of:11}{_quantiles(ratios)}")
    for which, measured in ("these", rows), ("the others", others):
        if measured:
            ratio = np.array([ratio for *_, ratio in measured])
            within = int(((ratio > 1 / 1.5) & (ratio < 1.5)).sum())
            print(
                f"{within} of {len(ratio)} estimates of {which} within a factor of 1.5; from {ratio.min():.2f} to "
                f"{ratio.max():.2f}"
            )


# -- chains and trees


FUNCTIONS = {
    function.__name__: function
    for function in PUBLIC.values()
    if hasattr(function, "definition") and not function.definition.is_step
}
MODES = ("value", "jvp", "vjp", "jacobian")
LIMIT = 30
"""Seconds after which a case is given up."""


def robot_of(shape: str, joints: int, *, floats: bool = False) -> kt.Model:
    """Hinges about x, y and z in turn, one behind the other or each on a random earlier body."""
    rng = np.random.default_rng(joints)
    builder = kt.ModelBuilder(f"{shape} of {joints}")
    builder.add_body("link 0")
    for k in range(1, joints + 1):
        parent = k - 1 if shape != "tree" else int(rng.integers(0, k))
        axis = np.eye(3)[k % 3].tolist()
        solid = kt.solids.box(0.1, 0.12, 0.2, mass=1.0, placement=kt.lie.placement((0.01, 0.02, 0.1)))
        builder.add_body(f"link {k}", solid)
        place = kt.lie.placement((0.0, 0.05, 0.2))
        kind = kt.Free() if floats and k == 1 else kt.Revolute(axis)
        builder.add_joint(f"joint {k}", kind, f"link {max(parent, int(floats and k > 1))}", f"link {k}", place)
    return builder.build()


def measure_chain(name: str, mode: str, shape: str, joints: int) -> None:
    """Print the seconds of processor time that one first call takes; the robot of floating_inverse_dynamics floats."""
    warnings.simplefilter("ignore")
    function, robot = FUNCTIONS[name], robot_of(shape, joints, floats=name == "floating_inverse_dynamics")
    definition, last = function.definition, f"link {joints}"
    values = {"frame": last, "relative_to": "link 1", "expressed_in": "world", "kind": "spatial"}
    values["constraints"] = [kt.constraints.Contact(last)]  # type: ignore[assignment]
    values["wrt"] = definition.inputs[-1][0]
    options = {option: values[option] for option in definition.options if option in values}
    named = inspect.signature(function).parameters
    resolved = {
        name: check(robot, options.get(name, named[name].default)) for name, check in definition.options.items()
    }
    rng = np.random.default_rng(0)
    sizes = [definition.width(size, robot, resolved) for _, size in definition.inputs]
    arguments = [0.3 * rng.normal(size=n) for n in sizes]
    names = [name for name, _ in definition.inputs]
    start = time.process_time()
    if mode == "value":
        function(robot, *arguments[: len(names) - len(definition.optional)], **options)
    elif mode == "jvp":
        directions = [
            x[: robot.nv] if size == "nq" else x for (_, size), x in zip(definition.inputs, arguments, strict=True)
        ]
        kt.jvp(robot, function, arguments, dict(zip(names, directions, strict=True)), **options)
    elif mode == "vjp":
        kt.vjp(robot, function, arguments, np.ones(definition.shape(robot, resolved)), **options)
    else:
        kt.jacobian(robot, function, arguments, wrt=names[0], **options)
    print(time.process_time() - start)


def chains(joints: Sequence[int], functions: Sequence[str], modes: Sequence[str]) -> None:
    """Print the table of chains and trees."""
    print(f"{'':44}" + "".join(f"{n:8}" for n in joints))
    for name in functions:
        for shape in ("chain", "tree"):
            for mode in modes:
                line = f"{name:30}{shape:6}{mode:8}"
                for n in joints:
                    limit = ["-c", f'ulimit -t {LIMIT}; exec "$@"', "bash", sys.executable, __file__]
                    env = {**os.environ, "KINETREE_CACHE": "off", "KINETREE_NUM_THREADS": "1"}
                    case = ["bash", *limit, "--chain", name, mode, shape, str(n)]
                    done = subprocess.run(case, capture_output=True, text=True, env=env)
                    reason = "error" if "Error" in done.stderr else f"> {LIMIT}"
                    line += f"{float(done.stdout):8.2f}" if done.stdout.strip() else f"{reason:>8}"
                print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", metavar="CASE", help="; ".join(CASES))
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout, which is measured in turn")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--run-time", action="store_true")
    parser.add_argument("--calibrate", choices=("quick", "now", "both"), const="both", nargs="?", help="the tiers")
    parser.add_argument("--chains", action="store_true")
    parser.add_argument("--joints", type=int, nargs="+", default=[10, 25, 50, 100, 150, 200])
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=list(FUNCTIONS), metavar="NAME")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    for hidden in ("--one", "--phases"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--calls", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--chain", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    checkouts = {"after": HERE, "before": options.against.resolve()} if options.against else {"": HERE}
    if options.one:
        measure(options.one)
    elif options.phases:
        measure_phases(options.phases)
    elif options.calls:
        measure_calls()
    elif options.chain:
        name, mode, shape, joints = options.chain
        measure_chain(name, mode, shape, int(joints))
    elif options.run_time:
        run_times(checkouts, max(options.rounds, 5))
    elif options.calibrate:
        for tier in ("quick", "now") if options.calibrate == "both" else (options.calibrate,):
            calibrate(options.cases or list(kernels()), tier)
    elif options.chains:
        chains(options.joints, options.functions, options.modes)
    else:
        asked_for = options.cases or list(CASES)
        first_uses(
            [name for name in CASES if name in asked_for or name.split()[0] in asked_for], checkouts, options.rounds
        )


if __name__ == "__main__":
    main()
