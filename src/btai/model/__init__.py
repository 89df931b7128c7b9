"""What is declared: the variables, tables and preferences of a temporal slice, checked and immutable."""

from btai.model.builder import TemporalSliceBuilder
from btai.model.cliques import MAX_CLIQUE_ENTRIES, BucketTree, check_cliques, is_forest, plan_buckets
from btai.model.files import from_bytes, load, to_bytes
from btai.model.flatten import flatten
from btai.model.jsonform import from_json, to_json
from btai.model.layout import Layout
from btai.model.slice import Action, Observation, Preference, State, TemporalSlice, Transition

__all__ = [
    "MAX_CLIQUE_ENTRIES",
    "Action",
    "BucketTree",
    "Layout",
    "Observation",
    "Preference",
    "State",
    "TemporalSlice",
    "TemporalSliceBuilder",
    "Transition",
    "check_cliques",
    "flatten",
    "from_bytes",
    "from_json",
    "is_forest",
    "load",
    "plan_buckets",
    "to_bytes",
    "to_json",
]
