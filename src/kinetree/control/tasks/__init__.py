"""What a robot is asked to do in space: one file per kind of task, behind the interface in `base.py`."""

from kinetree.control.tasks.base import Task

__all__ = ["Task"]
