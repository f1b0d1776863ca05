"""tmp"""

from kinetree import solids


def shape_moments(type_, size, *, shell):
    if type_ in ("plane", "hfield"):
        return 0.0, (0.0, 0.0, 0.0)
    f = {
        "sphere": lambda s: solids.sphere(s[0], density=1.0),
        "box": lambda s: solids.box(2 * s[0], 2 * s[1], 2 * s[2], density=1.0),
        "capsule": lambda s: solids.capsule(s[0], 2 * s[1], density=1.0),
        "cylinder": lambda s: solids.cylinder(s[0], 2 * s[1], density=1.0),
        "ellipsoid": lambda s: solids.ellipsoid(*s, density=1.0),
    }[type_](size)
    return f.mass, (f.I.xx / f.mass, f.I.yy / f.mass, f.I.zz / f.mass)
