"""Robots by name: in wheels that hold robot files, in the cache of robot_descriptions, and in the zoo."""

from kinetree.io.sources.named import Found, find, is_name, known_beside, register, robots

__all__ = ["Found", "find", "is_name", "known_beside", "register", "robots"]
