"""What would take too much memory is refused, with the number, before anything is allocated."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hand_made import LEVER
from kernel_figures import positive
from spec import Factor, Spec

from btai import BTAI_3MF, TemporalSliceBuilder
from btai.engine import compile, compile_messages, new_vmp_work, new_workspace
from btai.envs import dsprites_slice
from btai.errors import CliqueTooLargeError, PlanningError
from btai.inference.vmp import LogTables, Stopping
from btai.planning import MEMORY_LIMIT, new_tree
from btai.planning.compiled import EngineBackend
from btai.planning.compiled_vmp import CompiledVmp

SIZES = {"S_a": 3, "S_b": 4}
TWO = Spec(
    action="A_0",
    n_actions=1,
    priors={name: np.full(n, 1 / n) for name, n in SIZES.items()},
    likelihoods={"O_ab": Factor(np.full((2, 3, 4), 0.5), ("S_a", "S_b"))},
    transitions={name: Factor(np.eye(n), (name,)) for name, n in SIZES.items()},
    preferences={},
)
# S_b is eliminated first: a table over both states and one over S_a, 8 bytes an entry; the map of its message into the
# second and that of the likelihood into the first, 4 bytes an entry.
INFERENCE = 8 * (12 + 3) + 4 * (3 + 12)
TABLES = 8 * (9 + 16 + 2 * 24)  # both transitions, and the likelihood twice: for the search and for inference


def test_program_is_refused_from_the_first_byte_above_the_limit() -> None:
    ts = TWO.build()
    assert compile(ts, memory_limit=INFERENCE + TABLES).cliques.maps.nbytes == 4 * (3 + 12)
    message = (
        f"the compiled program would take {INFERENCE + TABLES} bytes ({TABLES} for its tables, {INFERENCE} for exact"
        f" inference); the limit is {INFERENCE + TABLES - 1}. Use engine='numpy'"
    )
    with pytest.raises(CliqueTooLargeError, match=re.escape(message)):
        compile(ts, memory_limit=INFERENCE + TABLES - 1)


def test_loopy_propagation_takes_no_tables_of_its_own() -> None:
    ts = TWO.build(inference="loopy")
    compile(ts, memory_limit=TABLES)
    with pytest.raises(CliqueTooLargeError, match=r"\(584 for its tables, 0 for exact inference\); the limit is 583"):
        compile(ts, memory_limit=TABLES - 1)


def test_inference_beyond_all_memory_is_refused_before_it_is_allocated() -> None:
    """Twenty states, each two of which are seen together: one table of 4^20 entries, 8 TiB."""
    n = 20
    builder = TemporalSliceBuilder("A_0", 1)
    for i in range(n):
        builder.add_state(f"S_{i}", np.full(4, 0.25)).add_transition(f"S_{i}", np.eye(4), [f"S_{i}"])
        for j in range(i):
            builder.add_observation(f"O_{i}_{j}", np.full((2, 4, 4), 0.5), [f"S_{i}", f"S_{j}"])
    ts = builder.build(max_clique=4**n)
    with pytest.raises(CliqueTooLargeError, match=r"would take [\d,]{18,} bytes .* the limit is 2,147,483,648"):
        BTAI_3MF(ts)
    BTAI_3MF(ts, engine="numpy")  # which takes only what the evidence at hand needs


@pytest.mark.parametrize("spec", [LEVER, TWO], ids=["lever", "two"])
def test_bytes_of_an_iteration_are_what_tree_and_workspace_grow_by(spec: Spec) -> None:
    program = compile(spec.build())

    def nbytes(iterations: int) -> int:
        arrays = [*new_tree(spec.n_actions, iterations)[1:], *new_workspace(program, iterations)[1:]]
        return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))

    assert nbytes(1700) - nbytes(700) == 1000 * program.bytes_per_iteration


def test_room_for_message_passing_is_what_rows_and_tree_grow_by() -> None:
    ts = positive().build()
    tables = LogTables(ts)
    program = compile_messages(ts, tables.likelihoods, tables.transitions)

    def nbytes(iterations: int) -> int:
        arrays = [*new_tree(ts.action.size, iterations)[1:], *new_vmp_work(program, iterations)]
        return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))

    reckoned = MEMORY_LIMIT / CompiledVmp(tables, Stopping()).most_iterations
    assert 0 <= reckoned - (nbytes(1700) - nbytes(700)) / 1000 <= 8 * ts.action.size  # rounded up, for each node


def test_iterations_for_which_there_is_no_room_are_refused_in_the_same_words_by_both_paths() -> None:
    ts = dsprites_slice(granularity=8)
    said = []
    for engine in ("compiled", "numpy"):
        agent = BTAI_3MF(ts, 5, engine=engine)
        agent.reset({})
        agent.plan(3)
        most = agent._backend.most_iterations
        with pytest.raises(PlanningError) as refused:
            agent.plan(most - 2)
        said.append(str(refused.value).replace(f"{most:,}", "N").replace(f"{most + 1:,}", "N + 1"))
        assert len(agent.tree.expanded) == 3
        agent.step()
    assert said[0] == said[1]
    assert said[0] == (
        "plan: N + 1 iterations in all were asked for; this model's tree may have N in 4 GiB of memory. Ask for fewer."
    )


def test_room_for_iterations_is_the_memory_limit_by_the_bytes_of_one() -> None:
    ts = dsprites_slice(granularity=1)
    assert EngineBackend(ts).most_iterations == MEMORY_LIMIT // compile(ts).bytes_per_iteration == 2**32 // 3480


def test_a_long_search_grows_its_memory_and_keeps_what_it_has() -> None:
    ts = dsprites_slice(granularity=8)
    grown, roomy = BTAI_3MF(ts), BTAI_3MF(ts)
    for agent in (grown, roomy):
        agent.reset({"O_pos_x": 1})
    for portion in (1, 1, 900, 3000):
        grown.plan(portion)
    roomy.plan(3902)
    assert grown.tree.cost.tobytes() == roomy.tree.cost.tobytes()


def test_constant_models_take_next_to_nothing() -> None:
    nothing = replace(LEVER, preferences={})
    assert compile(nothing.build()).bytes_per_iteration == 2 * 32 + 4  # a tree of two actions
