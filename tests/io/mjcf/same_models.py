"""Two models that MuJoCo compiled, of a file and of what was written of it, array by array."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

ACCURACY = 1e-9
_PREFIXES = (
    "actuator", "body", "cam", "dof", "eq", "exclude", "flex", "geom", "jnt", "key", "light", "mat", "mocap", "numeric",
    "pair", "plugin", "qpos", "sensor", "site", "skin", "tendon", "text", "tex", "tree", "tuple", "wrap",
)  # fmt: skip
_STORAGE = frozenset({
    "geom_dataid", "geom_aabb", "geom_rbound", "mat_texid", "site_dataid", "tex_data", "tex_adr", "tex_pathadr",
    "body_iquat", "body_inertia", "body_sameframe", "geom_sameframe", "site_sameframe", "body_simple", "dof_simplenum",
    "body_bvhadr", "body_bvhnum", "skin_pathadr", "flex_bvhadr", "flex_bvhnum", "body_plugin", "plugin_attr",
})  # fmt: skip
"""Where things are stored, and what follows from meshes, which are compared as files."""
_NAMED = (
    "body", "joint", "geom", "site", "camera", "tendon", "actuator", "sensor", "key", "material", "equality", "pair",
)  # fmt: skip
_QUATERNIONS = frozenset({"body_quat", "geom_quat", "site_quat", "cam_quat", "key_mquat", "eq_data"})


def unlike(a: Any, b: Any, *, accuracy: float = ACCURACY) -> list[str]:
    """The names of arrays that differ, with the largest difference of each; sizes and names first."""
    sizes = [(name, getattr(a, name), getattr(b, name)) for name in _SIZES]
    found = [f"{name}: {one} and {other}" for name, one, other in sizes if one != other]
    if found:
        return found
    order = _site_order(a, b)
    for kind in _NAMED:
        count = {"joint": "njnt", "camera": "ncam", "material": "nmat", "equality": "neq"}.get(kind, f"n{kind}")
        for k in range(getattr(a, count)):
            one, other = _name(a, kind, k), _name(b, kind, int(order[k]) if kind == "site" else k)
            if one != other and one:
                found.append(f"{kind} {k}: {one!r} and {other!r}")
    for name in dir(a):
        if name.partition("_")[0] in _PREFIXES and name not in _STORAGE:
            one, other = _array(a, name), _array(b, name)
            if isinstance(one, np.ndarray) and name.startswith("site_"):
                other = other[order]
            if name in _SITES:
                is_site = np.asarray(getattr(a, _SITES[name][0])) == int(_SITES[name][1])
                back = np.argsort(order)
                is_site = np.broadcast_to(is_site.reshape(-1, *(1,) * (other.ndim - 1)), other.shape) & (other >= 0)
                other = np.where(is_site, back[np.where(is_site, other, 0)] if back.size else other, other)
            if isinstance(one, np.ndarray):
                is_seen = _seen(name, a)
                found += _difference(name, one * is_seen, other * is_seen, accuracy)
    found += _difference("inertia", _inertias(a), _inertias(b), accuracy)
    for name in dir(a.opt):
        if not name.startswith("_"):
            found += _difference(f"opt.{name}", np.asarray(getattr(a.opt, name)), np.asarray(getattr(b.opt, name)), 0.0)
    return found


_SIZES = (
    "nq", "nv", "nu", "na", "nbody", "njnt", "ngeom", "nsite", "ncam", "nlight", "nmat", "ntex", "npair", "nexclude",
    "neq", "ntendon", "nwrap", "nsensor", "nkey", "nmocap", "nplugin", "nhfield", "nflex", "nskin", "nnumeric", "ntext",
    "ntuple", "nsensordata", "nuserdata",
)  # fmt: skip


def _array(model: Any, name: str) -> Any:
    """An array of a model; colours are those of materials where these are in force."""
    found = getattr(model, name)
    if name in ("geom_rgba", "site_rgba", "tendon_rgba") and model.nmat:
        materials = getattr(model, name.replace("rgba", "matid"))
        is_default = (found == np.array([0.5, 0.5, 0.5, 1.0])).all(axis=1) & (materials >= 0)
        return np.where(is_default[:, None], model.mat_rgba[materials], found)
    return found


_SITES = {
    "sensor_objid": ("sensor_objtype", mujoco.mjtObj.mjOBJ_SITE),
    "sensor_refid": ("sensor_reftype", mujoco.mjtObj.mjOBJ_SITE),
    "eq_obj1id": ("eq_objtype", mujoco.mjtObj.mjOBJ_SITE),
    "eq_obj2id": ("eq_objtype", mujoco.mjtObj.mjOBJ_SITE),
    "wrap_objid": ("wrap_type", mujoco.mjtWrap.mjWRAP_SITE),
    "actuator_trnid": ("actuator_trntype", mujoco.mjtTrn.mjTRN_SITE),
}
"""Arrays of indices, and where these are those of sites."""


def _site_order(a: Any, b: Any) -> Any:
    """The index in the second model of each site of the first: those without a name come last in a body there."""
    places: dict[tuple[int, str], list[int]] = {}
    for k in range(b.nsite):
        places.setdefault((int(b.site_bodyid[k]), _name(b, "site", k)), []).append(k)
    found = []
    for k in range(a.nsite):
        held = places.get((int(a.site_bodyid[k]), _name(a, "site", k)), [])
        found.append(held.pop(0) if held else k)
    return np.array(found, dtype=int)


def _seen(name: str, model: Any) -> Any:
    """Which entries of an array have a meaning: not the grid of a plane, the anchor of a slide, ranges not in force."""
    if name in ("geom_size", "site_size"):
        types = getattr(model, name.replace("size", "type"))
        return np.arange(3) < np.array([_SIZES_USED.get(int(type_), 3) for type_ in types]).reshape(-1, 1)
    if name == "jnt_pos":
        return 1 - (model.jnt_type[:, None] == mujoco.mjtJoint.mjJNT_SLIDE)
    if name == "dof_length":
        return 0
    if name in _RANGES:
        return getattr(model, _RANGES[name])[:, None]
    return 1


_SIZES_USED = {
    int(mujoco.mjtGeom.mjGEOM_PLANE): 2, int(mujoco.mjtGeom.mjGEOM_SPHERE): 1, int(mujoco.mjtGeom.mjGEOM_CAPSULE): 2,
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): 2,
}  # fmt: skip
"""How many numbers of a size count, where these are not all three."""
_RANGES = {"jnt_range": "jnt_limited", "jnt_actfrcrange": "jnt_actfrclimited"}


def _name(model: Any, kind: str, k: int) -> str:
    return str(mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), k) or "")


def _inertias(model: Any) -> Any:
    """The inertias of bodies in their own frames; principal axes need not be the same."""
    R = np.empty((model.nbody, 9))
    for k in range(model.nbody):
        mujoco.mju_quat2Mat(R[k], model.body_iquat[k])
    R = R.reshape(-1, 3, 3)
    return np.einsum("bij,bj,bkj->bik", R, model.body_inertia, R)


def _difference(name: str, one: Any, other: Any, accuracy: float) -> list[str]:
    if one.shape != other.shape:
        return [f"{name}: {one.shape} and {other.shape}"]
    if not one.size or one.dtype.kind not in "fiub":
        return []
    x, y = one.astype(float), other.astype(float)
    if name == "eq_data":
        x, y = (
            np.concatenate([v[:, :6], v[:, 6:10] * np.where(v[:, 6:7] < 0.0, -1.0, 1.0), v[:, 10:]], 1) for v in (x, y)
        )
    if name in _QUATERNIONS and name != "eq_data":
        x, y = (v.reshape(-1, 4) for v in (x, y))
        y = y * np.where((x * y).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    scale = max(1e-3, float(np.abs(x).max()))
    bad = np.abs(x - y) > accuracy * scale
    if not bad.any():
        return []
    k = tuple(int(i) for i in np.argwhere(bad)[0])
    return [f"{name}{list(k)}: {x[k]:.12g} and {y[k]:.12g} ({bad.sum()} of {bad.size})"]
