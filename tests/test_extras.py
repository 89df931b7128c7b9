"""What a feature says where the package that it needs is missing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
from hand_made import LEVER

from btai.errors import MissingExtraError
from btai.experiments.paper import check_figure
from btai.experiments.sweeps import RayCluster, write_parquet
from btai.interop.pymdp import to_pymdp

TOOLS = {"dev", "docs"}  # no feature of btai needs them
FEATURES: dict[str, tuple[str, Callable[[], Any]]] = {  # by extra: the module it is for, and who imports it
    "parquet": ("pyarrow", lambda: write_parquet([], "runs.parquet")),
    "plots": ("matplotlib", lambda: check_figure(Path("figure.png"))),
    "pymdp": ("pymdp.agent", lambda: to_pymdp(LEVER.build()).agent()),
    "ray": ("ray", lambda: RayCluster(print)),
}


def test_every_extra_is_a_tool_or_has_a_feature_here() -> None:
    assert set(metadata("btai").get_all("Provides-Extra", [])) == TOOLS | FEATURES.keys()


@pytest.mark.parametrize("extra", FEATURES)
def test_feature_whose_package_is_missing_says_in_a_sentence_what_to_install(
    monkeypatch: pytest.MonkeyPatch, extra: str
) -> None:
    module, use = FEATURES[extra]
    monkeypatch.setitem(sys.modules, module, None)
    sentence = rf"[\w' ]+ needs [\w ]+, which is not installed, or not whole \(.+\): pip install 'btai\[{extra}\]'\."
    with pytest.raises(MissingExtraError) as error:
        use()
    assert re.fullmatch(sentence, str(error.value))
