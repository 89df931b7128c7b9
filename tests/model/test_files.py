"""Models in files: what is read back equals what was declared, in both forms, and a file is whole or not there."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from spec import Spec
from strategies import models

import btai
from btai.errors import CliqueTooLargeError, ModelFileError
from btai.model import TemporalSlice, TemporalSliceBuilder, files, from_json, load, to_json

DATA = Path(__file__).parent / "data"
SUFFIXES = [".safetensors", ".json"]
either_form = pytest.mark.parametrize("suffix", SUFFIXES)
many = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each example replaces the file


def declared(inference: str = "exact") -> TemporalSlice:
    """Names, value names and numbers that a careless writer would lose."""
    third = np.array([1 / 3, 1 / 3, 1 / 3])
    return (
        TemporalSliceBuilder("A_weiß", 2, ["nach links", 'a "quoted" \\ name'])
        .add_state("S_z", third, ["0", "01", ""])
        .add_state("S_a", [0.1, 0.9])
        .add_observation("O_b", np.full((2, 3, 2), 0.5), ["S_z", "S_a"])
        .add_observation("O_a.prior", [[1.0, 1e-300], [0.0, 1.0]], ["S_a"], ["ja", "nein\n"])
        .add_transition("S_a", [0.1, 0.9], [])
        .add_transition("S_z", np.moveaxis(np.full((2, 3, 3), 1 / 3), 2, 0), ["A_weiß", "S_z"])
        .add_preference(["O_a.prior", "O_b"], [[0.1, 0.2], [0.3, 0.4]])
        .build(inference)
    )


def tables(ts: TemporalSlice) -> dict[str, NDArray[np.float64]]:
    return (
        {f"prior {s.name}": s.prior for s in ts.states.values()}
        | {f"transition {t.state}": t.table for t in ts.transitions.values()}
        | {f"likelihood {o.name}": o.likelihood for o in ts.observations.values()}
        | {f"preference {p.observations}": p.table for p in ts.preferences}
    )


def assert_same(loaded: TemporalSlice, ts: TemporalSlice) -> None:
    assert loaded == ts
    assert loaded.inference == ts.inference
    for name, table in tables(ts).items():
        assert tables(loaded)[name].tobytes() == table.tobytes(), name
        assert not tables(loaded)[name].flags.writeable


# --- round trips --------------------------------------------------------------------------------------


@either_form
@many
@given(spec=models(), inference=st.sampled_from(["exact", "loopy"]))
def test_a_model_read_back_is_equal_to_the_bit(tmp_path: Path, suffix: str, spec: Spec, inference: str) -> None:
    ts = spec.build(inference=inference)
    ts.save(tmp_path / f"model{suffix}")
    assert_same(btai.load(tmp_path / f"model{suffix}"), ts)


@either_form
@pytest.mark.parametrize("inference", ["exact", "loopy"])
def test_names_orders_values_and_inference_are_kept(tmp_path: Path, suffix: str, inference: str) -> None:
    ts = declared(inference)
    path = tmp_path / f"model{suffix}"
    ts.save(str(path))
    loaded = load(str(path))
    assert_same(loaded, ts)
    assert loaded.action.values == ("nach links", 'a "quoted" \\ name')
    assert [*loaded.states] == ["S_z", "S_a"]
    assert loaded.states["S_z"].values == ("0", "01", "")
    assert loaded.states["S_a"].values is None
    assert [*loaded.observations] == ["O_b", "O_a.prior"]
    assert loaded.transitions["S_z"].parents == ("A_weiß", "S_z")
    assert loaded.transitions["S_a"].parents == ()
    assert loaded.preferences[0].observations == ("O_a.prior", "O_b")


@either_form
def test_a_model_with_neither_observations_nor_labels_is_kept(tmp_path: Path, suffix: str) -> None:
    ts = TemporalSliceBuilder("A_0", 3).add_state("S_0", [1.0]).add_transition("S_0", [[1.0]], ["S_0"]).build()
    ts.save(tmp_path / f"model{suffix}")
    assert_same(load(tmp_path / f"model{suffix}"), ts)


@either_form
def test_a_model_declared_with_transposed_tables_acts_the_same_to_the_bit_once_read_back(
    tmp_path: Path, suffix: str
) -> None:
    rng = np.random.default_rng(0)
    ts = (
        TemporalSliceBuilder("A_0", 6)
        .add_state("S_0", rng.dirichlet(np.ones(7)))
        .add_transition("S_0", np.moveaxis(rng.dirichlet(np.ones(7), size=(7, 6)), -1, 0), ["S_0", "A_0"])
        .add_observation("O_0", rng.dirichlet(np.ones(9), size=7).T, ["S_0"])
        .add_preference(["O_0"], rng.dirichlet(np.ones(9)))
        .build()
    )
    ts.save(tmp_path / f"model{suffix}")
    loaded = load(tmp_path / f"model{suffix}")
    ours, theirs = (
        [btai.expected_free_energy(m, btai.p_step(m, {"S_0": m.states["S_0"].prior}, a)).total for a in range(6)]
        for m in (ts, loaded)
    )
    assert ours == theirs


@given(spec=models(max_states=3, max_observations=2))
def test_json_gives_the_same_text_again(spec: Spec) -> None:
    text = to_json(spec.build())
    assert to_json(from_json(text)) == text


@either_form
def test_the_same_model_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    for name in ("one", "other"):
        declared().save(tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"other{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("name", "ending"), [("model", "nothing"), ("model.txt", ".txt"), ("model.pomdpx", ".pomdpx"), (".json", "nothing")]
)
def test_a_name_that_does_not_say_what_is_in_the_file_is_refused(tmp_path: Path, name: str, ending: str) -> None:
    message = rf"{name}: the name ends in {ending}; \.json or \.safetensors is required"
    with pytest.raises(ModelFileError, match=message):
        declared().save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    (tmp_path / name).write_text("{}")
    with pytest.raises(ModelFileError, match=message) as refused:
        load(tmp_path / name)
    assert ("btai.interop.read_model" in str(refused.value)) is (ending == ".pomdpx")


def test_the_suffix_may_be_written_in_capitals(tmp_path: Path) -> None:
    declared().save(tmp_path / "MODEL.JSON")
    assert (tmp_path / "MODEL.JSON").read_text("utf-8").startswith("{")
    assert_same(load(tmp_path / "MODEL.JSON"), declared())


# --- what the files are -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["version-1.json", "version-1.safetensors"])
def test_files_of_version_1_stay_readable(name: str) -> None:
    """These files are never written anew: a change that cannot read them needs another version number."""
    assert_same(load(DATA / name), declared())


def test_the_safetensors_library_reads_the_tables(tmp_path: Path) -> None:
    ts = declared()
    ts.save(tmp_path / "model.safetensors")
    read = safetensors.numpy.load_file(tmp_path / "model.safetensors")
    assert_array_equal(read.pop("S_z.prior"), ts.states["S_z"].prior)
    assert_array_equal(read.pop("S_z.transition"), ts.transitions["S_z"].table)
    assert_array_equal(read.pop("S_a.prior"), ts.states["S_a"].prior)
    assert_array_equal(read.pop("S_a.transition"), ts.transitions["S_a"].table)
    assert_array_equal(read.pop("O_b.likelihood"), ts.observations["O_b"].likelihood)
    assert_array_equal(read.pop("O_a.prior.likelihood"), ts.observations["O_a.prior"].likelihood)
    assert_array_equal(read.pop("preferences.0"), ts.preferences[0].table)
    assert not read


def test_a_file_that_the_safetensors_library_wrote_is_read(tmp_path: Path) -> None:
    declared().save(tmp_path / "ours.safetensors")
    with safetensors.safe_open(tmp_path / "ours.safetensors", framework="numpy") as file:
        metadata = file.metadata()
    written = safetensors.numpy.load_file(tmp_path / "ours.safetensors")
    safetensors.numpy.save_file(written, tmp_path / "theirs.safetensors", metadata)
    assert (tmp_path / "theirs.safetensors").read_bytes() != (tmp_path / "ours.safetensors").read_bytes()
    assert_same(load(tmp_path / "theirs.safetensors"), declared())


HAND_WRITTEN = """
{
  "format": "btai model", "version": 1,
  "action": {"name": "A_push", "size": 2},
  "states": [{"name": "S_door", "values": ["open", "shut"], "prior": [0, 1],
              "parents": ["A_push"], "transition": [[0, 1], [1, 0]]}],
  "observations": [{"name": "O_door", "parents": ["S_door"], "likelihood": [[0.75, 0.25], [0.25, 0.75]]}],
  "preferences": [{"observations": ["O_door"], "scores": [1, -1], "precision": 2}]
}
"""


def test_what_people_write_by_hand_may_leave_out_what_is_usual() -> None:
    assert from_json(HAND_WRITTEN) == (
        TemporalSliceBuilder("A_push", 2)
        .add_state("S_door", [0.0, 1.0], ["open", "shut"])
        .add_transition("S_door", np.array([[0.0, 1.0], [1.0, 0.0]]), ["A_push"])
        .add_observation("O_door", [[0.75, 0.25], [0.25, 0.75]], ["S_door"])
        .add_preference(["O_door"], scores=[1, -1], precision=2)
        .build()
    )


def test_a_mark_at_the_beginning_of_a_text_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(HAND_WRITTEN, "utf-8-sig")
    assert load(tmp_path / "model.json") == from_json(HAND_WRITTEN)


def test_rows_of_a_table_stand_on_lines_of_their_own() -> None:
    assert to_json(from_json(HAND_WRITTEN)).splitlines()[13:18] == [
        '      "parents": ["A_push"],',
        '      "transition": [',
        "        [0.0, 1.0],",
        "        [1.0, 0.0]",
        "      ]",
    ]


# --- whole or not there -------------------------------------------------------------------------------


@either_form
def test_a_save_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"model{suffix}"
    declared().save(path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelFileError, match=r"model\.\w+: No space left on device"):
        declared("loopy").save(path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


def test_a_save_replaces_the_file_that_was_there(tmp_path: Path) -> None:
    declared().save(tmp_path / "model.json")
    declared("loopy").save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").inference == "loopy"
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_a_save_leaves_links_and_pipes_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "model.json")
    declared().save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    os.mkfifo(tmp_path / "pipe.json")
    pipe = os.open(tmp_path / "pipe.json", os.O_RDWR)
    declared().save(tmp_path / "pipe.json")
    assert os.read(pipe, 2**16) == (tmp_path / "model.json").read_bytes()
    os.close(pipe)
    assert (tmp_path / "pipe.json").is_fifo()


def test_a_file_is_saved_with_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    declared().save(tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_name_that_is_no_unicode_text_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    ts = replace(declared(), action=replace(declared().action, values=("\ud800", "right")))
    with pytest.raises(ModelFileError, match=r"model\.json: the model has a name that is not Unicode"):
        ts.save(tmp_path / "model.json")
    assert [*tmp_path.iterdir()] == []


@either_form
def test_a_folder_that_is_not_there_is_named(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ModelFileError, match=r"no_folder.*: No such file or directory"):
        declared().save(tmp_path / "no_folder" / f"model{suffix}")


# --- limits -------------------------------------------------------------------------------------------


@either_form
def test_a_missing_file_and_a_folder_are_refused_by_name(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ModelFileError, match=f"no_model{suffix}: there is no such file"):
        load(tmp_path / f"no_model{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(ModelFileError, match=f"folder{suffix}: there is no such file"):
        load(tmp_path / f"folder{suffix}")


@pytest.mark.parametrize(
    ("suffix", "size", "advice"),
    [(".json", 2**26 + 1, "whose name ends in .safetensors"), (".safetensors", 2**32 + 8, "more variables")],
)
def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path, suffix: str, size: int, advice: str) -> None:
    path = tmp_path / f"model{suffix}"
    with path.open("wb") as file:
        file.truncate(size)  # sparse: it takes no room on the disk
    with pytest.raises(ModelFileError, match=f"model{suffix}: {size:,} bytes are too many; .*{advice}"):
        load(path)


@either_form
def test_what_could_not_be_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(files, "MAX_JSON_BYTES", 100)
    monkeypatch.setattr(files, "MAX_BYTES", 99)
    monkeypatch.setattr(files, "LARGER", {100: "advice", 99: "advice"})
    with pytest.raises(ModelFileError, match=f"model{suffix}: .* bytes are too many; the limit is (100|99)"):
        declared().save(tmp_path / f"model{suffix}")
    assert [*tmp_path.iterdir()] == []


def test_a_structure_too_large_for_a_header_is_not_written(tmp_path: Path) -> None:
    ts = replace(declared(), action=replace(declared().action, values=("x" * 2**24, "right")))
    with pytest.raises(ModelFileError, match=r"structure takes 16,\d\d\d,\d\d\d bytes; the limit is 16,777,216"):
        ts.save(tmp_path / "model.safetensors")
    assert [*tmp_path.iterdir()] == []


@either_form
def test_the_limit_on_cliques_is_that_of_the_reader(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    declared().save(path)  # its junction tree needs a table of 6 entries, over S_z and S_a
    with pytest.raises(CliqueTooLargeError, match=rf"model{suffix}: exact inference .* 6 entries"):
        load(path, max_clique=5)
    assert_same(load(path, max_clique=6), declared())
    declared("loopy").save(path)
    assert_same(load(path, max_clique=5), declared("loopy"))
