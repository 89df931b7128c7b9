"""pymdp's agents as slices: the same posterior and, up to pymdp's constant, the same expected free energy."""

from __future__ import annotations

import re
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from interop.pymdp_figures import FIGURES, agent_of, arguments_of, constant, free_energies, scores_of
from numpy.testing import assert_allclose, assert_array_equal

from btai import TemporalSliceBuilder, i_step
from btai.errors import BtaiError, CliqueTooLargeError, ModelError, PreferenceError, TableError, VariableError
from btai.interop.pymdp import Names, from_pymdp

SOURCES = {"arguments": arguments_of, "agent": agent_of}
CASES = [(case, batch) for case in FIGURES for batch in range(FIGURES[case]["arguments"].get("batch_size", 1))]
EXACT = [(case, batch) for case, batch in CASES if case != "modalities of several factors"]  # there pymdp's is not


# --- the same figures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("case", "batch"), EXACT)
def test_the_posterior_is_that_of_pymdp(case: str, batch: int, source: str) -> None:
    ts, _ = from_pymdp(SOURCES[source](case), batch=batch)
    observed = {f"O_{m}": values[batch] for m, values in enumerate(FIGURES[case]["observed"])}
    posteriors = i_step(ts, observed).posteriors
    for f, q in enumerate(FIGURES[case]["posterior"]):
        assert_allclose(posteriors[f"S_{f}"], q[batch], rtol=1e-10)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("case", "batch"), CASES)
def test_the_expected_free_energy_is_that_of_pymdp_up_to_its_constant(case: str, batch: int, source: str) -> None:
    ts, _ = from_pymdp(SOURCES[source](case), batch=batch)
    beliefs = {f"S_{f}": np.array(q[batch]) for f, q in enumerate(FIGURES[case]["posterior"])}
    expected = constant(scores_of(case, batch)) - np.array(FIGURES[case]["neg_efe"][batch])
    assert_allclose(free_energies(ts, beliefs), expected, rtol=1e-10)


@pytest.mark.parametrize("case", FIGURES)
def test_an_agent_and_its_arguments_are_one_model(case: str) -> None:
    assert from_pymdp(agent_of(case)).ts == from_pymdp(arguments_of(case)).ts


# --- structure and names ------------------------------------------------------------------------------


def small(**changes: Any) -> dict[str, Any]:
    """The arguments of an agent with two factors, the first of which is controlled."""
    return {
        "A": [np.full((2, 2), 0.5), np.full((3, 2), 1 / 3)],
        "B": [np.full((2, 2, 3), 0.5), np.full((2, 2, 1), 0.5)],
        "A_dependencies": [[0], [1]],
    } | changes


def test_factors_modalities_and_controls_get_names() -> None:
    ts, losses = from_pymdp(small())
    assert not losses
    assert ts == (
        TemporalSliceBuilder("A_action", 3, ["u0=0", "u0=1", "u0=2"])
        .add_state("S_0", [0.5, 0.5])
        .add_state("S_1", [0.5, 0.5])
        .add_transition("S_0", np.full((2, 2, 3), 0.5), ["S_0", "A_action"])
        .add_transition("S_1", np.full((2, 2), 0.5), ["S_1"])
        .add_observation("O_0", np.full((2, 2), 0.5), ["S_0"])
        .add_observation("O_1", np.full((3, 2), 1 / 3), ["S_1"])
        .add_preference(["O_0"], scores=[0, 0])
        .add_preference(["O_1"], scores=[0, 0, 0])
        .build()
    )


def test_given_names_are_used() -> None:
    names = Names(
        states=["S_x", "S_y"],
        observations=["O_x", "O_y"],
        action="A_go",
        actions=["stay", "left", "right"],
        state_values={"S_x": ["off", "on"]},
        observation_values={"O_y": ["a", "b", "c"]},
    )
    ts, _ = from_pymdp(small(), names=names)
    assert (ts.action.name, ts.action.values) == ("A_go", ("stay", "left", "right"))
    assert [(s.name, s.values) for s in ts.states.values()] == [("S_x", ("off", "on")), ("S_y", None)]
    assert [(o.name, o.values) for o in ts.observations.values()] == [("O_x", None), ("O_y", ("a", "b", "c"))]


