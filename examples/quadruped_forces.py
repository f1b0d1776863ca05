"""Contact forces: the four feet of an A1 quadruped, and Pinocchio finds the same.

The feet are held as points, and `kt.constraints.constraint_forces` returns the force on each in the world's axes.
Pinocchio has the legs in another order than the file; `kt.interop.Layout` knows this order, so the same state is handed
over without naming a joint.
"""

from importlib.metadata import distribution

import numpy as np
import pinocchio as pin

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
path = robots / "a1_description/urdf/a1.urdf"
a1 = kt.load(path, floating_base=True)
feet = a1.frames.matching("*foot")
contacts = [kt.constraints.Contact(foot) for foot in feet]
q = a1.neutral()
q[7:] = [0.1, 0.8, -1.6, -0.1, 0.7, -1.5, 0.05, 0.9, -1.7, 0.0, 0.8, -1.6]
v = kt.constraints.nearest_velocity(a1, q, np.linspace(-1.0, 1.0, a1.nv), contacts)  # the trunk sways, the feet stay
tau = np.r_[np.zeros(6), 0, 3, 6, 0, 4, 6, 0, 4, 7, 0, 3, 5]

forces = kt.constraints.constraint_forces(a1, q, v, tau, contacts).reshape(4, 3)

model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
data, layout = model.createData(), kt.interop.Layout(a1, "pinocchio")
models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
for foot in feet:
    frame = model.frames[model.getFrameId(foot)]
    kind, axes = pin.ContactType.CONTACT_3D, pin.LOCAL_WORLD_ALIGNED
    models.append(pin.RigidConstraintModel(kind, model, frame.parentJoint, frame.placement, axes))
    datas.append(models[-1].createData())
pin.initConstraintDynamics(model, data, models, datas)
pin.constraintDynamics(model, data, layout.q_to(q), layout.v_to(q, v), layout.tau_to(q, tau), models, datas)
theirs = np.array([found.contact_force.linear for found in datas])

for foot, force in zip(feet, forces, strict=True):
    print(f"{foot}: {(force + 0.0).round(1)} N")
difference = abs(forces - theirs).max()
print(f"largest difference from Pinocchio: {difference:.0e} N")
assert difference < 1e-6
