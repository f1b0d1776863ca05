"""Frames as sites and cameras."""

from __future__ import annotations

from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_known import Written
from kinetree.io.mjcf.writing_numbers import pose
from kinetree.io.mjcf.writing_values import changed, raw_numbers, trimmed
from kinetree.io.xml_text import Tag, shown_number
from kinetree.model.extras import Camera, Site
from kinetree.model.specs import FrameSpec

__all__ = ["write_camera", "write_site"]

_SITE = Site("", "", "")
_OF_SITES = {"shape": "type", "group": "group", "color": "rgba"}
_CAMERA = Camera("", "", "")
_OF_CAMERAS = {
    "mode": "mode", "projection": "projection", "eye_distance": "ipd", "resolution": "resolution", "output": "output",
    "focal": "focal", "focal_pixel": "focalpixel", "principal": "principal", "principal_pixel": "principalpixel",
    "sensor_size": "sensorsize",
}  # fmt: skip


def write_site(body: Tag, frame: FrameSpec, site: Site | None, written: Written, losses: Losses) -> None:
    """Add a frame as a site, with the shape of the site that it was, if it was one."""
    element = body.add("site", name=frame.name if site is None else site.name)
    written.add("site", element.attributes["name"])
    element.attributes |= pose(frame.placement)
    if site is None:
        return
    what = f"site {site.name!r}"
    added = changed(site, _SITE, _OF_SITES)
    if site.size != _SITE.size:
        added["size"] = trimmed(site.size, _SITE.size)
    if mesh := written.optional(what, "mesh", site.mesh, losses):
        added["mesh"] = mesh
    elif site.shape == "mesh":
        del added["type"]
    if material := written.optional(what, "material", site.material, losses):
        added["material"] = material
    if user := raw_numbers(site.user):
        added["user"] = user
    element.attributes |= added


def write_camera(body: Tag, frame: FrameSpec, camera: Camera, written: Written, losses: Losses) -> None:
    """Add a frame as the camera that it was."""
    element = body.add("camera", name=camera.name, **pose(frame.placement))
    written.add("camera", camera.name)
    added = changed(camera, _CAMERA, _OF_CAMERAS)
    if camera.field_of_view != _CAMERA.field_of_view:
        if any(camera.sensor_size):
            losses.lost.append(
                f"camera {camera.name!r} has a field of view beside the size of its sensor, from which it follows"
            )
        else:
            added["fovy"] = shown_number(camera.field_of_view)
    if camera.target:
        added["target"] = camera.target
    if user := raw_numbers(camera.user):
        added["user"] = user
    element.attributes |= added
