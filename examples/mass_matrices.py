"""Ten thousand mass matrices of a Panda and their inverses.

All functions take arrays with leading axes, so a batch is one call. The inverse is computed from the tree without
forming M, so M M⁻¹ = 1 compares two different algorithms; in addition M must be positive definite.
"""

from importlib.metadata import distribution
from time import perf_counter

import numpy as np

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
panda = kt.load(robots / "panda_description/urdf/panda.urdf")

q = panda.random(0, size=10_000)
kt.mass_matrix(panda, q[:16]), kt.mass_matrix_inverse(panda, q[:16])  # the first call compiles
begin = perf_counter()
M = kt.mass_matrix(panda, q)  # (10000, 8, 8)
inverse = kt.mass_matrix_inverse(panda, q)
seconds = perf_counter() - begin

error = abs(M @ inverse - np.eye(panda.nv)).max()
print(f"{len(q)} mass matrices and inverses in {1e3 * seconds:.1f} ms; largest entry of M M⁻¹ − 1: {error:.0e}")
assert error < 1e-10
assert np.linalg.eigvalsh(M).min() > 0
