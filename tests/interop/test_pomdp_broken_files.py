"""A corpus of broken files: each is refused with its line, its column and what was expected there."""

from __future__ import annotations

import tomllib

import pytest
from interop.pomdp_texts import read_text, text_of

from btai.errors import FormatError

CORPUS = {
    (file, name): case for file, cases in tomllib.loads(text_of("broken.toml")).items() for name, case in cases.items()
}


@pytest.mark.parametrize(("file", "name"), CORPUS)
def test_a_broken_file_is_refused_with_its_place_and_what_was_expected(file: str, name: str) -> None:
    case = CORPUS[file, name]
    sound = text_of(file)
    old = case.get("old", sound)
    assert old in sound
    with pytest.raises(FormatError) as error:
        read_text(file, sound.replace(old, case["new"], 1), precision=0.1)
    assert str(error.value) == f"{file}:{case['error']}"


def test_the_sound_files_are_read() -> None:
    for file in {file for file, _ in CORPUS}:
        assert read_text(file, text_of(file), precision=0.1).ts.states
