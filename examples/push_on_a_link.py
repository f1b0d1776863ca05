"""A push on a link: 50 N against the forearm of a UR5 for a tenth of a second.

An external force is given by the frame it acts on and the axes it is in; here it is a force in the world's axes at a
point of the forearm. The motors carry the arm's weight. At the first moment M q̈ = Jᵀ f, with J the Jacobian of the
point; in the end the work of the push, the integral of f · ẋ, is the arm's kinetic energy. Both are checked.
"""

from importlib.metadata import distribution

import numpy as np

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
ur5 = kt.load(robots / "ur_description/urdf/ur5_robot.urdf")

q = np.array([0.3, -1.0, 1.2, 0.4, 0.5, 0.0])
force, point = [0.0, 50.0, 0.0], [0.0, 0.1, 0.2]  # in the world's axes; in those of the forearm
push = np.zeros((300, 6))  # a row per millisecond
push[:100] = [*force, *point]
motion = kt.simulate(
    ur5, q=q, tau=lambda t, q, v: kt.gravity_forces(ur5, q), control_dt="stages", passive=False, duration=0.3,
    f_ext={kt.dynamics.ForceOn("forearm_link", "local_world_aligned"): push},
)  # fmt: skip

J = kt.kinematics.point_jacobian(ur5, q, point, "forearm_link", expressed_in="world")
first = abs(motion.qdd[0] - np.linalg.solve(kt.mass_matrix(ur5, q), J.T @ force)).max()
speed = kt.kinematics.point_velocity(ur5, motion.q[:101], motion.v[:101], point, "forearm_link", expressed_in="world")
work = np.trapezoid(speed @ force, motion.time[:101])
print(f"q̈ at first: {motion.qdd[0].round(2)} rad/s², kinetic energy {motion.kinetic[-1]:.4f} J, work {work:.4f} J")
assert first < 1e-10
assert abs(motion.kinetic[-1] / work - 1) < 1e-4
