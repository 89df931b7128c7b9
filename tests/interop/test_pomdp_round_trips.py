"""What is written is read back: POMDPX any slice as it was, .pomdp its flattened form."""

from __future__ import annotations

from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop.pomdp_texts import DATA
from spec import Spec
from strategies import models

from btai import TemporalSlice, TemporalSliceBuilder
from btai.errors import ModelError
from btai.interop import Limits, read_pomdp, read_pomdpx, write_pomdp, write_pomdpx

some = settings(max_examples=60)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round") / "trip"


def labelled(ts: TemporalSlice, names: list[str]) -> TemporalSlice:
    """The slice with names for its values, different ones for each variable."""

    def some(name: str, size: int) -> list[str]:
        return [f"{names[(len(name) + i) % len(names)]}{name}{i}" for i in range(size)]

    builder = TemporalSliceBuilder(ts.action.name, ts.action.size, some(ts.action.name, ts.action.size))
    for s in ts.states.values():
        builder.add_state(s.name, s.prior, some(s.name, s.size))
        builder.add_transition(s.name, ts.transitions[s.name].table, ts.transitions[s.name].parents)
    for o in ts.observations.values():
        builder.add_observation(o.name, o.likelihood, o.parents, some(o.name, o.size))
    for p in ts.preferences:
        builder.add_preference(p.observations, p.table)
    return builder.build()


# What XML and the format can carry in a name: no white space, no control characters, and no mere wildcard.
NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=5)


@some
@given(models(), st.none() | st.lists(NAMES, min_size=3, max_size=3))
def test_pomdpx_gives_every_slice_back_as_it_was(path: Path, spec: Spec, names: list[str] | None) -> None:
    ts = (
        spec.build()
        if names is None
        else labelled(spec.build(), [n.translate({0xFFFE: 65, 0xFFFF: 65}) for n in names])
    )
    assert not write_pomdpx(ts, path, discount=1)
    found, losses = read_pomdpx(path)
    assert found == ts
    assert [p.observations for p in found.preferences] == [p.observations for p in ts.preferences]
    assert not losses


@pytest.mark.parametrize("name", ["tiger.pomdpx", "rocks.pomdpx", "tiger.pomdp"])
def test_what_was_read_with_added_variables_is_written_and_read_as_it_is(path: Path, name: str) -> None:
    ts = (read_pomdp if name == "tiger.pomdp" else read_pomdpx)(DATA / name, precision=0.1).ts
    write_pomdpx(ts, path)
    assert read_pomdpx(path).ts == ts


@some
@given(st.floats(5e-324, 1), st.integers(1, 6))
def test_pomdpx_keeps_preferences_of_any_size(path: Path, smallest: float, n: int) -> None:
    weights = np.array([max(smallest / n, 5e-324)] * n + [1.0])
    ts = TemporalSliceBuilder("A_0", 1).add_state("S_0", [1]).add_transition("S_0", [[1]], ["S_0"])
    ts.add_observation("O_0", np.full((n + 1, 1), 1 / (n + 1)), ["S_0"]).add_preference(
        ["O_0"], weights / weights.sum()
    )
    write_pomdpx(ts.build(), path)
    assert read_pomdpx(path).ts == ts.build()


def test_what_pomdpx_cannot_carry_is_reported_and_changed(path: Path) -> None:
    ts = (
        TemporalSliceBuilder("A_0", 2, ["go on", "go_on"])
        .add_state("S_x y", [0.5, 0.5], ["*", "-"])
        .add_transition("S_x y", np.eye(2), ["S_x y"])
        .build("loopy")
    )
    losses = write_pomdpx(ts, path)
    assert [loss.what for loss in losses] == [
        "inference 'loopy'",
        "names of variables",
        "names of values of S_x y",
        "names of values of A_0",
    ]
    found = read_pomdpx(path, inference="loopy").ts
    assert list(found.states) == ["S_x_y"]
    assert found.states["S_x_y"].values == ("_", "__")
    assert found.action.values == ("go_on_", "go_on")


# --- .pomdp -------------------------------------------------------------------------------------------------


@st.composite
def flat_slices(draw: st.DrawFn) -> TemporalSlice:
    """Slices that a .pomdp file can carry: one state, one observation, and the names it gives them."""
    spec = draw(models(max_states=1, min_observations=1, max_observations=1))
    ((_, prior),) = spec.priors.items()
    ((_, seen),) = spec.likelihoods.items()
    ((state, moved),) = spec.transitions.items()
    n, k = len(prior), spec.n_actions
    by_action = [spec.transition(state, a) for a in range(k)]
    table = np.stack([f.table if f.parents else np.repeat(f.table[:, None], n, axis=1) for f in by_action], axis=-1)
    names = draw(st.booleans())
    builder = TemporalSliceBuilder("A_action", k, [f"go-{i}" for i in range(k)] if names else None)
    builder.add_state("S_state", prior, [f"at_{i}" for i in range(n)] if names else None)
    builder.add_transition("S_state", table, ["S_state", "A_action"])
    values = [f"See{i}" for i in range(len(seen.table))] if names else None
    builder.add_observation("O_observation", seen.table, ["S_state"], values)
    for preference in spec.preferences.values():
        builder.add_preference(["O_observation"], preference)
    assert moved.table.shape[0] == n
    return builder.build()


