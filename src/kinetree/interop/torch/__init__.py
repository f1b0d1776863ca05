"""kinetree in PyTorch: `to_torch`. PyTorch is imported when it is called."""

from kinetree.interop.torch.adapter import adapted, cast, dtype_among, to_torch

__all__ = ["adapted", "cast", "dtype_among", "to_torch"]
