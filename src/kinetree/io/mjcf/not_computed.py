"""What of a file is kept as data, although no function computes it: notes that say where it is."""

from __future__ import annotations

from kinetree.io.document import Element
from kinetree.io.notes import Notes
from kinetree.model.extras import Actuator, Sensor

__all__ = ["note_actuator", "note_sensor"]

_LAWS = ("dcmotor", "pid", "so3", "user")
_SENSORS = ("user", "plugin", "tactile", "camprojection")


def note_actuator(element: Element, actuator: Actuator, notes: Notes) -> None:
    """A note if the force of an actuator is not computed."""
    what = {word: f'"{word}"' for word in _LAWS if word in (actuator.dynamics, actuator.gain, actuator.bias)}
    if actuator.plugin is not None:
        what["plugin"] = "a plugin"
    if actuator.transmission == "body":
        what["body"] = "adhesion by contacts of a body"
    if actuator.delay:
        what["delay"] = "a delay"
    if what:
        sentence = "actuators whose forces are not computed, so that kt.dynamics.actuator_forces refuses the robot"
        notes.add(sentence, f"{element} ({', '.join(what.values())})")


def note_sensor(element: Element, sensor: Sensor, notes: Notes) -> None:
    """A note if a sensor is not computed."""
    if sensor.kind in _SENSORS:
        notes.add("sensors that are not computed, so that kt.dynamics.sensors needs the names of others", f"{element}")
    elif sensor.delay or any(sensor.interval):
        what = "a delay" if sensor.delay else "an interval"
        notes.add(
            "sensors that are not computed, so that kt.dynamics.sensors needs the names of others",
            f"{element} ({what})",
        )
