"""The server: who is let in, what is accepted, and what is answered."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from inspector.models import SevenStatesEnv
from inspector.recorded import Recorded, seven_states_agent

from btai.errors import BtaiError
from btai.inspector import Inspector, LiveTrace, RunTrace, page, service, views
from btai.inspector.cursor import Cursor
from btai.inspector.http import MOST_BYTES
from btai.inspector.page import page_files


@pytest.fixture(scope="module")
def replayed(seven: Recorded) -> Iterator[httpx.Client]:
    """A page's view of a recorded run."""
    with Inspector(seven.trace) as inspector, httpx.Client(base_url=inspector.url, timeout=60) as client:
        yield client


def token_of(client: httpx.Client) -> str:
    return client.base_url.path.strip("/")


def is_error(answer: httpx.Response, status: int, code: str) -> bool:
    error = answer.json()["error"]
    return (answer.status_code, error["code"]) == (status, code) and bool(error["message"])


# --- who is let in ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/api/info", "/wrong/", "/wrong/api/info", "//", "/static/main.js", "/favicon.ico"]
)
def test_without_the_token_there_is_nothing(replayed: httpx.Client, path: str) -> None:
    answer = httpx.get(httpx.URL(replayed.base_url, path=path), timeout=60)
    assert is_error(answer, 404, "not_found")
    assert token_of(replayed) not in answer.text + str(answer.headers)


def test_a_token_must_be_whole(replayed: httpx.Client) -> None:
    token = token_of(replayed)
    for wrong in (token[:-1], token + "x", token.swapcase(), "%00" + token):
        answer = httpx.get(f"http://127.0.0.1:{replayed.base_url.port}/{wrong}/api/info", timeout=60)
        assert is_error(answer, 404, "not_found")


def test_commands_need_the_token_as_well(replayed: httpx.Client) -> None:
    address = httpx.URL(replayed.base_url, path="/wrong/api/command")
    assert is_error(httpx.post(address, json={"command": "reset"}, timeout=60), 404, "not_found")


def test_every_inspector_has_a_token_of_its_own(seven: Recorded) -> None:
    with Inspector(seven.trace) as one, Inspector(seven.trace) as other:
        assert urlsplit(one.url).path != urlsplit(other.url).path
        assert len(urlsplit(one.url).path) > 30


def test_another_name_for_this_machine_is_not_answered(replayed: httpx.Client) -> None:
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example:80", "", ":80"):
        assert is_error(replayed.get("api/info", headers={"Host": host}), 404, "not_found")
    for host in (f"localhost:{replayed.base_url.port}", "localhost", "127.0.0.1"):  # at port 80 a browser names none
        assert replayed.get("api/info", headers={"Host": host}).status_code == 200


def test_only_this_machine_can_connect(replayed: httpx.Client) -> None:
    with socket.socket() as other:
        other.settimeout(2)
        with pytest.raises(OSError, match="refused"):
            other.connect(("127.0.0.2", replayed.base_url.port or 0))


@pytest.mark.parametrize("path", ["api/info", "api/nothing", "api/cycle?trial=99", "static/none.js"])
def test_every_answer_forbids_what_the_page_does_not_need(replayed: httpx.Client, path: str) -> None:
    headers = replayed.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'self'; ")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_the_address_without_its_last_slash_leads_to_the_page(replayed: httpx.Client) -> None:
    answer = httpx.get(str(replayed.base_url).rstrip("/"), timeout=60)
    assert answer.status_code == 307
    assert answer.headers["location"] == str(replayed.base_url)


# --- the page's files ---------------------------------------------------------------------------------------


