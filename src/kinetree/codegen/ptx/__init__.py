"""The backend for NVIDIA's graphics processors: programs as PTX, one sample per thread."""
