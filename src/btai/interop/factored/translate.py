"""From a factored POMDP to a temporal slice, with a report of what a slice cannot say.

What a slice cannot say is modelled by an added variable where that is exact (an observation that depends on the
action, a reward), and reported as lost where it is not.
"""

from __future__ import annotations

import math

import numpy as np

from btai.errors import ModelError, PreferenceError
from btai.interop.factored.actions import with_one_action
from btai.interop.factored.contract import Known, is_deterministic
from btai.interop.factored.draft import Draft
from btai.interop.factored.names import prefixed, short
from btai.interop.factored.network import Network, Ref, Variable
from btai.interop.factored.rewards import Rewards
from btai.interop.factored.source import Source
from btai.interop.loss import Imported, LossReport

__all__ = ["checked_discount", "checked_precision", "translated"]


def checked_precision(precision: float) -> float:
    """The precision, if a softmax can be taken with it; asked before a file is read."""
    if not math.isfinite(precision) or precision < 0:
        raise PreferenceError(f"precision: {precision} was given; a finite number of at least 0 is required.")
    return precision


def checked_discount(discount: float) -> float:
    """The discount, if a file can hold it."""
    if not 0 <= discount <= 1:
        raise ModelError(f"discount: {discount} was given; a number from 0 to 1 is required.")
    return float(discount)


def translated(network: Network, source: Source, precision: float, inference: str) -> Imported:
    """The slice and the report."""
    network = with_one_action(network, source)
    draft = Draft(network, source)
    transitions = {Ref("now", name): c for name, c in network.transitions.items()}
    likelihoods = {Ref("observation", name): c for name, c in network.likelihoods.items()}
    known = Known.of(transitions | likelihoods, draft.sizes, source)
    _add_states(network, draft, known)
    rewards = Rewards(draft, known, _add_observations(network, draft), precision)
    for reward in network.rewards:
        rewards.add(reward)
    rewards.finish()
    return Imported(draft.build(inference), LossReport(tuple(draft.losses)))


def _add_states(network: Network, draft: Draft, known: Known) -> None:
    initial = Known.of({Ref("before", name): c for name, c in network.priors.items()}, draft.sizes, draft.source)
    for state in network.states:
        _, prior = initial.given_others(Ref("before", state.name))
        _report(
            draft,
            initial,
            f"initial {state.name}",
            network.priors[state.name].parents,
            "priors are independent of one another",
        )
        parents, transition = known.given_others(Ref("now", state.name))
        now = [ref for ref in network.transitions[state.name].parents if ref.role == "now"]
        _report(draft, known, f"next {state.name}", now, "a transition depends on the slice before alone")
        draft.add_state(state.name, prior, state.values, parents[1:], transition)


def _report(draft: Draft, known: Known, whose: str, parents: tuple[Ref, ...] | list[Ref], why: str) -> None:
    """A dependence within a slice is lost, unless what it depends on is certain."""
    if not all(is_deterministic(known.given_others(ref)[1]) for ref in parents):
        draft.lose(
            f"{whose} given {', '.join(ref.name for ref in parents)}",
            f"{why}; its distribution given the rest is exact, its correlation with them is lost",
        )


def _add_observations(network: Network, draft: Draft) -> dict[Ref, Variable]:
    """Declare the observations, and one for each state that the agent sees; which of them tells what."""
    carriers = {}
    for observation in network.observations:
        conditional = network.likelihoods[observation.name]
        draft.add_observation(observation, conditional.parents, conditional.table)
        carriers[Ref("observation", observation.name)] = observation
    for state in network.states:
        if state.observed:
            name = draft.fresh(prefixed("O_", short(state.name)))
            seen = Variable(name, state.size, state.values, state.at)
            draft.source.allow_table(state.at, f"the table of {name}", [state.size, state.size])
            draft.add_observation(seen, (Ref("now", state.name),), np.eye(state.size))
            draft.lose(f"fullyObs {state.name}", f"the agent sees it through the added observation {name}")
            carriers[Ref("now", state.name)] = seen
    return carriers
