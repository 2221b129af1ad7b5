"""The engines in Kubernetes: their settings, and how they stop."""

import ipaddress
from pathlib import Path

import pytest
from dotenv import dotenv_values

from engine.app import connections
from engine.app.engine import LEAVE_TIMEOUT_S
from engine.config import Settings
from engine.store.redis.address import parse_address
from tests.harness.operations.inputs import (
    filled,
    read_settings,
    unknown_pbx_variables,
    unknown_settings,
)
from tests.harness.operations.manifests import (
    ADDRESS,
    BASE,
    DEPLOYMENT,
    ENGINE,
    KUBERNETES,
    NAMESPACE,
    OVERLAYS,
    container,
    documents,
    generated,
    named,
    pod,
    set_by_manifest,
)
from tests.harness.operations.pbx_script import node_values

PBX = container(documents(KUBERNETES / "pbx/pbx.yaml")[0])


@pytest.fixture(params=OVERLAYS, ids=lambda path: path.name)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Return the settings of an engine, for each overlay."""
    variables = {**generated(request.param), **set_by_manifest()}
    assert not unknown_settings(variables)
    return read_settings(variables, tmp_path)


def test_an_engine_is_reached_at_its_pod(settings: Settings) -> None:
    """Other engines and PBX nodes reach it at the pod's address and port."""
    port = ENGINE["ports"][0]["containerPort"]
    assert settings.rpc_port == port
    url = f"https://10-1-2-3.switchroom-engines.{NAMESPACE}.svc.cluster.local:{port}"
    assert connections.rpc_url(settings) == url
    for node in settings.nodes:
        assert connections.media_url(settings, node) == url
    service = named(BASE, "Service", "switchroom-engines")
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"]


def test_every_overlay_has_two_nodes_and_recordings(settings: Settings) -> None:
    """Two PBX nodes, and the password that recording needs."""
    assert len(settings.nodes) == 2
    assert settings.ami_password is not None


def test_variables_of_nodes_are_used() -> None:
    """The templates use every PBX_ variable."""
    names = [each["name"] for each in PBX["env"]]
    secret = dotenv_values(KUBERNETES / "overlays/trial/pbx.env.example")
    assert not unknown_pbx_variables([*names, *secret])


def test_calls_are_encrypted() -> None:
    """Phones and trunk of the trial use TLS with SRTP, and no audio in clear text."""
    env = {each["name"]: each["value"] for each in PBX["env"] if "value" in each}
    secret = filled(KUBERNETES / "overlays/trial/pbx.env.example")
    node = node_values({**secret, **env, "PBX_BIND": ADDRESS, "PBX_SIP_BIND": "198.51.100.11"})
    assert "transport=tls" in node["TRUNK"]
    for name in ("AGENT", "TRUNK"):
        assert node[f"{name}_ENCRYPTION"].endswith("optimistic = no")
    ports = {each["name"]: each["containerPort"] for each in PBX["ports"]}
    assert ports["sips"] == int(node["TLS_PORT"])


def test_strangers_reach_sip_only(tmp_path: Path) -> None:
    """ARI and AMI are at another address than SIP, where the other nodes call phones."""
    env = {each["name"]: each.get("value") for each in PBX["env"]}
    secret = filled(KUBERNETES / "overlays/trial/pbx.env.example")
    assert env["PBX_BIND"] == "$(HOST_IP)"
    assert not env.keys() & {"PBX_SIP_BIND", "PBX_SHARED_BIND"}
    network = ipaddress.ip_network(secret["PBX_SIP_BIND"])
    variables = {**generated(KUBERNETES / "overlays/trial"), **set_by_manifest()}
    for node in read_settings(variables, tmp_path).nodes:
        assert ipaddress.ip_address(node.sip_host or "") in network
    assert secret["PBX_PEERS"] == secret["PBX_SIP_BIND"]


def test_calls_move_to_ready_engines_only() -> None:
    """A rollout starts an engine before it stops one; a drain stops one at a time."""
    spec, budget = DEPLOYMENT["spec"], named(BASE, "PodDisruptionBudget", "switchroom-engine")
    assert spec["replicas"] >= 2
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert budget["spec"]["maxUnavailable"] == 1


def test_an_engine_has_the_time_to_leave() -> None:
    """The grace period covers the wait before the signal and the handover after it."""
    waits = float(ENGINE["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert pod(DEPLOYMENT)["terminationGracePeriodSeconds"] >= waits + 3 * LEAVE_TIMEOUT_S


def test_probes_use_the_engines_endpoints() -> None:
    """Liveness does not depend on the store or nodes."""
    paths = {kind: ENGINE[f"{kind}Probe"]["httpGet"]["path"] for kind in ("readiness", "liveness")}
    assert paths == {"readiness": "/readyz", "liveness": "/healthz"}
    assert ENGINE["startupProbe"]["httpGet"]["path"] == "/healthz"


def test_an_engine_has_few_privileges() -> None:
    """No root, no capabilities, and writes to its own folders only."""
    security = ENGINE["securityContext"]
    assert pod(DEPLOYMENT)["securityContext"]["runAsNonRoot"]
    assert security["readOnlyRootFilesystem"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert not security["allowPrivilegeEscalation"]
    assert set_by_manifest()["SWITCHROOM_MEDIA_DIR"].startswith("/var/lib/switchroom/")


def test_secrets_travel_encrypted(settings: Settings) -> None:
    """All is reached over TLS, the store with a password, and stored secrets are encrypted."""
    store = parse_address(settings.redis_url)
    assert store.is_encrypted
    assert store.has_password
    assert settings.rpc_tls_cert is not None
    assert settings.store_key is not None
    assert all(node.url.scheme == "https" and node.ami_tls for node in settings.nodes)
    assert {"PBX_CONTROL_TLS_CERT", "PBX_CONTROL_TLS_KEY"} <= {each["name"] for each in PBX["env"]}
    assert ENGINE["readinessProbe"]["httpGet"]["scheme"] == "HTTPS"
