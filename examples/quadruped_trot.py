"""A quadruped stands, then trots in place by whole-body control, on ground that pushes back as contacts do.

At each moment `kt.control.WholeBody` solves one problem: the feet that stand do not move, their forces stay in friction
cones, the trunk is held, and the feet in the air follow arcs. Diagonal pairs of legs take turns; a contact is switched
off while its foot is in the air. The simulation knows nothing of this: the ground is that of `kt.simulate`, with
contacts that give way a little and slide where the friction ends.
"""

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

STAND, STEP, STEPS, LIFT, DOWN = 0.3, 0.22, 4, 0.06, 0.015  # the arcs end below the ground, so feet do touch it
robot = kt.zoo.load("quadruped").on_ground().without_self_contact()
feet = [name for name in robot.frames if name.endswith("foot")]
pairs = [[name for name in feet if name.startswith(("front_left", "hind_right"))]]
pairs += [[name for name in feet if name not in pairs[0]]]
q0 = robot.neutral()
q0[7:] = np.tile([0.0, 0.7, -1.4], 4)
q0[2] -= kt.frame_placement(robot, q0, feet[0])[2, 3] - 0.02
homes = {name: kt.frame_placement(robot, q0, name)[:3, 3] for name in feet}
trunk = kt.frame_placement(robot, q0, "trunk")

control = kt.control
tasks = {f"swing of {name}": control.Position(name) for name in feet}
tasks |= {"trunk": control.Pose("trunk", weight=10.0, priority=1), "posture": control.Posture(weight=0.1, priority=1)}
controller = control.WholeBody(
    robot, tasks, {name: control.Support(name, friction=0.6, velocity_gain=20.0) for name in feet},
    stiffness={"trunk": 150.0, "posture": 50.0, **{f"swing of {name}": 900.0 for name in feet}},
)  # fmt: skip
controller.step(q0, np.zeros(robot.nv), {"trunk": trunk, "posture": q0, **{f"swing of {n}": homes[n] for n in feet}})
loads = []


def trot(t, q, v):
    step = int((t - STAND) / STEP) if t > STAND else -1
    swinging = pairs[step % 2] if 0 <= step < STEPS else []
    s = (t - STAND) / STEP - step  # from 0 to 1 in each step
    rise, rate, curve = (
        LIFT * np.sin(np.pi * s) ** 2 - DOWN * s,
        LIFT * np.pi / STEP * np.sin(2.0 * np.pi * s) - DOWN / STEP,
        2.0 * LIFT * (np.pi / STEP) ** 2 * np.cos(2.0 * np.pi * s),
    )
    active = {name: name not in swinging for name in feet}
    active |= {f"swing of {name}": name in swinging for name in feet}
    found = controller.step(
        q, v, {f"swing of {name}": homes[name] + [0.0, 0.0, rise] for name in swinging},
        {f"swing of {name}": [0.0, 0.0, rate] for name in swinging},
        {f"swing of {name}": [0.0, 0.0, curve] for name in swinging}, active=active,
    )  # fmt: skip
    loads.append([found.forces[name][2] for name in feet])
    return found.tau


motion = kt.simulate(
    robot, q=q0, v=np.zeros(robot.nv), tau=trot, duration=STAND + STEP * STEPS + 0.3, contact=True, dt=2e-3
)
heights = np.array([kt.frame_placement(robot, motion.q, name)[:, 2, 3] for name in feet]) - homes[feet[0]][2]
sway = abs(motion.q[:, :3] - q0[:3]).max()
picture, (above, below) = plt.subplots(2, 1, figsize=(10, 5.5), layout="constrained")
above.imshow(motion.strip(size=(1200, 300), moments=7))
above.axis("off")
for name, height in zip(feet, heights, strict=True):
    below.plot(motion.time, 1e3 * height, label=name.replace("_", " "))
below.set_xlabel("time (s)")
below.set_ylabel("height of the feet (mm)")
below.legend(fontsize="small", loc="upper right")
picture.savefig("quadruped_trot.png")

lifted = heights.max(axis=1)
print(f"feet lifted by {1e3 * lifted.min():.0f} mm or more; the trunk moves by {1e3 * sway:.0f} mm at most")
print(f"the sum of the planned forces is at the end {np.sum(loads[-1]):.1f} N; the weight is {9.81 * robot.mass:.1f} N")
assert lifted.min() > 0.6 * LIFT
assert sway < 0.05
