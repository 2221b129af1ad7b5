"""The settings of a lab: secrets are drawn once, kept, and added to."""

import json
from pathlib import Path

import pytest

from api.recordings.service import FILES
from dev.lab.plan import Plan
from dev.lab.settings import ensure_settings, read_settings, settings_path

NOTHING_SET: dict[str, str] = {}
ONE = Plan()


@pytest.fixture
def whole(tmp_path: Path) -> Plan:
    """Return a plan whose file keeps all settings, as that of `make up`."""
    return Plan(nodes=2, settings=str(tmp_path / ".env"))


def test_secrets_are_drawn_once(tmp_path: Path) -> None:
    """The second start changes neither the file nor the settings."""
    first = ensure_settings(tmp_path, ONE, NOTHING_SET)
    text = settings_path(tmp_path, ONE).read_text()
    assert ensure_settings(tmp_path, ONE, NOTHING_SET) == first
    assert read_settings(tmp_path, ONE, NOTHING_SET) == first
    assert settings_path(tmp_path, ONE).read_text() == text


def test_the_file_is_its_owners_only(tmp_path: Path, whole: Plan) -> None:
    """No other user may read the secrets."""
    for plan in (ONE, whole):
        ensure_settings(tmp_path, plan, NOTHING_SET)
        assert settings_path(tmp_path, plan).stat().st_mode & 0o777 == 0o600


def test_two_labs_share_no_secret(tmp_path: Path) -> None:
    """Each lab has secrets of its own."""
    one, other = (
        ensure_settings(tmp_path / name, Plan(settings=str(tmp_path / name)), NOTHING_SET)
        for name in ("one", "other")
    )
    common = [name for name in one if one[name] == other[name]]
    assert not [name for name in common if name.endswith(("TOKEN", "PASSWORD", "SECRET"))]


def test_what_was_set_stays(tmp_path: Path, whole: Plan) -> None:
    """What a newer version needs is appended; a value set by hand is not touched."""
    path = settings_path(tmp_path, whole)
    path.write_text("SWITCHROOM_SLOTS=4\nSWITCHROOM_ARI_PASSWORD=mine\n")
    settings = ensure_settings(tmp_path, whole, NOTHING_SET)
    assert settings["SWITCHROOM_SLOTS"] == "4"
    nodes = json.loads(settings["SWITCHROOM_NODES"])
    assert {node["password"] for node in nodes} == {"mine"}
    assert "SWITCHROOM_NODES" in path.read_text()


def test_what_follows_from_the_plan_is_not_kept(tmp_path: Path) -> None:
    """A start with another number of nodes or other ports has settings that fit."""
    ensure_settings(tmp_path, ONE, NOTHING_SET)
    settings = ensure_settings(tmp_path, Plan(nodes=2, port_base=21_000), NOTHING_SET)
    assert settings["SWITCHROOM_RPC_PORT"] == "21000"
    assert [node["name"] for node in json.loads(settings["SWITCHROOM_NODES"])] == ["pbx1", "pbx2"]


def test_recordings_have_one_place(tmp_path: Path) -> None:
    """A second engine and `switchroom doctor` file where the lab's engine does."""
    settings = ensure_settings(tmp_path, ONE, NOTHING_SET)
    assert settings["SWITCHROOM_RECORDINGS_URL"] == f"file://{tmp_path}/engine/recordings"


def test_published_addresses_of_recordings_are_of_the_rest_layer(tmp_path: Path) -> None:
    """What a webhook gets as `recordingUrl` is fetched with the account's key."""
    settings = ensure_settings(tmp_path, Plan(port_base=21_000), NOTHING_SET)
    files = f"http://127.0.0.1:21001{FILES}"
    assert settings["SWITCHROOM_RECORDINGS_PUBLIC_URL"] == files


def test_the_environment_has_priority(tmp_path: Path) -> None:
    """A variable of the environment goes before the file, as it does in the engine."""
    assert ensure_settings(tmp_path, ONE, {"SWITCHROOM_SLOTS": "3"})["SWITCHROOM_SLOTS"] == "3"


def test_ports_of_a_base_do_not_overlap() -> None:
    """No two servers of a lab with two nodes share a port, nor does media use one of theirs."""
    for plan in (Plan(nodes=2), Plan(nodes=2, port_base=21_000)):
        ports = plan.ports()
        single = [ports.engine, ports.api, ports.valkey, ports.phone, ports.streams, ports.speech]
        media: list[int] = []
        for node in ports.nodes:
            single += [node.ari, node.ami, node.sip]
            media += range(node.rtp_first, node.rtp_last + 1)
        assert len({*single, *media}) == len(single) + len(media)
