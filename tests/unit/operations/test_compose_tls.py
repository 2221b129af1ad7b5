"""docker-compose.tls.yml: the lab in Docker with TLS between all of its services."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import HttpUrl

from engine.app import connections
from engine.config import Settings
from engine.store.redis.address import parse_address
from tests.harness.lab.env import ensure_env
from tests.harness.operations.inputs import read_settings, unknown_pbx_variables
from tests.harness.operations.pbx_script import node_values
from tests.unit.operations import test_compose as lab

PATH = lab.PATH.with_name("docker-compose.tls.yml")
SERVICES: dict[str, Any] = yaml.safe_load(PATH.read_text())["services"]


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    """Return what `make up` writes into .env."""
    return ensure_env(tmp_path / ".env", {})


def environment(service: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return a service's variables, with those that this file changes."""
    changed = {
        name: re.sub(r"\$\{(\w+)\}", lambda found: env[found[1]], value)
        for name, value in SERVICES[service].get("environment", {}).items()
    }
    return {**lab.environment(service, env), **changed}


@pytest.fixture
def engines(env: Mapping[str, str], tmp_path: Path) -> list[Settings]:
    """Return the settings of both engines."""
    return [read_settings(environment(name, env), tmp_path) for name in lab.ENGINES]


def test_it_changes_every_service() -> None:
    """None is left in clear text, but for Grafana, which reaches Prometheus on this host only."""
    assert SERVICES.keys() == lab.SERVICES.keys() - {"grafana"}


def test_engines_use_tls_everywhere(engines: list[Settings]) -> None:
    """To the store, to the nodes, and among each other."""
    assert [connections.rpc_url(each) for each in engines] == [
        "https://127.0.0.1:8070",
        "https://127.0.0.1:8071",
    ]
    for each in engines:
        store = parse_address(each.redis_url)
        assert store.is_encrypted
        assert store.has_password
        gateways = [url for node in each.nodes for url in node.stream_gateways]
        assert {url.scheme for url in gateways} == {"https"}
        assert each.rpc_tls_cert == Path("/tls/tls.crt")
        assert each.tls_ca == Path("/tls/ca.crt")


def test_nodes_are_those_of_the_lab(
    engines: list[Settings], env: Mapping[str, str], tmp_path: Path
) -> None:
    """With the same ports and passwords, over TLS."""
    plain = read_settings(lab.environment("engine1", env), tmp_path).nodes
    expected = [
        node.model_copy(
            update={
                "url": HttpUrl(f"https://127.0.0.1:{port}"),
                "ami_tls": True,
                "stream_gateways": (HttpUrl("https://127.0.0.1:8095"),),
            }
        )
        for node, port in zip(plain, (8088, 8089), strict=True)
    ]
    for each in engines:
        assert list(each.nodes) == expected


def test_an_unknown_account_may_call_nobody(engines: list[Settings]) -> None:
    """In the lab it may call any number."""
    assert {each.default_allow for each in engines} == {()}


def test_servers_have_certificates(env: Mapping[str, str]) -> None:
    """Each mounts its own key, and listens over TLS only."""
    for name in lab.PBXES:
        variables = environment(name, env)
        assert not unknown_pbx_variables(variables)
        assert variables["PBX_CONTROL_TLS_CERT"] == "/tls/tls.crt"
        assert "./.tls/pbx:/tls:ro" in SERVICES[name]["volumes"]
    assert "--port 0 --tls-port 6390" in SERVICES["valkey"]["command"][-1]
    for name in lab.ENGINES:
        assert SERVICES[name]["volumes"] == ["./.tls/engine:/tls:ro"]
        assert "https://127.0.0.1" in SERVICES[name]["healthcheck"]["test"][-1]
    for name in ("streams", "speech"):
        assert SERVICES[name]["volumes"] == [f"./.tls/{name}:/tls:ro"]


def test_phones_use_tls_and_srtp(env: Mapping[str, str]) -> None:
    """Each node at a port of its own, and no audio in clear text."""
    nodes = [node_values(environment(name, env)) for name in lab.PBXES]
    assert len({each["TLS_PORT"] for each in nodes}) == len(nodes)
    for each in nodes:
        assert f":{each['TLS_PORT']}\n" in each["TLS_TRANSPORT"]
        assert each["AGENT_ENCRYPTION"].endswith("optimistic = no")


def test_the_rest_layer_has_no_key(engines: list[Settings], env: Mapping[str, str]) -> None:
    """It reaches the engines by https, and trusts their CA."""
    variables = environment("api", env)
    urls = json.loads(variables["SWITCHROOM_ENGINE_URLS"])
    assert urls == [connections.rpc_url(each) for each in engines]
    assert SERVICES["api"]["volumes"] == ["./.tls/engine/ca.crt:/tls/ca.crt:ro"]


def test_the_store_is_configured_as_in_the_lab() -> None:
    """But for its port."""
    tls = re.sub(r"--port 0 --tls-port (\d+)", r"--port \1", SERVICES["valkey"]["command"][-1])
    tls = re.sub(r"--tls-\S+ \S+ ?", "", tls)
    plain = lab.SERVICES["valkey"]["command"][-1]
    assert tls.replace("\\", "").split() == plain.replace("\\", "").split()
