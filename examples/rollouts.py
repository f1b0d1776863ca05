"""A thousand closed-loop rollouts: a cart-pole under its linear-quadratic regulator, from a thousand starts.

The regulator is designed for the integrator's own step, whose exact derivatives `kt.jacobian` gives. `kt.simulate`
takes all starts in one call, and calls the controller once per step with arrays (1000, …). Near the upright position
the cost of a motion must be xᵀ P x of its start, with P the solution of Riccati's equation: that is checked. From far
away the equations are no longer linear, and a motion costs more than the linear theory says.
"""

import numpy as np
from scipy.linalg import solve_discrete_are

import kinetree as kt

robot = kt.zoo.load("cart_pole")  # upright at q = 0; the motor pushes the cart
dt, Q, R = 0.01, np.diag([1.0, 10.0, 0.1, 0.1]), 0.01
still = np.zeros(2), np.zeros(2), np.zeros((1, 2)), dt
by = kt.jacobian(robot, kt.rollout, still, wrt=("q", "v", "tau"), integrator="rk4")
A, B = np.hstack([by["q"][0], by["v"][0]]), by["tau"][0, :, 0, :1]
P = solve_discrete_are(A, B, Q, [[R]])
K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)


def control(t, q, v):
    force = -np.concatenate([q, v], axis=-1) @ K.T
    return np.concatenate([force, np.zeros_like(force)], axis=-1)


rng = np.random.default_rng(0)
size = np.geomspace(1e-4, 0.5, 1000)
x0 = rng.uniform(-1, 1, (1000, 4)) * size[:, None]
motions = kt.simulate(robot, q=x0[:, :2], v=x0[:, 2:], tau=control, duration=5.0, dt=dt, passive=False)

x = np.concatenate([motions.q, motions.v], axis=-1)[:, :-1]  # (1000, 1000, 4)
cost = ((x @ Q) * x).sum(axis=(1, 2)) + R * (motions.tau[:, :-1, 0] ** 2).sum(axis=1)
ratio = cost / ((x0 @ P) * x0).sum(axis=1)
near = size < 0.01
error = abs(ratio[near] - 1).max()
print(f"cost of {near.sum()} starts near upright: xᵀ P x within {error:.0e}; of the farthest: {ratio[-1]:.2f} xᵀ P x")
assert error < 1e-3
assert abs(x[:, -1]).max() < 0.05
