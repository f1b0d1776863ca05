"""A trajectory read into pandas: the period of a pendulum, and its energies second by second.

`motion.to_dataframe()` is a table with a row per step, the time as its index, and a column for each coordinate,
velocity, acceleration, torque and energy. From here on it is all pandas: moments are selected by a condition, rows are
grouped by time. The period of small swings must be 2 π √(I / k), with I the inertia about the joint and k the slope of
gravity's moment.
"""

import numpy as np

import kinetree as kt

pendulum = kt.zoo.load("double_pendulum").lock("elbow")
motion = kt.simulate(pendulum, q=[0.02], duration=20.0, passive=False)

table = motion.to_dataframe()
angle = table["q.shoulder"]
upward = table.index[(angle >= 0) & (angle.shift() < 0)]
period = np.diff(upward).mean()
seconds = table[["kinetic", "potential"]].groupby(table.index // 1).agg(["mean", "max"])
print(seconds.head())

I, k = kt.mass_matrix(pendulum, [0.0])[0, 0], kt.jacobian(pendulum, kt.gravity_forces, ([0.0],), wrt="q")[0, 0]
theory = 2 * np.pi * np.sqrt(I / k)
print(f"period: {period:.4f} s in the table, {theory:.4f} s in theory")
assert abs(period / theory - 1) < 1e-3
