"""The systemd units, and the files that they read."""

from pathlib import Path

import pytest
from dotenv import dotenv_values

from engine.app import connections
from engine.app.engine import LEAVE_TIMEOUT_S
from engine.store.redis.address import parse_address
from tests.harness.operations.inputs import (
    filled,
    read_settings,
    unknown_pbx_variables,
    unknown_settings,
)
from tests.harness.operations.manifests import SYSTEMD, environment_files, unit
from tests.harness.operations.pbx_script import node_values


@pytest.mark.parametrize("number", [1, 2])
def test_variables_of_engines_are_settings(number: int, tmp_path: Path) -> None:
    """Shared and own variables are settings; its URL is where it serves."""
    own = filled(SYSTEMD / f"engine{number}.env.example")
    variables = {**filled(SYSTEMD / "engines.env.example"), **own}
    assert not unknown_settings(variables)
    settings = read_settings(variables, tmp_path)
    url = f"https://{settings.rpc_host}:{settings.rpc_port}"
    assert connections.rpc_url(settings) == url
    assert {connections.media_url(settings, node) for node in settings.nodes} == {url}


def test_engines_have_their_own_urls() -> None:
    """The URLs of the two engines differ."""
    both = [dotenv_values(SYSTEMD / f"engine{number}.env.example") for number in (1, 2)]
    assert len({each["SWITCHROOM_RPC_URL"] for each in both}) == 2


def test_an_engine_has_the_time_to_leave() -> None:
    """The supervisor waits for longer than the handover takes, and restarts it."""
    service = unit("switchroom@.service")["Service"]
    assert int(service["TimeoutStopSec"]) >= 3 * LEAVE_TIMEOUT_S
    assert service["Restart"] == "always"


@pytest.mark.parametrize("name", ["switchroom@.service", "switchroom-pbx.service"])
def test_every_file_has_an_example(name: str) -> None:
    """Each environment file has an example beside the unit."""
    for path in environment_files(name):
        example = f"{Path(path).name}.example".replace("%i", "1")
        assert (SYSTEMD / example).exists()


UNITS = sorted(path.name for path in SYSTEMD.glob("*.service"))
RESTRICTIONS = {
    "NoNewPrivileges": "true",
    "CapabilityBoundingSet": "",
    "UMask": "0077",
    "StateDirectoryMode": "0700",
    "ProtectSystem": "strict",
    "ProtectHome": "true",
    "ProtectProc": "invisible",
    "PrivateTmp": "true",
    "PrivateDevices": "true",
    "SystemCallFilter": "~@privileged",
    "SystemCallArchitectures": "native",
    "IPAddressDeny": "169.254.169.254 100.100.100.200 192.0.0.192 fd00:ec2::254",
}


@pytest.mark.parametrize("name", UNITS)
def test_a_service_has_few_privileges(name: str) -> None:
    """It has no capabilities, sees no other process, and has limits."""
    service = unit(name)["Service"]
    assert {key: service.get(key) for key in RESTRICTIONS} == RESTRICTIONS
    assert {"MemoryMax", "TasksMax", "RestrictAddressFamilies"} <= {*service_keys(name)}


def service_keys(name: str) -> list[str]:
    """Return the keys of a unit, in their own case."""
    lines = (SYSTEMD / name).read_text().splitlines()
    return [line.partition("=")[0] for line in lines if "=" in line and not line.startswith("#")]


def test_secrets_travel_encrypted(tmp_path: Path) -> None:
    """Store, engines, ARI, AMI and database are reached over TLS; secrets are stored encrypted."""
    own = filled(SYSTEMD / "engine1.env.example")
    settings = read_settings({**filled(SYSTEMD / "engines.env.example"), **own}, tmp_path)
    store = parse_address(settings.redis_url)
    assert store.is_encrypted
    assert store.has_password
    assert settings.rpc_tls_cert is not None
    assert settings.store_key is not None
    assert all(node.url.scheme == "https" and node.ami_tls for node in settings.nodes)
    assert dotenv_values(SYSTEMD / "pbx.env.example")["PBX_CONTROL_TLS_CERT"]
    rest = filled(SYSTEMD / "api.env.example")
    assert "http://" not in rest["SWITCHROOM_ENGINE_URLS"]
    assert rest["SWITCHROOM_TLS_CA"] == str(settings.tls_ca)
    assert "ssl=" in rest["SWITCHROOM_DATABASE_URL"]


def test_variables_of_nodes_are_used() -> None:
    """The templates use every PBX_ variable."""
    assert not unknown_pbx_variables(dotenv_values(SYSTEMD / "pbx.env.example"))


def test_calls_are_encrypted() -> None:
    """Phones and trunk use TLS with SRTP, and no audio in clear text."""
    node = node_values(filled(SYSTEMD / "pbx.env.example"))
    assert node["TLS_TRANSPORT"]
    assert "transport=tls" in node["TRUNK"]
    for name in ("AGENT", "TRUNK"):
        assert node[f"{name}_ENCRYPTION"].endswith("optimistic = no")
