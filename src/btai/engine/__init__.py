"""The same equations, fast: a slice is compiled into flat arrays, and one set of kernels runs them for every model.

Importing this package imports Numba.
"""

from btai.engine.compile import compile
from btai.engine.histories import Model, begin, predict, score
from btai.engine.istep import infer
from btai.engine.jit import kernel
from btai.engine.program import Cliques, Ops, Parts, Program
from btai.engine.work import Workspace, grown_workspace, new_workspace

__all__ = [
    "Cliques",
    "Model",
    "Ops",
    "Parts",
    "Program",
    "Workspace",
    "begin",
    "compile",
    "grown_workspace",
    "infer",
    "kernel",
    "new_workspace",
    "predict",
    "score",
]
