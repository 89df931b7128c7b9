"""Which elements POMDPX 1.0 has: what each may hold, and its attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["RULES", "Rule"]

Often = Literal["once", "often"]


@dataclass(frozen=True)
class Rule:
    """What one element may hold: children (each once, or often) or text, and its attributes."""

    children: Mapping[str, Often] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    any_attribute: bool = False
    text: bool = False


_TEXT = Rule(text=True)
_VALUES: Mapping[str, Often] = {"NumValues": "once", "ValueEnum": "once"}
_CONDITIONALS = Rule({"CondProb": "often"})
_TABLE = Rule({"Var": "once", "Parent": "once", "Parameter": "once"})
_DIAGRAM: Mapping[str, Often] = {"Node": "once", "Terminal": "once", "SubDAG": "once"}

RULES: Mapping[str, Rule] = {
    "pomdpx": Rule(
        {
            "Description": "once",
            "Discount": "once",
            "Variable": "once",
            "InitialStateBelief": "once",
            "StateTransitionFunction": "once",
            "ObsFunction": "once",
            "RewardFunction": "once",
        },
        any_attribute=True,  # a version, an id, and whatever XML schemas want
    ),
    "Description": _TEXT,
    "Discount": _TEXT,
    "Variable": Rule({"StateVar": "often", "ObsVar": "often", "ActionVar": "often", "RewardVar": "often"}),
    "StateVar": Rule(_VALUES, required=("vnamePrev", "vnameCurr"), optional=("fullyObs",)),
    "ObsVar": Rule(_VALUES, required=("vname",)),
    "ActionVar": Rule(_VALUES, required=("vname",)),
    "RewardVar": Rule(required=("vname",)),
    "NumValues": _TEXT,
    "ValueEnum": _TEXT,
    "InitialStateBelief": _CONDITIONALS,
    "StateTransitionFunction": _CONDITIONALS,
    "ObsFunction": _CONDITIONALS,
    "RewardFunction": Rule({"Func": "often"}),
    "CondProb": _TABLE,
    "Func": _TABLE,
    "Var": _TEXT,
    "Parent": _TEXT,
    "Parameter": Rule({"Entry": "often", "DAG": "once", "SubDAGTemplate": "often"}, optional=("type",)),
    "Entry": Rule({"Instance": "once", "ProbTable": "once", "ValueTable": "once"}),
    "Instance": _TEXT,
    "ProbTable": _TEXT,
    "ValueTable": _TEXT,
    "DAG": Rule(_DIAGRAM),
    "SubDAGTemplate": Rule(_DIAGRAM, required=("id",)),
    "Node": Rule({"Edge": "often"}, required=("var",)),
    "Edge": Rule(_DIAGRAM, required=("val",)),
    "SubDAG": Rule(required=("type",), optional=("var", "val", "idref")),
    "Terminal": _TEXT,
}
