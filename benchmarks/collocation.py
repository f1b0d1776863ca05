"""Direct collocation in IPOPT through cyipopt: iterations and time with exact Hessians and without.

    pip install kinetree cyipopt
    python benchmarks/collocation.py

cyipopt has no wheels: it is built against IPOPT's development files (`coinor-libipopt-dev` of Debian and Ubuntu, with
`liblapack-dev` and `libblas-dev`). `Collocation` has the methods that cyipopt asks for. Two problems, by both schemes:
a cart-pole that swings up with a weak motor, and an arm of seven joints that moves from one posture to another within
its limits. Both Hessians must lead to the same cost where both converge; times are processor time.
"""

from __future__ import annotations

import time
from typing import Any

import cyipopt
import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised


def main() -> None:
    """Solve, and print."""
    print(f"cyipopt {cyipopt.__version__}, IPOPT {'.'.join(map(str, cyipopt.IPOPT_VERSION))}")
    for name, make in (("cart-pole, 60 intervals", swing_up), ("arm7, 40 intervals", reaching)):
        for scheme in ("trapezoidal", "hermite_simpson"):
            nlp, x = make(scheme)
            found = {kind: solved(nlp, x, kind) for kind in ("exact", "limited-memory")}
            print(f"{name}, {scheme}: {nlp.n} variables, {nlp.m} equations")
            for kind, (info, iterations, seconds) in found.items():
                end = f"cost {info['obj_val']:.9g}" if info["status"] == 0 else "not converged"
                print(f"  {kind:>14}: {iterations} iterations, {1e3 * seconds:.0f} ms, {end}")
            costs = [info["obj_val"] for info, _, _ in found.values() if info["status"] == 0]
            assert found["exact"][0]["status"] == 0, name
            assert np.allclose(costs, costs[0], rtol=1e-6), name


def solved(nlp: kt.control.Collocation, x: Any, hessian: str) -> tuple[Any, int, float]:
    """IPOPT's result, its iterations, and the time of a second run."""
    for _ in range(2):
        own = Counted(nlp)
        problem = cyipopt.Problem(n=nlp.n, m=nlp.m, problem_obj=own, lb=nlp.lb, ub=nlp.ub, cl=nlp.cl, cu=nlp.cu)
        for option, value in (
            ("hessian_approximation", hessian), ("print_level", 0), ("sb", "yes"), ("tol", 1e-8), ("max_iter", 500),
        ):  # fmt: skip
            problem.add_option(option, value)
        began = time.process_time()
        _, info = problem.solve(x)
        taken = time.process_time() - began
    return info, own.iterations, taken


class Counted:
    """A `Collocation` whose iterations are counted."""

    def __init__(self, nlp: kt.control.Collocation) -> None:
        self.nlp, self.iterations = nlp, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.nlp, name)

    def intermediate(self, _: int, iteration: int, *__: Any) -> bool:
        """Called by IPOPT between iterations."""
        self.iterations = iteration
        return True


def swing_up(scheme: Any) -> tuple[kt.control.Collocation, Any]:
    """A cart-pole that stands up in three seconds."""
    robot, T = kt.zoo.load("cart_pole"), 60

    @kt.program(u=1)
    def effort(u: Any) -> Any:
        return 0.05 * u

    phase = kt.control.Phase(T, 0.05, effort)
    problem = kt.control.OptimalControl(robot, phase, motors=["slider"], limits=(-10.0, 10.0))
    hanging, upright = np.array([0.0, np.pi]), np.zeros(2)
    nlp = kt.control.Collocation(problem, hanging, scheme=scheme, goal=(upright, np.zeros(2)))
    return nlp, nlp.x(np.linspace(hanging, upright, T + 1), np.zeros(2), np.zeros((T, 1)))


def reaching(scheme: Any) -> tuple[kt.control.Collocation, Any]:
    """An arm from one posture to another, within the limits of its joints."""
    robot, T = kt.zoo.load("arm7"), 40

    @kt.program(v=7, u=7)
    def effort(v: Any, u: Any) -> Any:
        return np.concatenate([0.02 * u, 0.3 * v])

    problem = kt.control.OptimalControl(robot, kt.control.Phase(T, 0.02, effort), limits="effort")
    start, end = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.7, 0.0]), np.array([0.8, 0.9, -0.4, -0.6, 0.5, 1.1, 0.3])
    nlp = kt.control.Collocation(problem, start, scheme=scheme, goal=(end, np.zeros(7)), within=True)
    q = np.linspace(start, end, T + 1)
    return nlp, nlp.x(q, np.zeros(7), kt.gravity_forces(robot, q))


if __name__ == "__main__":
    main()
