"""Slices for pymdp: the arrays by its conventions, what comes back, and what is reported as lost."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interop.pymdp_figures import free_energies
from numpy.testing import assert_allclose, assert_array_equal
from oracle import posteriors
from spec import Array, Factor, Group, Spec
from strategies import evidences, models

from btai import TemporalSlice, TemporalSliceBuilder, i_step
from btai.errors import EvidenceError, TableError
from btai.interop.pymdp import Names, PymdpModel, from_pymdp, to_pymdp


def doors(n_actions: int = 3) -> TemporalSliceBuilder:
    """A state that the action moves and one that follows from it; value names here and there."""
    moves = np.stack([np.roll(np.eye(3), a, axis=0) for a in range(n_actions)], axis=1)  # [3, n_actions, 3]
    return (
        TemporalSliceBuilder("A_go", n_actions, ["stay", "left", "right"][:n_actions])
        .add_state("S_door", [0.5, 0.25, 0.25], ["a", "b", "c"])
        .add_state("S_light", [0.1, 0.9])
        .add_transition("S_door", moves, ["A_go", "S_door"])
        .add_transition("S_light", [[0.9, 0.5, 0.2], [0.1, 0.5, 0.8]], ["S_door"])
        .add_observation("O_light", [[0.7, 0.2], [0.3, 0.8]], ["S_light"], ["off", "on"])
        .add_observation("O_door", 0.9 * np.eye(3) + 0.1 / 3, ["S_door"])
    )


def preferring(builder: TemporalSliceBuilder) -> TemporalSlice:
    return builder.add_preference(["O_door"], [0.2, 0.5, 0.3]).add_preference(["O_light"], [0.4, 0.6]).build()


# --- the arrays ---------------------------------------------------------------------------------------


def test_the_arrays_follow_the_conventions_of_pymdp() -> None:
    ts = preferring(doors())
    model = to_pymdp(ts)
    assert [a.shape for a in model.A] == [(2, 2), (3, 3)]
    assert model.A_dependencies == [[1], [0]]
    assert_array_equal(model.A[0], [[0.7, 0.2], [0.3, 0.8]])
    assert_array_equal(model.B[0], np.stack([np.roll(np.eye(3), a, axis=0) for a in range(3)], axis=-1))
    assert_array_equal(model.B[1][:, 1, 0, 0], [0.5, 0.5])
    assert_array_equal(model.B[1][:, 1, 1, 0], [0.5, 0.5])
    assert model.B[1].shape == (2, 3, 2, 1)
    assert model.B_dependencies == [[0], [0, 1]]
    assert_allclose(model.C[0], np.log([0.4, 0.6]))
    assert_allclose(model.C[1], np.log([0.2, 0.5, 0.3]))
    assert_array_equal(model.D[0], [0.5, 0.25, 0.25])
    assert model.policies.tolist() == [[[0, 0]], [[1, 0]], [[2, 0]]]
    assert model.names == Names(
        states=("S_door", "S_light"),
        observations=("O_light", "O_door"),
        action="A_go",
        actions=("stay", "left", "right"),
        state_values={"S_door": ("a", "b", "c")},
        observation_values={"O_light": ["off", "on"]},
    )


def test_the_lists_are_those_of_the_arguments_and_can_be_changed() -> None:
    model = to_pymdp(preferring(doors()))
    arguments = model.arguments()
    assert [*arguments] == ["A", "B", "C", "D", "A_dependencies", "B_dependencies", "policies"]
    arguments["A"].clear()
    assert len(model.A) == 2


# --- round trips --------------------------------------------------------------------------------------


def as_pymdp_has_it(spec: Spec, rng: np.random.Generator) -> Spec:
    """The model with a preference for each observation alone, and the action last behind the state itself."""
    transitions = {}
    for name, factor in spec.transitions.items():
        parents = [parent for parent in factor.parents if parent != spec.action]
        if name not in parents:
            parents.append(name)
        if spec.action in factor.parents or name == next(iter(spec.priors)):
            parents.append(spec.action)  # somewhere at least
        shape = [spec.sizes[variable] for variable in (name, *parents)]
        table = rng.dirichlet(np.ones(shape[0]), size=shape[1:])
        transitions[name] = Factor(np.moveaxis(table, -1, 0), tuple(parents))
    preferences: dict[Group, Array] = {
        (name,): rng.dirichlet(np.full(spec.sizes[name], 5.0)) for name in spec.likelihoods
    }
    return replace(spec, transitions=transitions, preferences=preferences)


def assert_equal_but_for_rounded_preferences(back: TemporalSlice, ts: TemporalSlice) -> None:
    """Preferences travel as logarithms, the rest as it is."""
    for p, q in zip(back.preferences, ts.preferences, strict=True):
        assert p.observations == q.observations
        assert_allclose(p.table, q.table, rtol=1e-14)
    assert replace(back, preferences=ts.preferences) == ts


@given(spec=models(min_actions=2, min_observations=1), seed=st.integers(0, 2**32 - 1))
def test_a_model_as_pymdp_has_it_comes_back(spec: Spec, seed: int) -> None:
    ts = as_pymdp_has_it(spec, np.random.default_rng(seed)).build()
    model = to_pymdp(ts)
    assert not model.losses
    back, losses = from_pymdp(model)
    assert not losses
    assert_equal_but_for_rounded_preferences(back, ts)


def test_names_and_values_come_back_even_from_an_agent_that_keeps_none() -> None:
    model = to_pymdp(preferring(doors()))
    back, _ = from_pymdp(model)
    nameless, _ = from_pymdp(model.arguments())
    assert (nameless.action.values, [*nameless.states]) == (("u0=0", "u0=1", "u0=2"), ["S_0", "S_1"])
    again, _ = from_pymdp(model.arguments(), names=model.names)
    assert again == back
    assert back.action.values == ("stay", "left", "right")
    assert back.states["S_door"].values == ("a", "b", "c")
    assert back.observations["O_light"].values == ("off", "on")
    assert from_pymdp(model, names=Names()).ts == nameless


@given(spec=models(max_states=3, max_size=3, max_observations=4, min_observations=1), data=st.data())
def test_what_comes_back_infers_the_same_whatever_the_model(spec: Spec, data: st.DataObject) -> None:
    ts = spec.build()
    model = to_pymdp(ts)
    back, _ = from_pymdp(model)
    evidence = data.draw(evidences(spec, kinds=("index",)))
    expected, _ = posteriors(spec, evidence)
    observed = dict(zip(back.observations, model.observations(evidence), strict=True))
    for name, q in i_step(back, observed).posteriors.items():
        assert_allclose(q, expected[name], rtol=1e-9, atol=1e-12)


# --- losses -------------------------------------------------------------------------------------------


def lost(model: PymdpModel) -> list[str]:
    return [loss.what for loss in model.losses]


def test_a_joint_preference_makes_its_observations_one_modality_and_is_reported() -> None:
    joint = np.arange(1, 7).reshape(3, 2) / 21
    model = to_pymdp(doors().add_preference(["O_door", "O_light"], joint).build())
    assert lost(model) == ["the joint preference over (O_door, O_light)", "the parents of S_light"]
    assert "common states" not in str(model.losses)
    assert model.names.observations == ("O_door&O_light",)
    assert model.names.observation_values == {"O_door&O_light": [f"{d}, {x}" for d in "012" for x in ("off", "on")]}
    assert model.A_dependencies == [[0, 1]]
    assert model.A[0].shape == (6, 3, 2)
    door, light = 0.9 * np.eye(3) + 0.1 / 3, np.array([[0.7, 0.2], [0.3, 0.8]])
    for seen_door, seen_light, is_door, is_light in np.ndindex(3, 2, 3, 2):
        both = door[seen_door, is_door] * light[seen_light, is_light]
        assert model.A[0][2 * seen_door + seen_light, is_door, is_light] == pytest.approx(both, rel=1e-14)
    assert_allclose(model.C[0], np.log(joint.ravel()))
    assert model.observations({"O_door": 2, "O_light": "off"}) == [4]


def test_a_joint_preference_over_observations_of_one_state_changes_the_expected_free_energy_and_says_so() -> None:
    builder = doors().add_observation("O_again", np.eye(3), ["S_door"])
    model = to_pymdp(builder.add_preference(["O_again", "O_door"], np.full((3, 3), 1 / 9)).build())
    assert "They depend on common states" in str(model.losses.entries[0])
    assert model.names.observations == ("O_light", "O_again&O_door")
    assert model.A_dependencies == [[1], [0]]
    assert model.A[1].shape == (9, 3)
    assert model.observations({"O_door": 1, "O_again": 2, "O_light": 0}) == [0, 7]


@pytest.mark.parametrize(("second", "same"), [("S_light", True), ("S_door", False)])
def test_the_expected_free_energy_of_a_joint_modality_is_ours_where_states_are_not_shared(
    second: str, same: bool
) -> None:
    likelihood = {"S_light": [[0.7, 0.2], [0.3, 0.8]], "S_door": [[0.7, 0.2, 0.5], [0.3, 0.8, 0.5]]}[second]
    builder = doors().add_observation("O_second", likelihood, [second])
    builder.add_preference(["O_door", "O_second"], np.arange(1, 7).reshape(3, 2) / 21)
    ts = builder.add_preference(["O_light"], [0.4, 0.6]).build()
    beliefs = {"S_door": np.array([0.2, 0.5, 0.3]), "S_light": np.array([0.6, 0.4])}
    back = from_pymdp(to_pymdp(ts)).ts
    assert np.allclose(free_energies(back, beliefs), free_energies(ts, beliefs), rtol=1e-12) == same


def test_a_joint_modality_beyond_the_limit_is_refused_before_it_is_made() -> None:
    ts = doors().add_preference(["O_door", "O_light"], np.full((3, 2), 1 / 6)).build()
    assert to_pymdp(ts, max_entries=36).A[0].size == 36
    message = "(O_door, O_light): as one modality, which pymdp needs for a joint preference, their likelihood takes 36"
    with pytest.raises(TableError, match=f"^{re.escape(message)}"):
        to_pymdp(ts, max_entries=35)


def test_what_pymdp_cannot_hold_is_reported() -> None:
    still = (
        TemporalSliceBuilder("A_go", 2)
        .add_state("S_x", [0.5, 0.5])
        .add_transition("S_x", [0.5, 0.5], [])
        .add_observation("O_x", np.eye(2), ["S_x"])
        .build(inference="loopy")
    )
    model = to_pymdp(still)
    assert lost(model) == [
        "O_x without a preference",
        "the parents of S_x",
        "the 2 actions of A_go",
        "inference 'loopy'",
    ]
    assert_array_equal(model.C[0], [0, 0])
    assert_array_equal(model.B[0], np.full((2, 2, 1), 0.5))
    assert from_pymdp(model, inference="loopy").ts.inference == "loopy"


def test_a_single_action_is_no_loss() -> None:
    ts = TemporalSliceBuilder("A_go", 1).add_state("S_x", [0.5, 0.5]).add_transition("S_x", np.eye(2), ["S_x"]).build()
    assert not to_pymdp(ts).losses
    assert (
        from_pymdp(to_pymdp(ts).arguments() | {"A": [np.eye(2)], "C": None, "A_dependencies": None}).ts.action.size == 1
    )


# --- observations -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("obs", "message"),
    [
        ({"O_door": 1}, "O_light: it was not observed; pymdp needs an outcome of every modality. Give one."),
        ({"O_door": 3, "O_light": 0}, "O_door: 3 was given; required is an index from 0 to 2, or the name of a value."),
        ({"O_door": "b", "O_light": 0}, "O_door: 'b' was given; required is an index"),
        ({"O_door": 1, "O_light": "dim"}, "O_light: 'dim' was given; required is an index"),
        ({"O_door": 1, "O_light": True}, "O_light: True was given; required is an index"),
        ({"O_door": 1.0, "O_light": 0}, "O_door: 1.0 was given; required is an index"),
    ],
)
def test_an_observation_that_pymdp_could_not_take_is_refused(obs: dict[str, Any], message: str) -> None:
    with pytest.raises(EvidenceError, match=f"^{re.escape(message)}"):
        to_pymdp(preferring(doors())).observations(obs)
