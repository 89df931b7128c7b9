"""The kernel of the I-step: the junction tree's schedule on flat tables."""

from __future__ import annotations

import numpy as np

from btai.engine.cliques import NO_PARENT
from btai.engine.flat import Floats, Shorts
from btai.engine.jit import inlined, kernel
from btai.engine.program import Cliques, Parts
from btai.engine.work import Workspace

__all__ = ["infer"]

LEAST = float(np.finfo(np.float64).tiny)  # smaller numbers have fewer digits, or none


@kernel
def infer(parts: Parts, cliques: Cliques, prior: Floats, evidence: Floats, posterior: Floats, work: Workspace) -> bool:
    """Write the posterior, flat; false where the evidence is impossible, or too small a number came up to be sure.

    `prior` and `posterior` are flat beliefs, `evidence` holds one vector per observation (all ones: not observed).
    A number that underflowed might yet have mattered, if all others had become smaller still: then the posterior is not
    to be used, and `btai.inference.i_step`, which keeps exponents apart, tells what is so.
    """
    _multiply_priors(parts, cliques, prior, work)
    if not _multiply_likelihoods(parts, cliques, evidence, work):
        return False
    if not _collect(cliques, work):
        return False
    _distribute(cliques, work)
    _marginalise(parts, cliques, posterior, work)
    return True


@inlined
def _multiply_priors(parts: Parts, cliques: Cliques, prior: Floats, work: Workspace) -> None:
    for b in range(len(cliques.state)):
        start, rest = cliques.start[b], cliques.rest[b]
        for i in range(cliques.size[b]):
            p = prior[parts.flat[cliques.state[b]] + i]
            for r in range(rest):
                work.cliques[start + i * rest + r] = p


@inlined
def _multiply_likelihoods(parts: Parts, cliques: Cliques, evidence: Floats, work: Workspace) -> bool:
    """Multiply what each observation says of its parents into its home."""
    n_states = len(parts.transition)
    for o in range(len(cliques.home)):
        size, flat = parts.size[n_states + o], parts.flat[n_states + o]
        configurations, table = cliques.configurations[o], cliques.likelihood_start[o]
        if _is_silent(evidence, flat, size):
            continue
        b = cliques.home[o]
        start, entries = cliques.start[b], cliques.size[b] * cliques.rest[b]
        pointer = cliques.home_map_start[o]
        said, lost = work.likelihood, False
        for k in range(configurations):
            said[k] = 0.0
        for i in range(size):
            weight = evidence[flat + i]
            if weight != 0.0:
                for k in range(configurations):
                    likelihood = cliques.likelihoods[table + i * configurations + k]
                    lost |= _underflows(weight, likelihood)
                    said[k] += weight * likelihood
        lost |= _multiply(work.cliques, start, entries, said, cliques.maps, pointer)
        if lost or not _normalise(work.cliques, start, entries):
            return False
    return True


@inlined
def _is_silent(evidence: Floats, start: int, size: int) -> bool:
    """Whether nothing was observed: every value is as likely."""
    for i in range(start, start + size):  # noqa: SIM110 - Numba compiles no generator
        if evidence[i] != 1.0:
            return False
    return True


@inlined
def _multiply(table: Floats, start: int, entries: int, factors: Floats, places: Shorts, pointer: int) -> bool:
    """Multiply each entry by its factor, the one at its place; whether anything underflowed."""
    lost = False
    for e in range(entries):
        factor = factors[places[pointer + e]]
        lost |= _underflows(table[start + e], factor)
        table[start + e] *= factor
    return lost


@inlined
def _underflows(a: float, b: float) -> bool:
    """Whether the product is too small for all its digits, though no factor is 0."""
    return a * b < LEAST and a > 0.0 and b > 0.0


@inlined
def _normalise(table: Floats, start: int, entries: int) -> bool:
    """Scale to sum 1; false if the sum is 0, beyond all numbers, or an entry underflows."""
    total = 0.0
    for e in range(start, start + entries):
        total += table[e]
    if not 0.0 < total < np.inf:
        return False
    lost = False
    for e in range(start, start + entries):
        before = table[e]
        table[e] /= total
        lost |= table[e] < LEAST and before > 0.0
    return not lost


@inlined
def _collect(cliques: Cliques, work: Workspace) -> bool:
    """Upwards: each bucket sums its state out and multiplies the rest into its parent."""
    for b in range(len(cliques.state)):
        start, size, rest = cliques.start[b], cliques.size[b], cliques.rest[b]
        if not _normalise(work.cliques, start, size * rest):
            return False
        parent = cliques.parent[b]
        if parent != NO_PARENT:
            _sum_out(work.cliques, start, size, rest, work.messages, 0)
            entries, pointer = cliques.size[parent] * cliques.rest[parent], cliques.map_start[b]
            if _multiply(work.cliques, cliques.start[parent], entries, work.messages, cliques.maps, pointer):
                return False
    return True


@inlined
def _distribute(cliques: Cliques, work: Workspace) -> None:
    """Downwards: the parent's marginal takes the place of the message it was sent."""
    for b in range(len(cliques.state) - 1, -1, -1):
        parent = cliques.parent[b]
        if parent == NO_PARENT:
            continue
        start, size, rest = cliques.start[b], cliques.size[b], cliques.rest[b]
        sent, wanted = 0, rest
        _sum_out(work.cliques, start, size, rest, work.messages, sent)
        for r in range(rest):
            work.messages[wanted + r] = 0.0
        entries, pointer = cliques.size[parent] * cliques.rest[parent], cliques.map_start[b]
        for e in range(entries):
            work.messages[wanted + cliques.maps[pointer + e]] += work.cliques[cliques.start[parent] + e]
        for r in range(rest):
            if work.messages[sent + r] > 0.0:
                ratio = work.messages[wanted + r] / work.messages[sent + r]
                for i in range(size):
                    work.cliques[start + i * rest + r] *= ratio
        _normalise(work.cliques, start, size * rest)  # what underflows now is as unlikely as it looks


@inlined
def _sum_out(table: Floats, start: int, size: int, rest: int, out: Floats, where: int) -> None:
    """Sum over the first axis of the table `[size, rest]` at `start`."""
    for r in range(rest):
        out[where + r] = 0.0
    for i in range(size):
        for r in range(rest):
            out[where + r] += table[start + i * rest + r]


@inlined
def _marginalise(parts: Parts, cliques: Cliques, posterior: Floats, work: Workspace) -> None:
    for b in range(len(cliques.state)):
        start, rest = cliques.start[b], cliques.rest[b]
        for i in range(cliques.size[b]):
            total = 0.0
            for r in range(rest):
                total += work.cliques[start + i * rest + r]
            posterior[parts.flat[cliques.state[b]] + i] = total
