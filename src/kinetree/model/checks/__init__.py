"""Conditions that the parts of a robot must satisfy."""
