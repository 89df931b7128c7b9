"""Brute force for variational message passing: the joint of all variables is enumerated, nothing is contracted.

A network is the logarithm of the joint as one array with an axis per variable; the free energy and the best beliefs
over one variable are sums over all its entries, by their definitions. Nothing is shared with `btai`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from oracle import evidence_vector
from spec import Array, Beliefs, Evidence, Factor, Spec

Name = tuple[str, int]  # a variable, and its time step or branch


@dataclass
class Network:
    """Hidden variables in the order in which they are updated, after those whose beliefs are `given`."""

    sizes: dict[Name, int]
    log_joint: Array  # one axis per variable
    q: dict[Name, Array]
    given: int = 0

    @property
    def hidden(self) -> list[Name]:
        return list(self.sizes)[self.given :]

    def product(self) -> Array:
        """The probability that the beliefs give to each configuration."""
        joint = np.ones(())
        for name in self.sizes:
            joint = np.multiply.outer(joint, self.q[name])
        return joint

    def free_energy(self) -> float:
        """E_q[ln q - ln P], over all configurations; what is given has no entropy of its own here."""
        log_q = np.zeros(())
        for i, name in enumerate(self.sizes):
            log_q = np.add.outer(log_q, np.log(self.q[name]) if i >= self.given else np.zeros(self.sizes[name]))
        return float((self.product() * (log_q - self.log_joint)).sum())

    def best(self, name: Name) -> Array:
        """The beliefs over one variable that make the free energy least, the others staying as they are."""
        others = Network(self.sizes, self.log_joint, {**self.q, name: np.ones(self.sizes[name])}, self.given)
        axis = list(self.sizes).index(name)
        expected = (others.product() * self.log_joint).sum(axis=tuple(a for a in range(len(self.sizes)) if a != axis))
        weights = np.exp(expected - expected.max())
        return np.asarray(weights / weights.sum())

    def log_evidence(self) -> float:
        """The logarithm of the sum over all configurations: minus the least that a free energy can be."""
        return float(np.log(np.exp(self.log_joint).sum()))


def sweep(networks: Sequence[Network]) -> list[float]:
    """Update every hidden variable of every network once; the free energy of all before and after each update."""
    energies = [sum(network.free_energy() for network in networks)]
    for network in networks:
        for name in network.hidden:
            network.q[name] = network.best(name)
            energies.append(sum(other.free_energy() for other in networks))
    return energies


def settle(networks: Sequence[Network], tolerance: float, most: int) -> tuple[int, float]:
    """Sweep until the free energy falls by less than `tolerance`, twice at least; the sweeps and the free energy."""
    before = math.inf
    for sweeps in range(1, most + 1):
        energy = sweep(networks)[-1]
        if sweeps > 1 and before - energy < tolerance:
            return sweeps, energy
        before = energy
    return most, before


# --- the chain of what was ----------------------------------------------------------------------------------------


def chain(spec: Spec, prior: Beliefs, evidences: Sequence[Evidence], actions: Sequence[int]) -> Network:
    """Everything from the first slice to the last; `evidences` has one more entry than `actions`."""
    sizes: dict[Name, int] = {}
    for time in range(len(evidences)):
        if time > 0:
            sizes[spec.action, time - 1] = spec.n_actions
        sizes |= {(state, time): len(p) for state, p in prior.items()}
    names = list(sizes)
    log_joint = np.zeros(list(sizes.values()))
    for cell in itertools.product(*map(range, log_joint.shape)):
        value = dict(zip(names, cell, strict=True))
        p = 1.0
        for time, evidence in enumerate(evidences):
            for state, belief in prior.items():
                p *= belief[value[state, 0]] if time == 0 else _entry(spec.transitions[state], value, state, time)
            if time > 0:
                others = 0.1 / max(1, spec.n_actions - 1)
                probable = 0.9 if value[spec.action, time - 1] == actions[time - 1] else others
                p *= probable if spec.n_actions > 1 else 1.0
            for name, factor in spec.likelihoods.items():
                if name in evidence:
                    column = factor.column(value[parent, time] for parent in factor.parents)
                    p *= float(evidence_vector(evidence[name], len(column)) @ column)
        log_joint[cell] = math.log(p)
    return Network(sizes, log_joint, {name: np.full(n, 1 / n) for name, n in sizes.items()})


def _entry(factor: Factor, value: Mapping[Name, int], state: str, time: int) -> float:
    """P(state = its value | the values of its parents, one time step before)."""
    return float(factor.column(value[parent, time - 1] for parent in factor.parents)[value[state, time]])


# --- the slices to come -------------------------------------------------------------------------------------------


def futures(spec: Spec, beliefs: Beliefs) -> list[Network]:
    """The slice that follows each action, its observations hidden; `beliefs` are those of the slice before."""
    return [_future(spec, beliefs, action) for action in range(spec.n_actions)]


def _future(spec: Spec, beliefs: Beliefs, action: int) -> Network:
    present = {(state, 0): len(belief) for state, belief in beliefs.items()}
    hidden = {(name, 1): spec.sizes[name] for name in (*spec.priors, *spec.likelihoods)}
    sizes = present | hidden
    log_joint = np.zeros(list(sizes.values()))
    for cell in itertools.product(*map(range, log_joint.shape)):
        value = dict(zip(sizes, cell, strict=True))
        p = 1.0
        for state in spec.priors:
            p *= _entry(spec.transition(state, action), value, state, 1)
        for name, factor in spec.likelihoods.items():
            p *= factor.column(value[parent, 1] for parent in factor.parents)[value[name, 1]]
        log_joint[cell] = math.log(p)
    uniform = {name: np.full(n, 1 / n) for name, n in hidden.items()}
    return Network(sizes, log_joint, {(s, 0): np.asarray(b) for s, b in beliefs.items()} | uniform, len(present))
