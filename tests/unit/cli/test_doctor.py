"""`switchroom doctor`: checks of nodes and stores."""

from pathlib import Path
from typing import Any

import pytest

from cli.doctor.checks import check_settings
from cli.doctor.machine import check_espeak, check_media_dir
from cli.doctor.result import failure, in_lab, warning
from cli.doctor.store import check_info
from tests.harness.settings import read_settings

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
