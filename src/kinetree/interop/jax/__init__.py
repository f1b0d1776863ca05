"""kinetree in JAX: `to_jax`. JAX is imported when it is called."""

from kinetree.interop.jax.adapter import adapted, dtype_among, to_jax

__all__ = ["adapted", "dtype_among", "to_jax"]
