"""Cassandra's .pomdp, the text format of flat POMDPs: read and write."""

from btai.interop.pomdp.reader import read_pomdp
from btai.interop.pomdp.writer import write_pomdp

__all__ = ["read_pomdp", "write_pomdp"]
