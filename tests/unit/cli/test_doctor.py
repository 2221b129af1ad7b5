"""The doctor's findings about settings, gateways and transport."""

from pathlib import Path
from typing import Any

import pytest

from cli.doctor.checks import check_settings
from cli.doctor.gateways import MAX_LANGUAGES, describe
from cli.doctor.machine import check_espeak, check_media_dir
from cli.doctor.result import failure, in_lab, warning
from cli.doctor.store import check_info
from cli.doctor.transport import check_transport
from tests.harness.settings import read_settings
from wire.streams.recognizer import ListedRecognizer

GOOD_INFO = {"redis_version": "7.2.0", "aof_enabled": 1, "maxmemory_policy": "noeviction"}


@pytest.mark.parametrize(
    ("facts", "levels"),
    [
        ({}, ["OK", "OK", "OK"]),
        ({"redis_version": "5.0.7"}, ["FAIL", "OK", "OK"]),
        ({"redis_version": "6.0.16"}, ["FAIL", "OK", "OK"]),
        ({"redis_version": "6.2.0"}, ["OK", "OK", "OK"]),
        ({"role": "slave"}, ["OK", "FAIL", "OK", "OK"]),
        ({"aof_enabled": 0}, ["OK", "WARN", "OK"]),
        ({"aof_last_write_status": "err"}, ["OK", "FAIL", "OK"]),
        ({"connected_slaves": 0}, ["OK", "OK", "OK"]),
        ({"connected_slaves": 2}, ["OK", "OK", "WARN", "OK"]),
        ({"connected_slaves": 2, "min_slaves_good_slaves": 2}, ["OK", "OK", "OK", "OK"]),
        ({"connected_slaves": 1, "min_slaves_good_slaves": 0}, ["OK", "OK", "FAIL", "OK"]),
        ({"cluster_enabled": 1}, ["OK", "OK", "WARN", "OK"]),
        ({"maxmemory_policy": "allkeys-lru"}, ["OK", "OK", "WARN"]),
        ({"maxmemory_policy": "allkeys-lru", "maxmemory": 1000}, ["OK", "OK", "FAIL"]),
        ({"maxmemory_policy": None}, ["OK", "OK", "WARN"]),
    ],
)
def test_a_store_is_judged(facts: dict[str, Any], levels: list[str]) -> None:
    """A store must be new enough, writable, keep every write and forget none."""
    assert [each.level for each in check_info({**GOOD_INFO, **facts}, "here")] == levels


def test_the_machine_is_looked_at(tmp_path: Path) -> None:
    """A media folder that can be made is fine, one below a file is not; espeak-ng is looked for."""
    (tmp_path / "file").touch()
    assert check_media_dir(tmp_path / "new/media").level == "OK"
    assert check_media_dir(tmp_path / "file/media").level == "FAIL"
    assert check_espeak(str(tmp_path)).level == "WARN"


@pytest.mark.parametrize("name", ["SIGNING_KEY", "STORE_KEY"])
def test_a_missing_key_is_named(name: str) -> None:
    """Without one, secrets are lost with the store, or readable in it."""
    node = {"name": "pbx1", "url": "http://127.0.0.1:8088", "password": "s" * 32}
    keys = {"signing_key": "k" * 32, "store_key": "k" * 32}
    complete = {"rpc_token": "t" * 32, "nodes": [node], **keys}
    assert [each.level for each in check_settings(read_settings(complete))] == ["OK"]
    without = {key: value for key, value in complete.items() if key != name.lower()}
    (_, found) = check_settings(read_settings(without))
    assert (found.level, f"SWITCHROOM_{name}" in found.advice) == ("WARN", True)


def test_what_the_lab_has_chosen_is_harmless_there() -> None:
    """The advice says so; other findings stay as they are."""
    assert in_lab(warning("no_espeak", "speech", "x", "apt-get install espeak-ng")).advice == (
        "harmless in a lab; in production: apt-get install espeak-ng"
    )
    other = failure("media_folder", "media", "x", "make it writable")
    assert in_lab(other) == other


@pytest.mark.parametrize(
    ("languages", "text"),
    [
        (("en",), "nova (en)"),
        (("de", "en"), "nova (de en)"),
        (("xx",) * (MAX_LANGUAGES + 1), "nova (13 languages)"),
        ((), "nova (languages of its service)"),
    ],
)
def test_a_recognizer_has_languages(languages: tuple[str, ...], text: str) -> None:
    """They are named, unless they are many or not known here."""
    assert describe(ListedRecognizer("nova", languages)) == text


LONG = "0123456789abcdef"
AWAY: dict[str, Any] = {"name": "pbx1", "url": "http://192.0.2.1:8088", "password": LONG}
HERE: dict[str, Any] = {"name": "pbx1", "url": "http://127.0.0.1:8088", "password": LONG}
SAFE: dict[str, Any] = {**AWAY, "url": "https://192.0.2.1:8089", "ami_tls": True}


def findings(node: dict[str, Any], **values: Any) -> list[tuple[str, str]]:
    """Return level and text of each finding."""
    given = {"rpc_token": LONG, "ami_password": LONG, "nodes": [node], **values}
    settings = read_settings(given)
    return [(each.level, each.text) for each in check_transport(settings, settings.nodes)]


@pytest.mark.parametrize(
    ("node", "values"),
    [
        (HERE, {}),
        (SAFE, {"redis_url": "rediss://:x@store:6379/0", "rpc_tls_cert": "/x.pem"}),
        (SAFE, {"redis_url": "unix:///run/valkey.sock"}),
    ],
)
def test_nothing_is_plain(node: dict[str, Any], values: dict[str, Any]) -> None:
    """What stays on this host may be plain."""
    assert findings(node, **values) == [("OK", "nothing leaves this host in clear text")]


def test_each_plain_connection_is_named() -> None:
    """With what to set."""
    found = findings(AWAY, redis_url="redis://:x@store:6379/0", rpc_host="0.0.0.0")
    subjects = [text.partition(":")[0] for level, text in found if level == "WARN"]
    assert subjects == [
        "the store at redis",
        "this engine's RPC and audio",
        "ARI of pbx1",
        "AMI of pbx1",
    ]
    assert "x@" not in str(found)


def test_a_plain_gateway_elsewhere_is_named() -> None:
    """One on this host, or with TLS, is none."""
    gateways = ["http://192.0.2.1:8095", "http://127.0.0.1:8095", "https://192.0.2.2:8095"]
    found = findings({**HERE, "stream_gateways": gateways}, streams_token=LONG * 2)
    named = "the stream gateway http://192.0.2.1:8095/ of pbx1: plain, readable on the network"
    assert found == [("WARN", named)]
