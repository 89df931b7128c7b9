"""A program says in plain words what was found; here its words are held to the letter."""

from __future__ import annotations

import numpy as np
from binary import FAIR, LEFT, NOISY, RIGHT, moved, spec
from spec import Array, Factor, Spec

from btai.engine import compile
from btai.envs import dsprites_slice

DSPRITES = """\
3 of 5 states matter to a decision: S_pos_x, S_pos_y, S_shape.
Left out of the search: S_scale, S_orientation.
  No preference, and no ambiguity that varies, depends on them, however indirectly.
  Their beliefs are computed when somebody looks.
Predicted once for all nodes of the tree with the same history of actions (= joins what acts alike):
  S_pos_x: 3 predictions per expansion (DOWN = UP, LEFT, RIGHT)
  S_pos_y: 3 predictions per expansion (DOWN, UP, LEFT = RIGHT)
  S_shape: 1 prediction per expansion (DOWN = UP = LEFT = RIGHT)
Tables are contracted with beliefs as they stand (dense), or as a constant plus exceptions (shifted):
  S_pos_x                                      from S_pos_x                    32 x 32      shifted, 32 exceptions, 64 operations
  O_pos_x                                      from S_pos_x                    32 x 32      shifted, 32 exceptions, 64 operations
  S_pos_y                                      from S_pos_y                    33 x 33      shifted, 33 exceptions, 66 operations
  O_pos_y                                      from S_pos_y                    33 x 33      shifted, 33 exceptions, 66 operations
  S_shape                                      from S_shape                    3 x 3        dense, 9 operations
  O_shape                                      from S_shape                    3 x 3        dense, 9 operations
  preference over (O_pos_x, O_pos_y, O_shape)  from O_pos_y, O_shape, O_pos_x  33 x 3 x 32  shifted, 5 exceptions, 11 operations
Added once: the ambiguity of O_pos_x, O_pos_y, O_shape, O_scale, O_orientation, in any state 0.0524021.
A planning iteration takes at most 1,436 operations and 3,480 bytes; the program itself takes 43,796 bytes."""  # noqa: E501


def test_what_is_found_in_dsprites() -> None:
    assert compile(dsprites_slice(granularity=1)).describe() == DSPRITES


def test_bytes_of_a_program_are_those_of_its_arrays() -> None:
    program = compile(dsprites_slice(granularity=8))
    arrays = [a for group in (program.ops, program.parts, program.cliques) for a in group if isinstance(a, np.ndarray)]
    assert f"the program itself takes {sum(a.nbytes for a in arrays):,} bytes." in program.describe()


def words_of(of: Spec) -> list[str]:
    """The lines of a program's description, without the spaces that align them."""
    return [" ".join(line.split()) for line in compile(of.build()).describe().splitlines()]


def one_state(likelihood: Array, transition: Factor, preference: Array | None = None) -> Spec:
    """A state and what is seen of it, with any number of values and actions."""
    n = len(transition.table)
    return Spec(
        action="A_0",
        n_actions=transition.table.shape[2] if transition.table.ndim == 3 else 1,
        priors={"S_a": np.full(n, 1 / n)},
        likelihoods={"O_a": Factor(likelihood, ("S_a",))},
        transitions={"S_a": transition},
        preferences={} if preference is None else {("O_a",): preference},
    )


def test_predictions_that_are_computed_differently_under_different_actions_have_lines_of_their_own() -> None:
    ring = np.eye(24) * 0.9 + np.roll(np.eye(24), 1, axis=0) * 0.1
    anything = np.random.default_rng(0).uniform(0.1, 1, (24, 24))
    actions = Factor(np.stack([ring, anything / anything.sum(axis=0), ring.T], axis=2), ("S_a", "A_0"))
    words = words_of(one_state(np.eye(24), actions, np.arange(1, 25) / 300))
    assert "S_a: 3 predictions per expansion (0, 1, 2)" in words
    assert [line for line in words if line.startswith("S_a after")] == [
        "S_a after 0, 2 from S_a 24 x 24 shifted, 48 exceptions, 72 operations",
        "S_a after 1 from S_a 24 x 24 dense, 576 operations",
    ]


def test_a_part_that_each_column_shares_is_mentioned() -> None:
    noise = np.linspace(0.01, 0.3, 16)
    table = np.where(np.eye(16, dtype=bool), 1 - noise, noise / 15)
    words = words_of(one_state(table, Factor(table, ("S_a",))))
    assert "S_a from S_a 16 x 16 shifted, 16 exceptions beside what each column's entries share, 64 operations" in words
    assert "ambiguity of O_a from S_a 16 dense, 16 operations" in words


def test_where_nothing_matters_there_is_nothing_to_contract() -> None:
    nothing = spec({"S_a": Factor(FAIR, ("S_a",))}, {"O_a": Factor(FAIR, ("S_a",))})
    assert compile(nothing.build()).describe().splitlines()[:-1] == [
        "0 of 1 states matter to a decision: none.",
        "Left out of the search: S_a.",
        "  No preference, and no ambiguity that varies, depends on them, however indirectly.",
        "  Their beliefs are computed when somebody looks.",
        "Added once: the ambiguity of O_a, in any state 0.610864.",
    ]


def test_outcome_that_depends_on_nothing_is_a_constant() -> None:
    """O_a falls alike whatever S_a is; O_b's ambiguity varies and is no constant."""
    toss = Factor(np.array([[0.25, 0.25], [0.75, 0.75]]), ("S_a",))
    of = spec(
        {"S_a": Factor(moved(LEFT, RIGHT), ("S_a", "A_0"))}, {"O_a": toss, "O_b": Factor(NOISY, ("S_a",))}, (("O_a",),)
    )
    words = words_of(of)
    assert "O_a constant 2 dense, 2 operations" in words
    assert "ambiguity of O_b from S_a 2 dense, 2 operations" in words
    assert "Added once: the ambiguity of O_a, in any state 0.562335." in words
