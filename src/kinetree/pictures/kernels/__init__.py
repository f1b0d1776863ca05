"""Computations per vertex, triangle, sample and pixel: plain loops, made into machine code by `codegen/loops/`."""
