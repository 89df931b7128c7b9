"""Read .pomdp, Cassandra's text format of flat POMDPs."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from btai.errors import FormatError
from btai.interop.factored.columns import with_sums_of_one
from btai.interop.factored.network import Conditional, Network, Ref, Reward, Table, Variable
from btai.interop.factored.source import DEFAULT_LIMITS, Limits, Position, Source, read_bytes
from btai.interop.factored.translate import checked_precision, translated
from btai.interop.loss import Imported, Loss
from btai.interop.pomdp.preamble import Axis, Preamble, read_preamble
from btai.interop.pomdp.statements import Distribution, Rewards
from btai.interop.pomdp.words import Words

__all__ = ["ACTION", "OBSERVATION", "STATE", "network_in", "parse_pomdp", "read_pomdp"]

STATE, OBSERVATION, ACTION, REWARD = "S_state", "O_observation", "A_action", "reward"


def read_pomdp(
    path: str | os.PathLike[str],
    *,
    precision: float = 1.0,
    inference: str = "exact",
    limits: Limits = DEFAULT_LIMITS,
) -> Imported:
    """The model in a .pomdp file, and a report of what a temporal slice cannot carry.

    It has one state, `S_state`, one observation, `O_observation`, and the action `A_action`. Rewards become
    preferences, softmax(precision * reward): over the observation if they depend on it alone, otherwise over an added
    observation `O_reward`, as in `read_pomdpx`. If observations depend on the action they depend on an added state
    `S_last_action`. `FormatError` says file, line, column and what was expected.
    """
    checked_precision(precision)
    return parse_pomdp(read_bytes(path, limits), os.fspath(path), precision, inference, limits)


def parse_pomdp(data: bytes, file: str, precision: float, inference: str, limits: Limits) -> Imported:
    """`read_pomdp` of a text; `file` is what errors call it."""
    source = Source(file, limits)
    return translated(network_in(data, source), source, precision, inference)


def network_in(data: bytes, source: Source) -> Network:
    """What a text declares."""
    text = data.decode("latin-1")  # beyond ASCII only comments may go, in whatever encoding
    return _Reader(Words(text, source), source).network()


class _Reader:
    def __init__(self, words: Words, source: Source) -> None:
        self.words = words
        self.source = source
        self.losses: list[Loss] = []
        self.preamble: Preamble = read_preamble(words)

    def network(self) -> Network:
        p = self.preamble
        actions, states, observations = p.actions, p.states, p.observations
        if float(p.discount) != 1:
            self.losses.append(Loss(f"discount {p.discount}", "expected free energies are added without a discount"))
        prior = self.checked_start()
        transitions = Distribution(self.words, (actions, states, states), prior)
        likelihoods = Distribution(self.words, (actions, states, observations), None)
        rewards = Rewards(self.words, (actions, states, states, observations), p.sign)
        self.read_statements({"T": transitions.read, "O": likelihoods.read, "R": rewards.read})
        action, before, now = Ref("action", ACTION), Ref("before", STATE), Ref("now", STATE)
        t = self.checked(transitions, "T", "state before")
        o = self.checked(likelihoods, "O", "state after")
        return Network(
            actions=(_variable(ACTION, actions),),
            states=(_variable(STATE, states),),
            observations=(_variable(OBSERVATION, observations),),
            priors={STATE: Conditional(STATE, (), prior, p.start_at)},
            transitions={STATE: Conditional(STATE, (before, action), t, states.at)},
            likelihoods={OBSERVATION: Conditional(OBSERVATION, (now, action), o, observations.at)},
            rewards=(self.reward(rewards, (action, before, now, Ref("observation", OBSERVATION))),),
            losses=tuple(self.losses),
        )

    def read_statements(self, readers: dict[str, Callable[[Position], None]]) -> None:
        """All statements, up to the end of the file."""
        while self.words.next.kind != "end":
            if self.words.next.text not in readers:
                self.words.refuse("expected 'T', 'O', 'R' or the end of the file")
            keyword = self.words.take()
            self.words.expect(":", f"after {keyword.text!r}")
            readers[keyword.text](self.words.position(keyword))

    def checked_start(self) -> Table:
        """The initial belief `[n_S]`."""

        def wrong(_: tuple[int, ...], total: float) -> FormatError:
            at = self.preamble.start_at
            return self.source.error(at, f"expected probabilities of the start that sum to 1, found {total:.6g}")

        prior, losses = with_sums_of_one(self.preamble.start, "the start", wrong)
        self.losses += losses
        return prior

    def checked(self, distribution: Distribution, name: str, given: str) -> Table:
        """A distribution as a slice has it, `[n, n_S, n_A]`."""
        actions, states, _ = distribution.axes

        def wrong(index: tuple[int, ...], total: float) -> FormatError:
            state, action = index
            whose = f"action {actions.value(action)} and {given} {states.value(state)}"
            at = distribution.last_on(action) or self.words.position(self.words.next)
            return self.source.error(at, f"expected {name} for {whose} to sum to 1, found {total:.6g}")

        table, losses = with_sums_of_one(np.transpose(distribution.table, (2, 1, 0)), name, wrong)
        self.losses += losses
        return table

    def reward(self, rewards: Rewards, refs: tuple[Ref, ...]) -> Reward:
        """The reward, over the variables it depends on."""
        axes = rewards.told_apart()
        table = rewards.table(axes)
        return Reward(REWARD, tuple(refs[i] for i in axes), rewards.levels.all, table, rewards.at)


def _variable(name: str, axis: Axis) -> Variable:
    return Variable(name, axis.size, None if axis.names is None else tuple(axis.names), axis.at)
