"""Motions that make parameters visible: finite Fourier series, and the search for the best one within limits."""
