"""POMDPX, the XML format of factored POMDPs: read and write."""

from btai.interop.pomdpx.reader import read_pomdpx
from btai.interop.pomdpx.writer import write_pomdpx

__all__ = ["read_pomdpx", "write_pomdpx"]
