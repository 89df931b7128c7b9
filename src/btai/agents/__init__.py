"""Agents: thin, each a choice of inference, cost and action selection on the same search."""

from btai.agents.batch import BatchAgent
from btai.agents.btai_3mf import BTAI_3MF
from btai.agents.btai_bf import BTAI_BF
from btai.agents.btai_vmp import BTAI_VMP
from btai.agents.explain import ActionSummary, Explanation

__all__ = ["BTAI_3MF", "BTAI_BF", "BTAI_VMP", "ActionSummary", "BatchAgent", "Explanation"]
