"""The same equations, fast: a slice is compiled into flat arrays, and one set of kernels runs them for every model.

Importing this package imports Numba.
"""

from btai.engine.compile import compile
from btai.engine.histories import Model, begin, predict, score
from btai.engine.istep import infer
from btai.engine.jit import kernel
from btai.engine.messages import MessageProgram, compile_messages
from btai.engine.program import Cliques, Ops, Parts, Program
from btai.engine.vmp import Past, VmpModel, VmpWork, new_vmp_work, score_branches, settle_chain
from btai.engine.work import Workspace, grown_workspace, new_workspace

__all__ = [
    "Cliques",
    "MessageProgram",
    "Model",
    "Ops",
    "Parts",
    "Past",
    "Program",
    "VmpModel",
    "VmpWork",
    "Workspace",
    "begin",
    "compile",
    "compile_messages",
    "grown_workspace",
    "infer",
    "kernel",
    "new_vmp_work",
    "new_workspace",
    "predict",
    "score",
    "score_branches",
    "settle_chain",
]
