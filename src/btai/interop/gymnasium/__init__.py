"""Gymnasium's environments for our agents, and our models as its environments."""

from btai.interop.gymnasium.environment import FromGymnasium
from btai.interop.gymnasium.model import AsGymnasium

__all__ = ["AsGymnasium", "FromGymnasium"]
