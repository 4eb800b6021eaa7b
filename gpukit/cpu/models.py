"""`numba.cuda.models`: the memory layout of the values of third-party types."""

from __future__ import annotations

from numba.core.datamodel.models import PrimitiveModel, StructModel
from numba.extending import register_model

__all__ = ["PrimitiveModel", "StructModel", "register_model"]
