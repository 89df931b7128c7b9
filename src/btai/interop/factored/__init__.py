"""What the file formats of POMDPs share: the declaration in memory, its limits, its translation to a slice."""

from btai.interop.factored.source import Limits

__all__ = ["Limits"]
