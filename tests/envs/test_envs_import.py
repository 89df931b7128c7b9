"""What importing the environments asks of a machine."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from btai.errors import MissingExtraError


def test_without_gymnasium_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == "btai.envs" or name.startswith("btai.envs.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtraError) as error:
        import_module("btai.envs")
    assert str(error.value) == (
        "btai.envs needs Gymnasium, which is not installed: install it with `pip install gymnasium`."
    )


def test_windows_are_not_loaded_before_somebody_wants_to_see_one() -> None:
    script = "import sys, btai.envs; print('tkinter' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
