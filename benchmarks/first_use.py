"""First use of every function and of its derivatives, on chains and trees of 10 to 200 joints.

    python benchmarks/first_use.py [--joints 10 25 50 100 150 200] [--functions crba …] [--modes value jvp vjp jacobian]

Seconds of this process's own time for one call whose machine code is not on disk yet: tracing, differentiating,
compiling, running. Each call runs in a process of its own. "jvp" and "vjp" are by all arguments, "jacobian" is by the
first. Chains turn about x, y and z in turn; in trees each body hangs on a random earlier one. The robot of
floating_inverse_dynamics has a free joint first.
"""

from __future__ import annotations

import argparse
import inspect
import os
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

import kinetree as kt

FUNCTIONS = {
    function.__name__: function
    for function in (getattr(kt, name) for name in kt.__all__)
    if hasattr(function, "definition") and not function.definition.is_step
}
MODES = ("value", "jvp", "vjp", "jacobian")


def robot_of(shape: str, joints: int, *, floats: bool = False) -> kt.Model:
    """Hinges about x, y and z in turn, one behind the other or each on a random earlier body."""
    rng = np.random.default_rng(joints)
    builder = kt.ModelBuilder(f"{shape} of {joints}")
    builder.add_body("link 0")
    for k in range(1, joints + 1):
        parent = k - 1 if shape != "tree" else int(rng.integers(0, k))
        axis = np.eye(3)[k % 3].tolist()
        solid = kt.solids.box(0.1, 0.12, 0.2, mass=1.0, placement=kt.placement((0.01, 0.02, 0.1)))
        builder.add_body(f"link {k}", solid)
        place = kt.placement((0.0, 0.05, 0.2))
        kind = kt.Free() if floats and k == 1 else kt.Revolute(axis)
        builder.add_joint(f"joint {k}", kind, f"link {max(parent, int(floats and k > 1))}", f"link {k}", place)
    return builder.build()


def measure(name: str, mode: str, shape: str, joints: int) -> float:
    """Seconds of processor time that one first call takes."""
    warnings.simplefilter("ignore")
    function, robot = FUNCTIONS[name], robot_of(shape, joints, floats=name == "floating_inverse_dynamics")
    definition, last = function.definition, f"link {joints}"  # type: ignore[attr-defined]
    values = {"frame": last, "relative_to": "link 1", "expressed_in": "world", "kind": "spatial"}
    values["constraints"] = [kt.Contact(last)]  # type: ignore[assignment]
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
        needed = arguments[: len(names) - len(definition.optional)]
        function(robot, *needed, **options)
    elif mode == "jvp":
        directions = [
            x[: robot.nv] if size == "nq" else x for (_, size), x in zip(definition.inputs, arguments, strict=True)
        ]
        kt.jvp(robot, function, arguments, dict(zip(names, directions, strict=True)), **options)
    elif mode == "vjp":
        kt.vjp(robot, function, arguments, np.ones(definition.shape(robot, resolved)), **options)
    else:
        kt.jacobian(robot, function, arguments, wrt=names[0], **options)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joints", type=int, nargs="+", default=[10, 25, 50, 100, 150, 200])
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=list(FUNCTIONS), metavar="NAME")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--shapes", nargs="+", choices=("chain", "tree"), default=("chain", "tree"))
    parser.add_argument("--limit", type=int, default=30, help="seconds after which a case is given up")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, mode, shape, joints = options.one
        print(measure(name, mode, shape, int(joints)))
        return
    environment = {**os.environ, "KINETREE_CACHE": "off", "KINETREE_NUM_THREADS": "1"}

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit))

    print(f"{'':44}" + "".join(f"{n:8}" for n in options.joints))
    for name in options.functions:
        for shape in options.shapes:
            for mode in options.modes:
                line = f"{name:30}{shape:6}{mode:8}"
                for joints in options.joints:
                    case = [sys.executable, __file__, "--one", name, mode, shape, str(joints)]
                    done = subprocess.run(case, capture_output=True, text=True, env=environment, preexec_fn=limited)
                    seconds = done.stdout.strip()
                    reason = "error" if "Error" in done.stderr else f"> {options.limit}"
                    line += f"{float(seconds):8.2f}" if seconds else f"{reason:>8}"
                print(line, flush=True)


if __name__ == "__main__":
    main()