def test_several_controls_become_one_action_with_the_joint_settings_named() -> None:
    toggle = np.stack([np.eye(2), 1 - np.eye(2)], axis=-1)
    ts, _ = from_pymdp({"A": [np.eye(2), np.eye(2)], "B": [toggle, toggle], "A_dependencies": [[0], [1]]})
    assert ts.action.values == ("u0=0, u1=0", "u0=0, u1=1", "u0=1, u1=0", "u0=1, u1=1")
    for name, moving in (("S_0", [2, 3]), ("S_1", [1, 3])):
        table = ts.transitions[name].table
        assert ts.transitions[name].parents == (name, "A_action")
        for action in range(4):
            assert_array_equal(table[..., action], 1 - np.eye(2) if action in moving else np.eye(2))


def test_the_joint_actions_are_the_first_steps_of_the_policies_in_their_order() -> None:
    policies = np.array([[[2, 0], [0, 0]], [[0, 0], [1, 0]], [[2, 0], [2, 0]]])
    ts, losses = from_pymdp(small(policies=policies))
    assert ts.action.values == ("u0=2", "u0=0")
    assert [loss.what for loss in losses] == ["the 3 policies of 2 steps"]


@pytest.mark.parametrize("steps", [1, 2])
def test_policies_that_leave_every_sequence_open_lose_nothing(steps: int) -> None:
    sequences = [[[a, 0], [b, 0]][:steps] for a in range(3) for b in range(3)]
    assert not from_pymdp(small(policies=sequences)).losses


def test_a_control_that_the_policies_never_change_is_no_parent() -> None:
    B = [np.stack([np.eye(2), 1 - np.eye(2)], axis=-1)]
    ts, _ = from_pymdp({"A": [np.eye(2)], "B": B, "policies": [[[1]]]})
    assert ts.action.size == 1
    assert ts.action.values is None
    assert ts.transitions["S_0"].parents == ("S_0",)
    assert_array_equal(ts.transitions["S_0"].table, 1 - np.eye(2))


def test_a_factor_may_listen_to_no_control_at_all() -> None:
    B = [np.eye(2), np.full((2, 2, 3), 0.5)]
    ts, _ = from_pymdp(small(B=B, B_action_dependencies=[[], [0]], num_controls=[3]))
    assert ts.transitions["S_0"].parents == ("S_0",)
    assert ts.transitions["S_1"].parents == ("S_1", "A_action")
    assert ts.action.values == ("u0=0", "u0=1", "u0=2")


def test_loopy_inference_and_the_limit_on_cliques_can_be_chosen() -> None:
    source = {"A": [np.full((2, 2, 2), 0.5)] * 2, "B": [np.full((2, 2, 1), 0.5)] * 2}
    assert from_pymdp(source, inference="loopy", max_clique=1).ts.inference == "loopy"
    with pytest.raises(CliqueTooLargeError):
        from_pymdp(source, max_clique=1)


def test_sums_rounded_to_float32_are_mended() -> None:
    rng = np.random.default_rng(0)
    A = rng.dirichlet(np.ones(4000), size=2).T.astype(np.float32)
    A[0] += np.float32(5e-6)  # as far from 1 as pymdp allows, and too far for a slice
    assert (np.abs(A.astype(float).sum(axis=0) - 1) > 2e-6).all()
    ts, _ = from_pymdp({"A": [A], "B": [np.eye(2, dtype=np.float32)[..., None]]})
    assert_allclose(ts.observations["O_0"].likelihood, A / A.astype(float).sum(axis=0), rtol=1e-12)
    with pytest.raises(TableError, match=r"^A\[0\]: O_0: .* sums to 1"):
        from_pymdp({"A": [A.astype(np.float64)], "B": [np.eye(2)[..., None]]})


