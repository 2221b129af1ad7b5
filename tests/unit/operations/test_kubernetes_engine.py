"""The engines in Kubernetes: what they are told, and how they leave."""

from pathlib import Path

import pytest
from dotenv import dotenv_values

from engine.app import connections
from engine.app.engine import LEAVE_TIMEOUT_S
from engine.config import Settings
from tests.unit.operations.inputs import accepted, filled, unknown_of_pbx, unknown_settings
from tests.unit.operations.manifests import (
    KUBERNETES,
    OVERLAYS,
    container,
    documents,
    named,
    pod,
    resources,
)

ADDRESS = "10.1.2.3"
BASE = resources(KUBERNETES / "base")
DEPLOYMENT = named(BASE, "Deployment", "switchroom-engine")
ENGINE = container(DEPLOYMENT)
PBX = container(documents(KUBERNETES / "pbx/pbx.yaml")[0])


def generated(overlay: Path) -> dict[str, str]:
    """Give what an overlay's files say to the engine, its secrets filled in."""
    return {**filled(overlay / "settings.env"), **filled(overlay / "secrets.env.example")}


def told() -> dict[str, str]:
    """Give the variables that the manifest itself sets, in a pod of a known address."""
    env = [each for each in ENGINE["env"] if "value" in each]
    return {each["name"]: each["value"].replace("$(POD_IP)", ADDRESS) for each in env}


@pytest.fixture(params=OVERLAYS, ids=lambda path: path.name)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Give the settings of an engine of each overlay."""
    given = {**generated(request.param), **told()}
    assert not unknown_settings(given)
    return accepted(given, tmp_path)


def test_an_engine_is_reached_at_its_pod(settings: Settings) -> None:
    """Other engines and PBX nodes reach this engine itself, on the port that it serves."""
    port = ENGINE["ports"][0]["containerPort"]
    assert settings.rpc_port == port
    assert connections.rpc_url(settings) == f"http://{ADDRESS}:{port}"
    for node in settings.nodes:
        assert connections.media_url(settings, node) == f"http://{ADDRESS}:{port}"


def test_every_overlay_has_two_nodes_and_records(settings: Settings) -> None:
    """Two PBX nodes, and what recording calls needs."""
    assert len(settings.nodes) == 2
    assert settings.ami_password is not None


def test_what_a_node_is_told_is_asked_for() -> None:
    """Every PBX_ variable is one that the templates have."""
    names = [each["name"] for each in PBX["env"]]
    secret = dotenv_values(KUBERNETES / "overlays/trial/pbx.env.example")
    assert not unknown_of_pbx([*names, *secret])


def test_calls_only_move_to_engines_that_are_ready() -> None:
    """A rollout takes no engine away before the next one is there; a drain takes one at a time."""
    spec, budget = DEPLOYMENT["spec"], named(BASE, "PodDisruptionBudget", "switchroom-engine")
    assert spec["replicas"] >= 2
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert budget["spec"]["maxUnavailable"] == 1


def test_an_engine_has_the_time_to_leave() -> None:
    """The grace period is longer than the wait before the signal and the handing over after it."""
    waits = float(ENGINE["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert pod(DEPLOYMENT)["terminationGracePeriodSeconds"] >= waits + 3 * LEAVE_TIMEOUT_S


def test_probes_ask_what_the_engine_answers() -> None:
    """Readiness asks for readiness; what restarts an engine asks nothing of store and nodes."""
    paths = {kind: ENGINE[f"{kind}Probe"]["httpGet"]["path"] for kind in ("readiness", "liveness")}
    assert paths == {"readiness": "/readyz", "liveness": "/healthz"}
    assert ENGINE["startupProbe"]["httpGet"]["path"] == "/healthz"


def test_an_engine_may_do_little() -> None:
    """No root, no capability, no write but to its own folders."""
    rights = ENGINE["securityContext"]
    assert pod(DEPLOYMENT)["securityContext"]["runAsNonRoot"]
    assert rights["readOnlyRootFilesystem"]
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert not rights["allowPrivilegeEscalation"]
    assert told()["SWITCHROOM_MEDIA_DIR"].startswith("/var/lib/switchroom/")
