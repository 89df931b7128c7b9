"""Translations from and to other programs' models; what cannot be carried is reported."""

from btai.interop.factored import Limits
from btai.interop.files import read_model, write_model
from btai.interop.loss import Imported, Loss, LossReport
from btai.interop.pomdp import read_pomdp, write_pomdp
from btai.interop.pomdpx import read_pomdpx, write_pomdpx

__all__ = [
    "Imported",
    "Limits",
    "Loss",
    "LossReport",
    "read_model",
    "read_pomdp",
    "read_pomdpx",
    "write_model",
    "write_pomdp",
    "write_pomdpx",
]
