"""iLQR on 50 knots: torques that move a UR5 to a goal in one second.

The iterative linear-quadratic regulator linearises the steps along the present motion, solves the linear-quadratic
problem that results, from the last knot to the first, and applies its feedback from the first to the last. A step is
`kt.rollout` with one row of torques; its exact derivatives at all knots are one call of `kt.jacobian`. At the optimum
the gradient of the whole cost by all torques is zero: that is checked by `kt.vjp` of the whole rollout, which the
method itself does not use.
"""

from importlib.metadata import distribution

import numpy as np

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
ur5 = kt.load(robots / "ur_description/urdf/ur5_robot.urdf")
N, dt, n = 50, 0.02, ur5.nv
x0, goal = np.r_[0.0, -1.5, 1.5, -1.5, -1.5, 0.0, np.zeros(n)], np.r_[0.8, -1.0, 1.0, -1.0, -1.0, 0.5, np.zeros(n)]
Q, R, Q_end = np.diag([0.02] * n + [0.002] * n), 2e-5 * np.eye(n), np.diag([1e3] * n + [1e2] * n)

us = np.tile(kt.gravity_forces(ur5, x0[:n]), (N, 1))
xs = np.vstack([x0, kt.rollout(ur5, x0[:n], x0[n:], us, dt)])
for _ in range(15):
    knots = xs[:-1, :n], xs[:-1, n:], us[:, None], dt
    by = kt.jacobian(ur5, kt.rollout, knots, wrt=("q", "v", "tau"))
    A, B = np.concatenate([by["q"], by["v"]], axis=-1)[:, 0], by["tau"][:, 0, :, 0]
    s, S, changes, gains = Q_end @ (xs[-1] - goal), Q_end, np.empty((N, n)), np.empty((N, n, 2 * n))
    for k in reversed(range(N)):
        H = R + B[k].T @ S @ B[k]
        changes[k] = -np.linalg.solve(H, R @ us[k] + B[k].T @ s)
        gains[k] = -np.linalg.solve(H, B[k].T @ S @ A[k])
        s = Q @ (xs[k] - goal) + A[k].T @ (s + S @ B[k] @ changes[k])
        S = Q + A[k].T @ S @ (A[k] + B[k] @ gains[k])
    before, xs = xs, xs.copy()
    for k in range(N):
        us[k] += changes[k] + gains[k] @ (xs[k] - before[k])
        xs[k + 1] = kt.rollout(ur5, xs[k, :n], xs[k, n:], us[k, None], dt)[0]
    print(f"largest change of a torque: {abs(changes).max():.1e} N·m")

weights = np.vstack([xs[1:-1] @ Q - Q @ goal, Q_end @ (xs[-1] - goal)])  # half the cost's derivatives by the states
_, by = kt.vjp(ur5, kt.rollout, (x0[:n], x0[n:], us, dt), weights, wrt="tau")
gradient = abs(by["tau"] + us @ R).max()
print(f"at the goal within {abs(xs[-1] - goal).max():.0e}; largest entry of the gradient: {gradient:.0e}")
assert abs(xs[-1] - goal).max() < 0.01
assert gradient < 1e-10
