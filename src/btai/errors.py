"""Every error that btai raises on purpose.

::

    BtaiError
    ├── ModelError (ValueError)          a declaration that cannot be a model
    │   ├── VariableError                a name: wrong prefix, used twice, unknown, missing
    │   ├── TableError                   a table: rank, size, sum, negative, not a number
    │   ├── PreferenceError              a preference: overlap, shape, zero entries
    │   ├── CliqueTooLargeError          exact inference would need too large a table
    │   └── ModelFileError               a model file that cannot be read or written, or holds no model
    ├── EvidenceError (ValueError)       an observation that cannot be used
    │   └── ImpossibleObservationError   an observation of probability zero
    ├── PlanningError (ValueError)       a budget, an action or an option of an agent
    ├── EnvError                         an environment asked for what it cannot do
    ├── RunFileError                     a run file that cannot be used
    ├── SweepError (ValueError)          a description of a sweep that is none
    ├── FormatError (ValueError)         a text in another program's format that cannot be read
    └── MissingExtraError (ImportError)  an optional package is not installed

Each message names the variable, what was given, what is required and how to mend it. Catching `BtaiError`
catches them all; the built-in bases let code that knows nothing of btai catch them as it would expect.
"""

from __future__ import annotations

__all__ = [
    "BtaiError",
    "CliqueTooLargeError",
    "EnvError",
    "EvidenceError",
    "FormatError",
    "ImpossibleObservationError",
    "MissingExtraError",
    "ModelError",
    "ModelFileError",
    "PlanningError",
    "PreferenceError",
    "RunFileError",
    "SweepError",
    "TableError",
    "VariableError",
]


class BtaiError(Exception):
    """Base of every error that btai raises on purpose."""


class ModelError(BtaiError, ValueError):
    """What was declared is not a model."""


class VariableError(ModelError):
    """A variable's name is wrong, used twice, unknown or missing."""


class TableError(ModelError):
    """A table does not fit its variables, or is no probability table."""


class PreferenceError(ModelError):
    """A prior preference does not fit its observations, overlaps another or holds a zero."""


class CliqueTooLargeError(ModelError):
    """Exact inference would need a table larger than the limit; raised before anything is allocated."""


class ModelFileError(ModelError):
    """A model file cannot be read or written, or what it holds is not a model; the message says where it is wrong."""


class EvidenceError(BtaiError, ValueError):
    """An observation given to the agent cannot be used."""


class ImpossibleObservationError(EvidenceError):
    """The model gives the observations probability zero; the agent is left exactly as it was."""


class PlanningError(BtaiError, ValueError):
    """A planning budget, an action or an option of an agent cannot be used."""


class EnvError(BtaiError):
    """An environment was asked for something it cannot do, or its data are not what they claim to be."""


class RunFileError(BtaiError):
    """A run file cannot be opened, written or continued; it is left untouched."""


class SweepError(BtaiError, ValueError):
    """A sweep is not described as it must be; the message names the key, what was given and what is allowed."""


class FormatError(BtaiError, ValueError):
    """A text in another program's format cannot be read; the message says file, line, column and what was expected."""


class MissingExtraError(BtaiError, ImportError):
    """A feature needs an optional package that is not installed."""