# --- losses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        ({"C": [[[0, 1], [1, 0]], [0, 0, 0]]}, "C[0] at 2 times"),
        ({"E": [0.5, 0.25, 0.25]}, "E"),
        ({"E": [[0.5, 0.25, 0.25]]}, "E"),
        ({"H": [[0, 1], [1, 0]]}, "H"),
        ({"I": [np.ones((1, 2)), np.zeros((1, 2))]}, "I"),
        ({"pA": [np.ones((2, 2)), np.ones((3, 2))]}, "pA"),
        ({"pB": [np.ones((2, 2, 3)), np.ones((2, 2, 1))]}, "pB"),
        ({"learn_D": True}, "learn_D=True"),
        ({"gamma": 16.0}, "gamma"),
        ({"gamma": [1.0, 2.0]}, "gamma"),
        ({"use_utility": False}, "use_utility=False"),
        ({"use_states_info_gain": False}, "use_states_info_gain=False"),
        ({"use_param_info_gain": True}, "use_param_info_gain=True"),
        ({"use_inductive": True}, "use_inductive=True"),
    ],
)
@pytest.mark.parametrize("as_agent", [False, True])
def test_what_a_slice_has_not_is_reported(changes: dict[str, Any], lost: str, as_agent: bool) -> None:
    source = small(**changes)
    ts, losses = from_pymdp(SimpleNamespace(**source) if as_agent else source)
    assert [loss.what for loss in losses] == [lost]
    assert ts.sizes == from_pymdp(small()).ts.sizes


@pytest.mark.parametrize(
    "changes",
    [
        {"C": [[[0, 1], [0, 1]], [0, 0, 0]]},
        {"E": [0.25, 0.25, 0.25, 0.25]},
        {"I": [np.zeros((1, 2)), np.zeros((1, 2))]},
        {"gamma": np.array([1.0])},
        {"use_utility": True, "use_states_info_gain": True, "use_param_info_gain": False, "use_inductive": False},
        {"learn_A": False, "action_selection": "stochastic", "alpha": 16.0, "inference_algo": "vmp"},
        {"policy_len": 4, "num_controls": [3, 1], "control_fac_idx": [0]},
    ],
)
def test_what_changes_nothing_is_not_reported(changes: dict[str, Any]) -> None:
    assert not from_pymdp(small(**changes)).losses


def test_the_first_of_the_preferences_in_time_is_taken() -> None:
    C = [[[0, 1], [1, 0]], [0, 0, 0]]
    ts, _ = from_pymdp(small(C=C))
    assert_allclose(ts.preferences[0].table, np.exp([0, 1]) / np.exp([0, 1]).sum())


def test_the_rest_of_a_batch_is_reported() -> None:
    assert [loss.what for loss in from_pymdp(agent_of("a batch of 3"), batch=1).losses] == ["2 of the batch of 3"]


def test_one_element_stands_for_the_whole_batch() -> None:
    case = "one factor, exact"
    assert from_pymdp(agent_of(case), batch=7).ts == from_pymdp(agent_of(case)).ts


