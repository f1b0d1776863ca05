"""Estimates from logs: least squares on base parameters, and inertias that bodies can have."""
