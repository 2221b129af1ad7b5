"""docker-compose.yml: valid, and two of everything but the store that fit each other."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.app import connections
from engine.app.engine import LEAVE_TIMEOUT_S
from engine.config import Settings
from tests.harness.lab.env import ensure_env
from tests.unit.operations.inputs import accepted, unknown_of_pbx, unknown_settings

PATH = Path(__file__).parents[3] / "docker-compose.yml"
COMPOSE: dict[str, Any] = yaml.safe_load(PATH.read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
ENGINES = ("engine1", "engine2")
PBXES = ("pbx1", "pbx2")
VALKEY_PORT = 6390


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    """Give what `make up` writes into .env."""
    return ensure_env(tmp_path / ".env", {})


@pytest.fixture
def engines(env: Mapping[str, str], tmp_path: Path) -> list[Settings]:
    """Give the settings of both engines: their own, over .env."""
    return [accepted({**env, **environment(name, env)}, tmp_path) for name in ENGINES]


def environment(service: str, env: Mapping[str, str]) -> dict[str, str]:
    """Give what a service is told, `${NAME}` and the like filled in from .env."""

    def value(found: re.Match[str]) -> str:
        return env.get(found[1]) or found[2].removeprefix(":-")

    told: dict[str, object] = SERVICES[service]["environment"]
    return {name: re.sub(r"\$\{(\w+)([^}]*)\}", value, str(each)) for name, each in told.items()}


def test_everything_told_is_known(env: Mapping[str, str]) -> None:
    """Every variable is a setting of engine or REST layer, or one that the PBX's templates have."""
    for name in (*ENGINES, "api"):
        assert not unknown_settings({**env, **environment(name, env)})
    for name in PBXES:
        assert not unknown_of_pbx(environment(name, env))


def test_engines_are_reached_at_their_own_ports(engines: list[Settings]) -> None:
    """Each is told to the other, and to the nodes for its audio, by its own address."""
    urls = [connections.rpc_url(each) for each in engines]
    assert urls == ["http://127.0.0.1:8070", "http://127.0.0.1:8071"]
    for each, url in zip(engines, urls, strict=True):
        assert f":{each.rpc_port}" in url
        assert {connections.media_url(each, node) for node in each.nodes} == {url}


def test_the_rest_layer_knows_both_engines(engines: list[Settings], env: Mapping[str, str]) -> None:
    """With the token that they ask for."""
    told = {**env, **environment("api", env)}
    urls = json.loads(told["SWITCHROOM_ENGINE_URLS"])
    assert urls == [connections.rpc_url(each) for each in engines]
    tokens = {each.rpc_token.get_secret_value() for each in engines}
    assert tokens == {told["SWITCHROOM_RPC_TOKEN"]}


def test_engines_know_both_nodes(engines: list[Settings], env: Mapping[str, str]) -> None:
    """Where the engines look for a node, and with which password, is where it is."""
    told = {name: environment(name, env) for name in PBXES}
    for each in engines:
        ports = {node.name: str(node.url.port) for node in each.nodes}
        assert ports == {pbx["PBX_NODE"]: pbx["PBX_ARI_PORT"] for pbx in told.values()}
        for node in each.nodes:
            assert node.password.get_secret_value() == told[node.name]["PBX_ARI_PASSWORD"]
        assert {pbx["PBX_SLOTS"] for pbx in told.values()} == {str(each.slots)}


def test_engines_share_the_archive_and_nothing_else(engines: list[Settings]) -> None:
    """Whoever takes a call over files its recording; audio is each engine's own."""
    mine, theirs = ({*SERVICES[name]["volumes"]} for name in ENGINES)
    assert mine & theirs == {"recordings:/var/lib/switchroom/recordings"}
    assert {each.recordings_url for each in engines} == {"file:///var/lib/switchroom/recordings"}
    assert len({SERVICES[name]["hostname"] for name in ENGINES}) == 2


def test_no_port_is_taken_twice(engines: list[Settings], env: Mapping[str, str]) -> None:
    """All share the host's network."""
    taken = [VALKEY_PORT, *(each.rpc_port for each in engines)]
    taken.append(int(environment("api", env)["SWITCHROOM_API_PORT"]))
    for name in PBXES:
        told = environment(name, env)
        taken += [int(told[f"PBX_{port}_PORT"]) for port in ("SIP", "ARI", "AMI")]
        taken += range(int(told["PBX_RTP_FIRST"]), int(told["PBX_RTP_LAST"]) + 1)
    assert len(taken) == len(set(taken))
    assert f"--port {VALKEY_PORT}" in SERVICES["valkey"]["command"]


def test_all_are_started_again_and_seen() -> None:
    """What dies is started again; engines have the time to hand their calls over."""
    assert {each["restart"] for each in SERVICES.values()} == {"unless-stopped"}
    for name in (*ENGINES, "api"):
        assert "/readyz" in SERVICES[name]["healthcheck"]["test"][-1]
        assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) >= 3 * LEAVE_TIMEOUT_S


def test_every_volume_is_used_and_declared() -> None:
    """The volumes are those that services mount."""
    mounts = (mount for each in SERVICES.values() for mount in each["volumes"])
    assert {mount.partition(":")[0] for mount in mounts} == set(COMPOSE["volumes"])
