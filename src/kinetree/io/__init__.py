"""Readers and writers of robot files."""
