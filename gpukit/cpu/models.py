"""`numba.cuda.models`: how values of other people's types lie in memory."""

from __future__ import annotations

from numba.core.datamodel.models import PrimitiveModel, StructModel
from numba.extending import register_model

__all__ = ["PrimitiveModel", "StructModel", "register_model"]
