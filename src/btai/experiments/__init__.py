"""Experiments: trials, their statistics, the run file that keeps them, and the processes that share them."""

from btai.experiments.recording import Cycle
from btai.experiments.run import RunResult, run
from btai.experiments.runfile import RunFile
from btai.experiments.storedrun import Failure, StoredRun
from btai.experiments.summary import Summary, summarise, wilson_interval
from btai.experiments.trial import Agent, Environment, Job, Trial, derived_seed, run_trial

__all__ = [
    "Agent",
    "Cycle",
    "Environment",
    "Failure",
    "Job",
    "RunFile",
    "RunResult",
    "StoredRun",
    "Summary",
    "Trial",
    "derived_seed",
    "run",
    "run_trial",
    "summarise",
    "wilson_interval",
]