@pytest.fixture
def page_client(seven: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    folder = tmp_path / "static"
    (folder / "lib").mkdir(parents=True)
    (folder / "index.html").write_text("<title>page</title>", "utf-8")
    (folder / "lib" / "a.js").write_text("export {};", "utf-8")
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    monkeypatch.setattr(page, "files", lambda package: tmp_path)
    with Inspector(seven.trace) as inspector, httpx.Client(base_url=inspector.url, timeout=60) as client:
        yield client


def test_the_page_and_its_modules_are_served_as_what_they_are(page_client: httpx.Client) -> None:
    index, module = page_client.get(""), page_client.get("static/lib/a.js")
    assert (index.text, index.headers["content-type"]) == ("<title>page</title>", "text/html; charset=utf-8")
    assert (module.text, module.headers["content-type"]) == ("export {};", "text/javascript; charset=utf-8")
    assert is_error(page_client.get("static/lib"), 404, "not_found")


@pytest.mark.parametrize(
    "path",
    [
        "static/../secret.txt",
        "static/..%2fsecret.txt",
        "static/%2e%2e/secret.txt",
        "static/lib/../../secret.txt",
        "static//etc/passwd",
        "static/%2fetc%2fpasswd",
        "static/..\\secret.txt",
        "../../etc/passwd",
        "static/a.js%00.txt",
        "static/",
    ],
)
def test_no_path_leads_out_of_the_page(page_client: httpx.Client, path: str) -> None:
    """Sent as it stands: a client would tidy it."""
    with socket.create_connection(("127.0.0.1", page_client.base_url.port or 0)) as connection:
        request = f"GET {page_client.base_url.path}{path} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    assert answer.startswith(("HTTP/1.1 404", "HTTP/1.1 400"))
    assert "secret" not in answer.partition("\r\n\r\n")[2].replace("secret.txt", "")
    assert "root:" not in answer


# --- what is asked ------------------------------------------------------------------------------------------

ADDRESSES: dict[str, tuple[Any, ...]] = {
    "info": (views.info,),
    "trials": (views.trials,),
    "trial?trial=1": (views.trial, Cursor(1)),
    "worst?trial=1": (views.worst, Cursor(1)),
    "cycle?trial=1&cycle=2": (views.cycle, Cursor(1, 2)),
    "cycle?trial=1&cycle=2&from=5": (views.cycle, Cursor(1, 2), 5),
    "curves?trial=1&cycle=2": (views.curves, Cursor(1, 2)),
    "node?trial=1&cycle=2": (views.node, Cursor(1, 2)),
    "node?trial=1&cycle=2&node=7": (views.node, Cursor(1, 2, node=7)),
    "cells?trial=1&cycle=2&node=7&part=risk%3A0": (views.cells, Cursor(1, 2, node=7), "risk:0"),
    "cells?trial=1&cycle=2&node=7&part=ambiguity:O_sky": (views.cells, Cursor(1, 2, node=7), "ambiguity:O_sky"),
    "occupancy?trial=1&cycle=2&node=7&x=S_column&y=S_row": (views.occupancy, Cursor(1, 2, node=7), "S_column", "S_row"),
    "facts?trial=1&cycle=2&iteration=9&node=7": (views.facts, Cursor(1, 2, 9, 7)),
    "facts?trial=1": (views.facts, Cursor(1)),
    "why?trial=1&cycle=2&iteration=9": (views.why, Cursor(1, 2, 9)),
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_gives_its_view(replayed: httpx.Client, seven: Recorded, address: str) -> None:
    view, *arguments = ADDRESSES[address]
    trace = seven.trace()
    answer = replayed.get(f"api/{address}")
    assert answer.status_code == 200
    assert answer.json() == json.loads(json.dumps(view(trace, *arguments)))
    trace.close()


def test_every_view_has_an_address() -> None:
    assert {address.partition("?")[0] for address in ADDRESSES} == set(service.VIEWS)


def test_the_page_knows_every_view_and_every_parameter() -> None:
    module = page_files()["data/address.js"].read_text("utf-8")
    (order,) = re.findall(r"ORDER = \[(.*?)\]", module)
    assert set(re.findall(r'"(\w+)"', order)) == {name for _, takes in service.VIEWS.values() for name in takes}
    (reads,) = re.findall(r"GROWS = \{(.*?)\}", module, re.DOTALL)
    assert dict(re.findall(r"(\w+): (true|false)", reads)).keys() == service.VIEWS.keys()


@pytest.mark.parametrize(
    "address",
    [
        "cycle",
        "cycle?trial=",
        "cycle?trial=-1",
        "cycle?trial=1.0",
        "cycle?trial=٣",
        "cycle?trial=1e3",
        "cycle?trial=99999999999999999999",
        "cycle?trial=0&trial=1",
        "cycle?trial=0&cycle=99",
        "cycle?trial=0&surprise=1",
        "cycle?trial=0&from=999",
        "info?trial=0",
        "node?trial=0&node=99999",
        "facts?trial=0&iteration=1&node=30",
        "facts?trial=0&iteration=999",
        "cells?trial=0&node=1",
        "cells?trial=0&node=1&part=risk:7",
        "cells?trial=0&node=0&part=risk:0",
        "occupancy?trial=0&x=S_row",
        "occupancy?trial=0&x=S_row&y=S_none",
        "why?trial=0&iteration=0",
        "image?trial=7&cycle=0",
    ],
)
def test_what_cannot_be_answered_is_a_bad_request_that_says_why(replayed: httpx.Client, address: str) -> None:
    assert is_error(replayed.get(f"api/{address}"), 400, "bad_request")


def test_an_address_that_is_none_is_not_found(replayed: httpx.Client) -> None:
    assert is_error(replayed.get("api/nothing"), 404, "not_found")
    assert is_error(replayed.get("nothing"), 404, "not_found")


def test_a_method_that_is_not_taken_is_refused(replayed: httpx.Client) -> None:
    assert is_error(replayed.post("api/info"), 405, "method")
    assert is_error(replayed.get("api/what-if"), 405, "method")
    assert is_error(replayed.delete("api/command"), 405, "method")


def test_a_picture_is_a_png_of_the_environment(replayed: httpx.Client, seven: Recorded) -> None:
    row = replayed.get("api/trials").json()["trials"][0]
    env = SevenStatesEnv()
    env.reset(seed=row["seed"])
    env.execute(row["actions"][0])
    answer = replayed.get("api/image?trial=0&cycle=1")
    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", answer.content[16:24])
    (length,) = struct.unpack(">I", answer.content[33:37])
    lines = zlib.decompress(answer.content[41 : 41 + length])
    picture = env.render()
    assert (height, width) == picture.shape[:2]
    stride = 1 + 3 * width
    rows = [lines[i * stride + 1 : (i + 1) * stride] for i in range(height)]
    assert b"".join(rows) == picture.tobytes()


def test_without_a_picture_there_is_none(seven: Recorded) -> None:
    with (
        Inspector(lambda: RunTrace(seven.path)) as inspector,
        httpx.Client(base_url=inspector.url, timeout=60) as client,
    ):
        assert client.get("api/trial?trial=0").json()["cycles"][0]["image"] is None
        assert is_error(client.get("api/image?trial=0&cycle=0"), 404, "not_found")


# --- what is sent -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"12",
        b'"what"',
        b"\xff\xfe",
        b"{'trial': 0}",
        b'{"trial": NaN}',
        b'{"trial": Infinity}',
        b"[" * 60_000,
        b'{"trial": 0}',
        b'{"trial": 0, "cycle": "0"}',
        b'{"trial": 0, "cycle": true}',
        b'{"trial": 0, "cycle": -1}',
        b'{"trial": 0, "cycle": 99}',
        b'{"trial": 0, "cycle": 0, "evidence": []}',
        b'{"trial": 0, "cycle": 0, "evidence": [1]}',
        b'{"trial": 0, "cycle": 0, "evidence": {"O_none": 1}}',
        b'{"trial": 0, "cycle": 0, "evidence": {"O_column": 1e999}}',
        b'{"trial": 0, "cycle": 0, "evidence": {"O_column": {"soften": []}}}',
        b'{"trial": 0, "cycle": 0, "exp_const": 1e999}',
        b'{"trial": 0, "cycle": 0, "exp_const": {}}',
        b'{"trial": 0, "cycle": 0, "iterations": 1e9}',
        b'{"trial": 0, "cycle": 0, "action": [2]}',
        b'{"trial": 0, "cycle": 0, "surprise": 1}',
    ],
)
def test_a_malformed_what_if_is_a_bad_request(replayed: httpx.Client, body: bytes) -> None:
    assert is_error(replayed.post("api/what-if", content=body), 400, "bad_request")


