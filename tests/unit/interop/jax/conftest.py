"""JAX has two devices here, and double precision unless a test says otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)
