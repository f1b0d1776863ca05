"""Inertias of solid bodies, from shape and mass or density, and of bodies whose inertia is already known.

Each function returns an inertia in the body's own frame, ready for `ModelBuilder.add_body`; `placement` is that of the
solid's frame in the body's, a `Transform` or an array (4, 4). Inertias of one body are added with `+`.

>>> import kinetree as kt
>>> link = kt.solids.cylinder(0.04, 0.3, density=2700.0) + kt.solids.sphere(
...     0.06, mass=1.0, placement=kt.lie.placement((0, 0, 0.15))
... )
>>> round(link.mass, 4)
5.0715
"""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.solids.inertias import inertia
    from kinetree.solids.polyhedra import mesh, mesh_file
    from kinetree.solids.shapes import box, capsule, cylinder, ellipsoid, sphere

__all__ = ["box", "capsule", "cylinder", "ellipsoid", "inertia", "mesh", "mesh_file", "sphere"]
