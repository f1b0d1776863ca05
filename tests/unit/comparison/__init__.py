"""Comparisons of robots."""