# --- errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (3, ModelError, "A: it is missing in the int given; required is an Agent of pymdp 1.0, or a mapping"),
        ({"A": [np.eye(2)]}, ModelError, "B: it is missing in the dict given;"),
        (small(A_dependency=[[0]]), ModelError, "'A_dependency': pymdp's Agent takes no such argument; it takes A, B,"),
        (small(A_dependencies=[[0]]), ModelError, "A_dependencies: 1 lists were given; 2 are required, one each."),
        (
            small(A_dependencies=[[0], [2]]),
            ModelError,
            "A_dependencies[1]: [2] was given; required are factors from 0 to 1.",
        ),
        (
            small(A_dependencies=None),
            TableError,
            "A[0]: an array of shape (2, 2) was given; 3 axes are required by its dependencies",
        ),
        (small(B_dependencies=[[0, 1], [1]]), TableError, "B[0]: an array of shape (2, 2, 3) was given; 4 axes"),
        (
            small(A=[np.full((2, 3), 0.5), np.full((3, 2), 1 / 3)]),
            TableError,
            "A[0]: axes of sizes (3,) were given for the factors [0] of A_dependencies; required is (2,), their",
        ),
        (
            small(B=[np.full((2, 2, 3, 3), 0.5), np.full((3, 3, 1), 1 / 3)], B_dependencies=[[1, 0], [1]]),
            TableError,
            "B[0]: axes of sizes (2, 3) were given for the factors [1, 0] of B_dependencies; required is (3, 2), their",
        ),
        (small(A=[np.full((2, 2), 0.4), np.full((3, 2), 1 / 3)]), TableError, "A[0]: O_0: the likelihood's column for"),
        (small(B=[np.ones((2, 2, 1))] * 2), TableError, "B[0]: S_0: the transition's column for S_0=0 sums to 2;"),
        (small(D=[[0.5, 0.5], [0.5, 0.6]]), TableError, "D[1]: S_1: the prior's vector sums to 1.1;"),
        (small(D=[0.5, 0.5]), TableError, "D[0]: an array of shape () was given; 1 axes are required"),
        (small(C=[[0, 2000], [0, 0, 0]]), PreferenceError, "C[0]: (O_0): the preference is exactly 0 at index (0,),"),
        (small(C=[0, 0]), PreferenceError, "C[0]: (O_0): the preference was given with shape ()"),
        (
            small(num_controls=[2, 1]),
            ModelError,
            "num_controls: [2, 1] was given; required is [3, 1], the sizes of B's",
        ),
        (
            small(B_action_dependencies=[[0], [1]]),
            ModelError,
            "num_controls: it is missing; B_action_dependencies need the sizes of the controls.",
        ),
        (
            small(B_action_dependencies=[[0], [2]], num_controls=[3, 1]),
            ModelError,
            "B_action_dependencies: [[0], [2]] was given; required is a list for each of the 2 factors, of controls",
        ),
        (
            small(B_action_dependencies=[[0], [1]], num_controls=[2, 1]),
            TableError,
            "B[0]: axes of sizes (3,) were given for the controls [0]; required is (2,), their sizes in num_controls.",
        ),
        (
            small(policies=[[0, 0]]),
            ModelError,
            "policies: an array of shape (1, 2) and type int64 was given; required are whole numbers of shape",
        ),
        (
            small(policies=[[[0, 0]], [[3, 0]]]),
            ModelError,
            "policies[1, 0, 0]: action 3 was given for factor 0; required is one from 0 to 2, since",
        ),
        (
            small(B=[np.full((2, 2, 300), 0.5)] * 2),
            ModelError,
            "num_controls: controls of [300, 300] settings make 90,000 joint actions; the limit is 65,536.",
        ),
    ],
)
def test_what_is_wrong_is_said_of_the_array(source: Any, error: type[BtaiError], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        from_pymdp(source)


def test_a_batch_that_is_not_there_is_refused() -> None:
    with pytest.raises(ModelError, match=r"^batch: 3 was given; \w\[0\] has a batch of 3, so that one from 0 to 2"):
        from_pymdp(agent_of("a batch of 3"), batch=3)


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (Names(states=["S_x"]), ModelError, "names.states: 1 names were given; 2 are required, one each."),
        (Names(observations=["O_x"] * 3), ModelError, "names.observations: 3 names were given; 2 are required"),
        (Names(states=["x", "y"]), VariableError, "D[0]: 'x' was given as the name of a state;"),
        (
            Names(actions=["a", "b"]),
            VariableError,
            "A_action: the value names ['a', 'b'] were given; 3 different names",
        ),
    ],
)
def test_names_that_do_not_fit_are_refused(names: Names, error: type[BtaiError], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        from_pymdp(small(), names=names)


def test_reading_does_not_import_pymdp() -> None:
    script = "import sys; import btai.interop.pymdp; print(*{'pymdp', 'jax'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
