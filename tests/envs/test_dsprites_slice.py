"""The temporal slice of the dSprites task."""

from __future__ import annotations

import numpy as np
import pytest

from btai.envs import dsprites_slice, dSpritesEnv, dSpritesPreProcessingWrapper
from btai.model import TemporalSlice, TemporalSliceBuilder


def slice_of_the_paper(granularity: int, repeat: int) -> TemporalSlice:
    """Appendix A of the paper, to the letter."""
    env = dSpritesPreProcessingWrapper(dSpritesEnv(granularity=granularity, repeat=repeat))
    a = env.a()
    b = env.b()
    c = env.c()
    d = env.d(uniform=True)
    ts_builder = TemporalSliceBuilder("A_1", env.n_actions)
    ts_builder.add_state("S_pos_x", d["S_pos_x"]).add_state("S_pos_y", d["S_pos_y"]).add_state(
        "S_shape", d["S_shape"]
    ).add_state("S_scale", d["S_scale"]).add_state("S_orientation", d["S_orientation"])
    ts_builder.add_observation("O_pos_x", a["O_pos_x"], ["S_pos_x"]).add_observation(
        "O_pos_y", a["O_pos_y"], ["S_pos_y"]
    ).add_observation("O_shape", a["O_shape"], ["S_shape"]).add_observation(
        "O_scale", a["O_scale"], ["S_scale"]
    ).add_observation("O_orientation", a["O_orientation"], ["S_orientation"])
    ts_builder.add_transition("S_pos_x", b["S_pos_x"], ["S_pos_x", "A_1"]).add_transition(
        "S_pos_y", b["S_pos_y"], ["S_pos_y", "A_1"]
    ).add_transition("S_shape", b["S_shape"], ["S_shape"]).add_transition(
        "S_scale", b["S_scale"], ["S_scale"]
    ).add_transition("S_orientation", b["S_orientation"], ["S_orientation"])
    ts_builder.add_preference(["O_pos_x", "O_pos_y", "O_shape"], c["O_shape_pos_x_y"])
    return ts_builder.build()  # fmt: skip


@pytest.mark.parametrize(("granularity", "repeat"), [(1, 8), (2, 8), (4, 3), (8, 8)])
def test_it_is_the_slice_that_the_paper_builds(granularity: int, repeat: int) -> None:
    ours, paper = dsprites_slice(granularity, repeat), slice_of_the_paper(granularity, repeat)
    assert list(ours.states) == list(paper.states)
    assert list(ours.observations) == list(paper.observations)
    for name, state in paper.states.items():
        np.testing.assert_array_equal(ours.states[name].prior, state.prior)
    for name, observation in paper.observations.items():
        assert ours.observations[name].parents == observation.parents
        np.testing.assert_array_equal(ours.observations[name].likelihood, observation.likelihood)
    for name, transition in paper.transitions.items():
        renamed = tuple("A_move" if parent == "A_1" else parent for parent in transition.parents)
        assert ours.transitions[name].parents == renamed
        np.testing.assert_array_equal(ours.transitions[name].table, transition.table)
    (ours_preferred,), (papers,) = ours.preferences, paper.preferences
    assert ours_preferred.observations == papers.observations
    np.testing.assert_array_equal(ours_preferred.table, papers.table)


def test_actions_and_shapes_have_words() -> None:
    ts = dsprites_slice(granularity=8)
    assert (ts.action.name, ts.action.values) == ("A_move", ("DOWN", "UP", "LEFT", "RIGHT"))
    assert ts.states["S_shape"].values == ts.observations["O_shape"].values == ("square", "ellipse", "heart")
    assert ts.states["S_pos_x"].values is None
