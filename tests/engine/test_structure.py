"""What of a slice matters to a decision, what goes its own ways, and which actions act alike: by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from binary import FAIR, LEFT, NOISY, RIGHT, STAYS, moved, spec
from numpy.testing import assert_array_equal
from spec import Factor, Spec

from btai.engine import compile
from btai.engine.structure import Conditional, Structure, find_structure
from btai.envs import dsprites_slice


def structure(of: Spec) -> Structure:
    return find_structure(of.build())


def test_state_that_is_seen_and_preferred_matters_and_so_does_all_that_it_is_predicted_from() -> None:
    chain = spec(
        {
            "S_a": Factor(FAIR, ("S_b",)),
            "S_b": Factor(moved(LEFT, RIGHT), ("S_c", "A_0")),
            "S_c": Factor(FAIR, ("S_c",)),
            "S_d": Factor(FAIR, ("S_a",)),
        },
        {"O_a": Factor(FAIR, ("S_a",)), "O_d": Factor(FAIR, ("S_d",))},
        (("O_a",),),
    )
    assert structure(chain).irrelevant == ("S_d",)


def test_state_that_is_only_seen_matters_where_its_ambiguity_varies() -> None:
    seen = spec(
        {"S_a": STAYS, "S_b": Factor(FAIR, ("S_b",))}, {"O_a": Factor(FAIR, ("S_a",)), "O_b": Factor(NOISY, ("S_b",))}
    )
    found = structure(seen)
    assert found.irrelevant == ("S_a",)
    assert found.ambiguities["O_a"] == pytest.approx(-0.7 * np.log(0.7) - 0.3 * np.log(0.3), abs=1e-15)
    varying = found.ambiguities["O_b"]
    assert isinstance(varying, Conditional)
    assert varying.parents == ("S_b",)
    assert_array_equal(varying.table.shape, (1, 2))


def test_ambiguity_that_varies_by_a_billionth_varies() -> None:
    nearly = np.array([[0.7, 0.7 - 1e-9], [0.3, 0.3 + 1e-9]])
    assert isinstance(
        structure(spec({"S_a": STAYS}, {"O_a": Factor(nearly, ("S_a",))})).ambiguities["O_a"], Conditional
    )


def test_ambiguity_that_varies_by_the_order_of_summation_does_not() -> None:
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    columns = np.stack([weights, weights[[3, 1, 2, 0]]], axis=1)
    assert len(set(-(columns * np.log(columns)).sum(axis=0))) == 2  # the entropies are not the same to the bit
    assert structure(spec({"S_a": STAYS}, {"O_a": Factor(columns, ("S_a",))})).irrelevant == ("S_a",)


def test_nothing_matters_where_nothing_is_preferred_and_no_ambiguity_varies() -> None:
    found = structure(spec({"S_a": STAYS}, {"O_a": Factor(FAIR, ("S_a",))}))
    assert (found.irrelevant, found.components) == (("S_a",), ())


def test_parents_that_change_nothing_are_dropped() -> None:
    same = np.repeat(FAIR[:, :, None], 2, axis=2)  # the second parent changes nothing
    found = structure(
        spec(
            {"S_a": Factor(same, ("S_a", "S_b")), "S_b": Factor(FAIR, ("S_b",))},
            {"O_a": Factor(same.transpose(0, 2, 1), ("S_b", "S_a"))},
            (("O_a",),),
        )
    )
    assert found.irrelevant == ("S_b",)
    assert found.likelihoods["O_a"].parents == ("S_a",)
    assert_array_equal(found.likelihoods["O_a"].table, FAIR)
    assert found.transitions["S_a"][0].parents == ("S_a",)


def test_action_whose_slices_are_equal_is_no_parent() -> None:
    found = structure(spec({"S_a": Factor(moved(LEFT, LEFT), ("S_a", "A_0"))}, {"O_a": STAYS}, (("O_a",),)))
    (component,) = found.components
    assert component.class_of == (0, 0)
    assert component.representatives == (0,)
    assert found.transitions["S_a"][0] is found.transitions["S_a"][1]


def test_actions_with_equal_slices_are_one_class() -> None:
    three = replace(
        spec({"S_a": Factor(moved(LEFT, RIGHT, LEFT, FAIR), ("S_a", "A_0"))}, {"O_a": STAYS}, (("O_a",),)), n_actions=4
    )
    (component,) = structure(three).components
    assert component.class_of == (0, 1, 0, 2)
    assert component.representatives == (0, 1, 3)


def test_states_that_are_predicted_from_one_another_go_together_and_the_others_their_own_ways() -> None:
    found = structure(
        spec(
            {
                "S_c": Factor(moved(RIGHT, LEFT), ("S_a", "A_0")),
                "S_b": Factor(moved(LEFT, RIGHT), ("S_b", "A_0")),
                "S_a": STAYS,
            },
            {name: Factor(FAIR, (state,)) for name, state in (("O_a", "S_a"), ("O_b", "S_b"), ("O_c", "S_c"))},
            (("O_a", "O_b"), ("O_c",)),
        )
    )
    assert [component.states for component in found.components] == [("S_c", "S_a"), ("S_b",)]


def test_two_groups_that_meet_late_become_one() -> None:
    """S_a and S_b, S_c and S_d belong together; that S_d listens to S_a is seen last."""
    found = structure(
        spec(
            {
                "S_a": Factor(FAIR, ("S_b",)),
                "S_b": Factor(FAIR, ("S_b",)),
                "S_c": Factor(FAIR, ("S_d",)),
                "S_d": Factor(FAIR, ("S_a",)),
            },
            {"O_c": Factor(FAIR, ("S_c",))},
            (("O_c",),),
        )
    )
    assert [component.states for component in found.components] == [("S_a", "S_b", "S_c", "S_d")]


def test_position_and_shape_of_dsprites_go_their_own_ways() -> None:
    found = find_structure(dsprites_slice(granularity=8))
    assert found.irrelevant == ("S_scale", "S_orientation")
    assert [(c.states, c.class_of) for c in found.components] == [
        (("S_pos_x",), (0, 0, 1, 2)),  # DOWN and UP leave x alone, but for the noise
        (("S_pos_y",), (0, 1, 2, 2)),
        (("S_shape",), (0, 0, 0, 0)),
    ]


def test_equal_predictions_are_one_op_and_each_class_has_its_own_units() -> None:
    program = compile(dsprites_slice(granularity=8))
    transition = program.parts.transition
    x, y = transition[0].tolist(), transition[1].tolist()
    assert x[0] == x[1]
    assert y[2] == y[3]
    assert len({*x, *y}) == 6
    assert program.parts.n_classes.tolist() == [3, 3, 1]
    assert program.labels == (
        *("S_pos_x", "O_pos_x") * 3,
        *("S_pos_y", "O_pos_y") * 3,
        *("S_shape", "O_shape"),
        "preference over (O_pos_x, O_pos_y, O_shape)",
    )


def test_operations_of_an_iteration_are_counted_by_hand() -> None:
    """LEVER-like: one state, one observation, a dense 2 x 2 table each; the preference spans nothing."""
    of = spec({"S_a": Factor(moved(LEFT, RIGHT), ("S_a", "A_0"))}, {"O_a": STAYS}, (("O_a",),))
    # For each of 2 classes: 4 products for the state, 4 for the observation, 3 operations for each p ln p of its 2
    # values, 2 products with the logarithms of the preference. Nothing spans components.
    assert compile(of.build()).operations == 2 * (4 + 4 + 6 + 2)


def test_operations_of_what_spans_components_are_counted_for_each_action() -> None:
    of = spec(
        {name: Factor(moved(LEFT, RIGHT), (name, "A_0")) for name in ("S_a", "S_b")},
        {"O_a": Factor(STAYS.table, ("S_a",)), "O_b": Factor(STAYS.table, ("S_b",))},
        (("O_a", "O_b"),),
    )
    # Two components as above, and for each of 2 actions 4 + 2 products with the logarithms of the joint preference.
    assert compile(of.build()).operations == 2 * 2 * (4 + 4 + 6) + 2 * (4 + 2)
