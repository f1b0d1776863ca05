"""NVIDIA's graphics processors, through the driver alone: no toolkit and no package is needed."""