@some
@given(flat_slices())
def test_pomdp_gives_a_flat_slice_back_as_it_was(path: Path, ts: TemporalSlice) -> None:
    assert not write_pomdp(ts, path, discount=1)
    found, losses = read_pomdp(path)
    assert found == ts
    assert not losses


def joint(ts: TemporalSlice, cell: dict[str, int], action: int, new: dict[str, int]) -> float:
    """P(new states | states, action), one factor after the other."""
    p = 1.0
    for name, t in ts.transitions.items():
        p *= t.table[(new[name], *(action if parent == ts.action.name else cell[parent] for parent in t.parents))]
    return p


def cells(variables: Any) -> list[dict[str, int]]:
    return [
        dict(zip(variables, values, strict=True)) for values in product(*(range(v.size) for v in variables.values()))
    ]


@some
@given(models(max_states=3, max_observations=2, max_size=3, max_actions=3))
def test_pomdp_joins_states_and_observations_row_major(path: Path, spec: Spec) -> None:
    ts = spec.build()
    assert write_pomdp(ts, path)
    flat = read_pomdp(path).ts
    t, o = flat.transitions["S_state"].table, flat.observations["O_observation"].likelihood
    states, observations = cells(ts.states), cells(ts.observations)
    for i, old in enumerate(states):
        prior = np.prod([ts.states[name].prior[value] for name, value in old.items()])
        assert flat.states["S_state"].prior[i] == pytest.approx(prior, abs=1e-15)
        for a, (j, new) in product(range(spec.n_actions), enumerate(states)):
            assert t[j, i, a] == pytest.approx(joint(ts, old, a, new), abs=1e-14)
        for k, seen in enumerate(observations):
            parts = [v.likelihood[(seen[v.name], *(old[p] for p in v.parents))] for v in ts.observations.values()]
            assert o[k, i] == pytest.approx(np.prod(parts), abs=1e-14)
    check_preferences(ts, flat, observations)


def check_preferences(ts: TemporalSlice, flat: TemporalSlice, observations: list[dict[str, int]]) -> None:
    """The joint preference is the product of the groups', and indifferent to observations in none."""
    if not ts.preferences:
        assert not flat.preferences
        return
    scores = [
        sum(log(p.table[tuple(seen[n] for n in p.observations)]) for p in ts.preferences) for seen in observations
    ]
    weights = np.exp(scores)
    np.testing.assert_allclose(flat.preferences[0].table, weights / weights.sum(), rtol=1e-12)


def test_pomdp_reports_what_a_flat_file_loses(path: Path) -> None:
    ts = (
        TemporalSliceBuilder("A_go", 2, ["up", "T"])
        .add_state("S_x", [0.5, 0.5], ["here", "2nd place"])
        .add_state("S_y", [0.5, 0.5])
        .add_transition("S_x", np.eye(2), ["S_x"])
        .add_transition("S_y", np.eye(2), ["S_y"])
        .add_observation("O_x", np.eye(2), ["S_x"])
        .add_observation("O_y", np.eye(2), ["S_y"])
        .add_preference(["O_y"], [0.2, 0.8])
        .build("loopy")
    )
    losses = write_pomdp(ts, path)
    assert [loss.what for loss in losses] == [
        "states S_x, S_y",
        "observations O_x, O_y",
        "action A_go",
        "preferences over (O_y)",
        "inference 'loopy'",
        "names of states",
        "names of actions",
    ]
    flat = read_pomdp(path).ts
    assert flat.states["S_state"].values == ("here-y0", "here-y1", "v2nd_place-y0", "v2nd_place-y1")
    assert flat.action.values == ("up", "T_")


def test_a_slice_without_observations_gets_one_that_tells_nothing(path: Path) -> None:
    ts = (
        TemporalSliceBuilder("A_action", 1)
        .add_state("S_state", [1])
        .add_transition("S_state", [[1]], ["S_state"])
        .build()
    )
    assert [loss.what for loss in write_pomdp(ts, path)] == ["no observations"]
    assert read_pomdp(path).ts.observations["O_observation"].likelihood.tolist() == [[1]]


def test_a_slice_too_large_to_be_flat_is_refused_before_its_tables_are_made(path: Path) -> None:
    builder = TemporalSliceBuilder("A_0", 2)
    for i in range(12):
        builder.add_state(f"S_{i}", [0.5, 0.5]).add_transition(f"S_{i}", np.eye(2), [f"S_{i}"])
    with pytest.raises(ModelError, match=r"cannot be written flat: .* 4,096 joint states .* 33,554,432 entries"):
        write_pomdp(builder.build(), path)
    with pytest.raises(ModelError, match="at most 32 and 100 are allowed"):
        write_pomdp(builder.build(), path, limits=Limits(entries=100))


@pytest.mark.parametrize("write", [write_pomdp, write_pomdpx])
def test_the_discount_is_checked_before_anything_is_written(tmp_path: Path, write: Any) -> None:
    ts = read_pomdp(DATA / "tiger.pomdp").ts
    with pytest.raises(ModelError, match=r"discount: 1.5 was given; a number from 0 to 1 is required"):
        write(ts, tmp_path / "file", discount=1.5)
    assert not (tmp_path / "file").exists()
