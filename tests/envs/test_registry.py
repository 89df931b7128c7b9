"""The environments by name: every one makes an environment and a model that fit each other."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

from btai.commands import options
from btai.envs import ENVIRONMENTS, environment
from btai.errors import EnvError
from btai.experiments import run
from btai.experiments.environments import make_agent, make_env

SMALL: dict[str, dict[str, Any]] = {"dsprites": {"granularity": 8}, "rocksample": {"size": 2, "rocks": 1}}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_agent_of_the_model_acts_in_the_environment(name: str) -> None:
    options = SMALL.get(name, {})
    result = run(make_agent(name, 5, **options), make_env(name, **options), trials=2, max_cycles=3)
    assert [0 < trial.cycles <= 3 for trial in result.trials] == [True, True]


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS.keys() - {"dsprites", "dsprites-flat", "frozenlake"}))
def test_every_start_can_be_tried(name: str) -> None:
    options = SMALL.get(name, {})
    result = run(make_agent(name, 5, **options), make_env(name, **options), exhaustive=True, max_cycles=3)
    assert [trial.initial_state for trial in result.trials] == make_env(name, **options).initial_states()


@pytest.mark.parametrize("name", [name for name in ENVIRONMENTS if not name.startswith("dsprites")])
def test_environment_is_registered_with_gymnasium(name: str) -> None:
    """The paper's wrappers of dSprites are no environments of Gymnasium; what they wrap is one, see below."""
    env = make_env(name, **SMALL.get(name, {}))
    kind = type(env.unwrapped)
    assert f"{kind.__module__}:{kind.__qualname__}" in {spec.entry_point for spec in gymnasium.registry.values()}


@pytest.mark.parametrize("name", ["dSprites", "GridMaze", "RockSample", "TMaze", "Tiger"])
def test_registered_environment_takes_its_options(name: str) -> None:
    env: Any = gymnasium.make(f"btai/{name}-v0", max_cycles=7).unwrapped
    assert (env.task if name == "dSprites" else env).max_cycles == 7


def test_command_line_names_every_environment() -> None:
    assert options.ENVIRONMENTS.split("|") == [*ENVIRONMENTS]


def test_each_option_reaches_those_it_concerns() -> None:
    entry = environment("tiger")
    assert entry.env(accuracy=0.7, precision=2.0).accuracy == 0.7
    assert entry.model(accuracy=0.7, max_cycles=3).observations["O_growl"].likelihood[0, 0, 1] == 0.7
    assert entry.options["max_cycles"] == 20
    assert entry.options["precision"] == 0.2


def test_options_are_read_in_the_type_of_their_defaults() -> None:
    assert environment("frozenlake").read({"is_slippery": "False", "hole": "-3", "map_name": "8x8"}) == {
        "is_slippery": False,
        "hole": -3.0,
        "map_name": "8x8",
    }
    assert environment("rocksample").read({"size": "5"}) == {"size": 5}


@pytest.mark.parametrize(
    ("name", "option", "text", "message"),
    [
        ("tiger", "acuracy", "1", "acuracy: tiger has no such option; it has accuracy, treasure, tiger, listening, "),
        ("rocksample", "size", "4.5", "size: '4.5' was given; a whole number is required, such as 4."),
        ("tiger", "accuracy", "high", "accuracy: 'high' was given; a number is required, such as 0.85."),
        ("frozenlake", "is_slippery", "1", "is_slippery: '1' was given; true or false is required."),
    ],
)
def test_wrong_option_is_refused_in_words(name: str, option: str, text: str, message: str) -> None:
    with pytest.raises(EnvError) as error:
        environment(name).read({option: text})
    assert str(error.value).startswith(message)


def test_unknown_environment_is_refused_with_the_known_ones() -> None:
    known = ", ".join(ENVIRONMENTS)
    with pytest.raises(EnvError, match=rf"^'chess' is no environment; there are {known}\.$"):
        environment("chess")
