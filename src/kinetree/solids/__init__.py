"""Inertias of solid bodies, by shape and by mass or density, and of bodies whose inertia is known already.

Each function returns an inertia in the body's own frame, ready for `ModelBuilder.add_body`; `placement` says where the
solid's frame stands in the body's. Inertias of one body add up with `+`.

>>> import kinetree as kt
>>> link = kt.solids.cylinder(0.04, 0.3, density=2700.0) + kt.solids.sphere(
...     0.06, mass=1.0, placement=kt.placement((0, 0, 0.15))
... )
>>> round(link.mass, 4)
5.0715
"""

from kinetree.solids.known import inertia
from kinetree.solids.polyhedra import mesh, mesh_file
from kinetree.solids.shapes import box, capsule, cylinder, ellipsoid, sphere

__all__ = ["box", "capsule", "cylinder", "ellipsoid", "inertia", "mesh", "mesh_file", "sphere"]
