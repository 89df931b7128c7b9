"""Texts in the POMDP formats, and what the tests look up in a slice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from btai.interop import Imported, Limits
from btai.interop.pomdp.reader import parse_pomdp
from btai.interop.pomdpx.reader import parse_pomdpx

DATA = Path(__file__).parent / "data"


def text_of(name: str) -> str:
    return (DATA / name).read_text("utf-8")


def read_text(name: str, text: str | bytes, *, precision: float = 1.0, limits: Limits | None = None) -> Imported:
    """Parse a text as the format that the name's ending says."""
    parse = parse_pomdpx if name.endswith("x") else parse_pomdp
    data = text.encode("utf-8") if isinstance(text, str) else text
    return parse(data, name, precision, "exact", limits or Limits())


def column(table: Any, *parents: int) -> list[float]:
    """The distribution for one value of each parent."""
    values: list[float] = table[(slice(None), *parents)].tolist()
    return values


def whats(imported: Imported) -> list[str]:
    """What the report says was lost."""
    return [loss.what for loss in imported.losses]


def conditional(var: str, parents: str, *entries: tuple[str, str], tag: str = "CondProb") -> str:
    """A <CondProb> or <Func> of type TBL from pairs of instance and numbers."""
    kind = "ProbTable" if tag == "CondProb" else "ValueTable"
    listed = "".join(f"<Entry><Instance>{i}</Instance><{kind}>{n}</{kind}></Entry>\n" for i, n in entries)
    return f"<{tag}><Var>{var}</Var><Parent>{parents}</Parent><Parameter type='TBL'>{listed}</Parameter></{tag}>\n"


def state(name: str, values: str | int, extra: str = "") -> str:
    return f"<StateVar vnamePrev='{name}_0' vnameCurr='{name}_1' {extra}>{_values(values)}</StateVar>\n"


def variable(tag: str, name: str, values: str | int) -> str:
    return f"<{tag} vname='{name}'>{_values(values)}</{tag}>\n"


def pomdpx(
    variables: str, initial: str, transitions: str, likelihoods: str = "", rewards: str = "", discount: str = "1"
) -> str:
    return (
        f"<pomdpx>\n<Discount>{discount}</Discount>\n<Variable>\n{variables}</Variable>\n"
        f"<InitialStateBelief>\n{initial}</InitialStateBelief>\n"
        f"<StateTransitionFunction>\n{transitions}</StateTransitionFunction>\n"
        f"<ObsFunction>\n{likelihoods}</ObsFunction>\n<RewardFunction>\n{rewards}</RewardFunction>\n</pomdpx>\n"
    )


def _values(values: str | int) -> str:
    return f"<NumValues>{values}</NumValues>" if isinstance(values, int) else f"<ValueEnum>{values}</ValueEnum>"
