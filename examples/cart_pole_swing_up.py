"""Swinging up a cart-pole: the optimal motion with a weak motor, and its feedback from another start.

The motor pushes the cart with at most 8 N, and nothing drives the pole, which hangs at first. iLQR finds three seconds
in which it stands up; limits hold by projected Newton steps. The feedback of its last backward pass then brings the
pole up from starts beside the one that was planned for. At the optimum the gradient of the whole cost is zero wherever
the motor is not at its limit: that is checked by `kt.vjp` of the whole rollout, which the method itself does not use.
"""

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

robot = kt.zoo.load("cart_pole")  # upright at q = 0; v_names are "slider" and "hinge"
STEPS, DT, MOST = 150, 0.02, 8.0


@kt.program(q=robot, v=robot.nv, u=1)
def effort(q, v, u):
    return np.concatenate([0.03 * u, 0.1 * q[:1], 0.03 * v])


@kt.program(q=robot, v=robot.nv)
def upright(q, v):
    return 30.0 * np.stack([q[0], np.sin(0.5 * q[1]), 0.3 * v[0], 0.3 * v[1]])


phase = kt.control.Phase(STEPS, DT, effort)
problem = kt.control.OptimalControl(robot, phase, upright, motors=["slider"], limits=(-MOST, MOST))
hanging = np.array([0.0, np.pi])
plan = kt.control.ilqr(problem, hanging, u=np.full((STEPS, 1), 0.1), iterations=300, tolerance=1e-12)
print(plan)


def control(t, q, v):
    k = min(round(t / DT), STEPS - 1)
    u = plan.u[k] + plan.gains[k] @ np.concatenate([robot.difference(plan.q[k], q), v - plan.v[k]])
    return np.array([np.clip(u[0], -MOST, MOST), 0.0])


motion = kt.simulate(
    robot, q=[0.1, np.pi - 0.2], tau=control, duration=STEPS * DT, dt=DT, control_dt=DT,
    integrator="semi_implicit_euler",
)  # fmt: skip
figure, (above, below) = plt.subplots(2, 1, figsize=(9.0, 6.0))
for k in range(0, len(motion.time), 5):  # the pole, from left to right in time
    x, angle = motion.q[k] + [2.0 * motion.time[k], 0.0]
    above.plot([x, x + np.sin(angle)], [0.0, np.cos(angle)], color=plt.cm.viridis(k / len(motion.time)))
    above.plot(x, 0.0, "ks", markersize=4)
above.set_aspect("equal")
above.axis("off")
below.plot(problem.times[:-1], plan.u, label="force on the cart (N)")
below.plot(problem.times, plan.q[:, 1], label="angle as planned (rad)")
below.plot(motion.time, motion.q[:, 1], "--", label="angle from another start (rad)")
below.set_xlabel("time (s)")
below.legend(fontsize="small")
figure.tight_layout()
figure.savefig("cart_pole_swing_up.png")

# The gradient of the whole cost, backward through the whole rollout
tau = np.hstack([plan.u, np.zeros((STEPS, 1))])
states = np.hstack([plan.q, plan.v])
slopes = [kt.vjp(effort, (x[:2], x[2:], u), effort(x[:2], x[2:], u))[1] for x, u in zip(states, plan.u, strict=False)]
end = kt.vjp(upright, (plan.q[-1], plan.v[-1]), upright(plan.q[-1], plan.v[-1]))[1]
weights = np.array([np.concatenate([s["q"], s["v"]]) for s in [*slopes[1:], end]])
_, by = kt.vjp(robot, kt.rollout, (hanging, np.zeros(2), tau, DT), weights, wrt="tau")
gradient = by["tau"][:, 0] + np.array([s["u"][0] for s in slopes])
inside = abs(plan.u[:, 0]) < MOST
print(f"{(~inside).sum()} of {STEPS} steps are at the limit; largest entry of the gradient elsewhere: ", end="")
print(f"{abs(gradient[inside]).max():.0e}; the pole ends {abs(np.sin(0.5 * motion.q[-1, 1])):.0e} from upright")
assert plan.converged
assert abs(gradient[inside]).max() < 1e-5
assert (gradient[~inside] * plan.u[~inside, 0] < 0.0).all()
assert abs(np.sin(0.5 * motion.q[-1, 1])) < 0.02
