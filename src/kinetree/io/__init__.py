"""Readers and writers of robot files."""

from kinetree.io.load import Repaired, load
from kinetree.io.native import from_text
from kinetree.io.save import save
from kinetree.io.sources import robots
from kinetree.io.texts import to_text
from kinetree.io.urdf import load_urdf

__all__ = ["Repaired", "from_text", "load", "load_urdf", "robots", "save", "to_text"]
