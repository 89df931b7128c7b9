"""The paper's equations in NumPy, written to be read: I-step, P-step and expected free energy."""

from btai.inference.beliefs import Beliefs
from btai.inference.efe import ExpectedFreeEnergy, expected_free_energy
from btai.inference.evidence import check_observations, evidence_vectors, write_evidence
from btai.inference.factors import prior_factors
from btai.inference.istep import Inference, i_step
from btai.inference.pstep import Prediction, p_step

__all__ = [
    "Beliefs",
    "ExpectedFreeEnergy",
    "Inference",
    "Prediction",
    "check_observations",
    "evidence_vectors",
    "expected_free_energy",
    "i_step",
    "p_step",
    "prior_factors",
    "write_evidence",
]
