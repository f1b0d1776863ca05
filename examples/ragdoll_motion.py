"""A ragdoll tucks and opens up in the air, driven by its joints alone, then goes limp and falls to the ground.

Nothing drives the root. While it flies, the limbs follow a motion given in advance: the joint torques are those of
`kt.dynamics.floating_inverse_dynamics`, in the kernel of the simulation, and what the trunk does follows from them. The
momentum about the centre of mass is conserved, so tucking makes the ragdoll spin faster.
`kt.control.prescribed_motion` finds the same torques from the recorded motion alone. With the torques off, the ragdoll
is a passive body, which the ground stops. The picture shows the flight above and the fall below.
"""

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

ragdoll = kt.zoo.load("ragdoll")
tuck = np.zeros(ragdoll.nv)
for name, turn in {"hip": [0.0, -1.7, 0.0], "knee": [1.7], "shoulder": [0.0, -0.8, 0.0], "elbow": [-0.8]}.items():
    for side in ("left", "right"):
        tuck[ragdoll.joints[f"{side}_{name}"].v_slice] = turn
DURATION, K, D = 0.8, 400.0, 40.0


@kt.program(t=(), q=ragdoll, v=ragdoll.nv)
def follow(t, q, v):
    phase = 2.0 * np.pi * t / DURATION  # s = (1 − cos)/2 goes from 0 to 1 and back
    s, rate = 0.5 * (1.0 - np.cos(phase)), np.pi / DURATION * np.sin(phase)
    curve = 2.0 * (np.pi / DURATION) ** 2 * np.cos(phase)
    wanted = kt.integrate(ragdoll, ragdoll.neutral(), s * tuck)
    qdd = curve * tuck + D * (rate * tuck - v) + K * kt.difference(ragdoll, q, wanted)
    found = kt.dynamics.floating_inverse_dynamics(ragdoll, q, v, qdd)
    return {"tau": found.tau, "torques": found.tau, "accelerations": found.qdd}


start, throw = ragdoll.neutral(), np.zeros(ragdoll.nv)
start[2] += 1.0
throw[[0, 2, 4]] = 0.6, 4.0, 2.5  # forward, up, and spinning forward
flight = kt.simulate(ragdoll, q=start, v=throw, tau=follow, duration=DURATION, passive=False, control_dt="stages")

momentum = kt.dynamics.centroidal_momentum(ragdoll, flight.q, flight.v)
drift = abs(momentum[:, 3:] - momentum[0, 3:]).max()
moments = slice(0, len(flight.time) - 1, 100)
accelerations, torques = flight.recorded["accelerations"][moments], flight.recorded["torques"][moments]
found = kt.control.prescribed_motion(ragdoll, flight.q[moments], flight.v[moments], accelerations)
apart = abs(found.tau - torques).max()

limp = kt.zoo.load("ragdoll").on_ground()
fall = kt.simulate(limp, q=flight.q[-1], v=flight.v[-1], duration=2.2, dt=2e-3, contact=True)

pictures = np.vstack([motion.strip(size=(960, 300), moments=6) for motion in (flight, fall)])
plt.imsave("ragdoll_motion.png", pictures)
print(f"in the air the angular momentum drifts by {drift:.0e} kg·m²/s; torques found again to {apart:.0e} N·m")
print(f"on the ground it comes to rest at {fall.q[-1, 2]:.2f} m, with {abs(fall.v[-1]).max():.2f} rad/s at most")
assert drift < 1e-6
assert apart < 1e-6
assert abs(fall.v[-1]).max() < 0.1
