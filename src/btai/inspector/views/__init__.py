"""What the page shows, as functions of a trace and a cursor: plain JSON, made from the package's own objects alone."""

from btai.inspector.views.decision import action_rows, curves, facts, why
from btai.inspector.views.overview import cycle, info, trial, trials, worst
from btai.inspector.views.shapes import Json, action_name, names_of, number, packed, vectors
from btai.inspector.views.temporal_slice import cells, efe_parts, node, occupancy, part_names, part_of

__all__ = [
    "Json",
    "action_name",
    "action_rows",
    "cells",
    "curves",
    "cycle",
    "efe_parts",
    "facts",
    "info",
    "names_of",
    "node",
    "number",
    "occupancy",
    "packed",
    "part_names",
    "part_of",
    "trial",
    "trials",
    "vectors",
    "why",
    "worst",
]