def test_other_answers_do_not_wait_until_what_plans_is_loaded(seven: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, end = threading.Event(), threading.Event()

    def slow(*arguments: object) -> None:
        begun.set()
        assert end.wait(60)

    monkeypatch.setattr(service, "warm_up", slow)
    with (
        Inspector(seven.trace) as inspector,
        httpx.Client(base_url=inspector.url, timeout=20) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        answer = pool.submit(client.post, "api/what-if", json={"trial": 0, "cycle": 0, "iterations": 3})
        try:
            assert begun.wait(60)
            assert client.get("api/node?trial=0&cycle=0&node=1").status_code == 200
        finally:
            end.set()
        assert answer.result().json()["altered"]["iterations"] == 3


@pytest.mark.parametrize("address", ["api/what-if", "api/command"])
def test_an_oversized_body_is_refused(replayed: httpx.Client, address: str) -> None:
    huge = b'{"command": "' + b"x" * MOST_BYTES + b'"}'
    assert is_error(replayed.post(address, content=huge), 413, "too_large")
    assert is_error(replayed.post(address, content=iter([huge[:40_000], huge[40_000:]])), 413, "too_large")
    assert replayed.get("api/info").status_code == 200


def test_what_if_is_answered_with_both_outcomes(replayed: httpx.Client) -> None:
    body = {"trial": 0, "cycle": 1, "evidence": {"O_column": 4}, "iterations": 9, "exp_const": 0.5, "action": 2}
    answer = replayed.post("api/what-if", json=body).json()
    assert answer["original"]["iterations"] == 25
    assert (answer["altered"]["iterations"], answer["altered"]["exp_const"]) == (9, 0.5)
    assert (answer["altered"]["chosen"], answer["altered"]["observed"]["O_column"]) == (2, "4")


def test_a_recording_takes_no_commands(replayed: httpx.Client) -> None:
    assert is_error(replayed.post("api/command", json={"command": "reset"}), 409, "conflict")


def test_what_fails_unexpectedly_is_said_without_details(
    seven: Recorded, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: RunTrace) -> Any:
        raise ZeroDivisionError("a secret of the program")

    monkeypatch.setattr(RunTrace, "summary", fail)
    with Inspector(seven.trace) as inspector, httpx.Client(base_url=inspector.url, timeout=60) as client:
        answer = client.get("api/trials")
        assert is_error(answer, 500, "internal")
        assert "secret" not in answer.text
        assert client.get("api/info").status_code == 200
    assert "a secret of the program" in caplog.text


def test_a_port_that_is_taken_is_an_error_that_says_so(seven: Recorded) -> None:
    with Inspector(seven.trace) as inspector, pytest.raises(BtaiError, match="port: "):
        Inspector(seven.trace, urlsplit(inspector.url).port or 0)


def test_a_trace_that_cannot_be_opened_is_an_error_where_it_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(BtaiError, match="cannot be read"), Inspector(lambda: RunTrace(tmp_path / "none.sqlite")):
        pass


# --- commands -----------------------------------------------------------------------------------------------


def test_a_page_can_take_the_agent_through_a_trial() -> None:
    make = lambda: LiveTrace(SevenStatesEnv(), seven_states_agent())  # noqa: E731
    with Inspector(make) as inspector, httpx.Client(base_url=inspector.url, timeout=60) as client:

        def command(**body: Any) -> Any:
            return client.post("api/command", json=body).json()

        assert client.get("api/info").json()["can"] == {"command": True, "what_if": True}
        assert command(command="plan", iterations=3) == {"cursor": vars(Cursor(0, 0, 3)), "over": False}
        assert command(command="finish") == {"cursor": vars(Cursor(0, 0, 25)), "over": False}
        assert command(command="act") == {"cursor": vars(Cursor(0, 1, 0)), "over": False}
        assert [command(command="act", action=action)["over"] for action in (0, 1)] == [False, False]
        assert command(command="act", action=2) == {"cursor": vars(Cursor(0, 4, 0)), "over": True}
        assert is_error(client.post("api/command", json={"command": "act"}), 409, "conflict")
        assert command(command="reset") == {"cursor": vars(Cursor(1, 0, 0)), "over": False}
        assert is_error(client.post("api/command", json={"command": "act"}), 409, "conflict")
        assert is_error(client.post("api/command", json={"command": "dance"}), 400, "bad_request")
        assert is_error(client.post("api/command", json={"command": ["plan"]}), 400, "bad_request")
        assert is_error(client.post("api/command", json={"command": "act", "action": 9}), 400, "bad_request")
        assert is_error(client.post("api/command", json={"command": "plan", "iterations": "x"}), 400, "bad_request")
        assert len(client.get("api/trials").json()["trials"]) == 2
