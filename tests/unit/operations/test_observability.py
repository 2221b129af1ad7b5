"""The profile `observability`: Prometheus and Grafana with the files of docs/operations."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.operations import test_compose as lab
from tests.unit.operations import test_compose_tls as tls

ROOT = lab.PATH.parent
TLS_FILE: dict[str, Any] = yaml.safe_load(tls.PATH.read_text())
CONFIGS: dict[str, dict[str, str]] = {**lab.COMPOSE["configs"], **TLS_FILE["configs"]}
NAMES = ("prometheus", "grafana")


def mounted(service: dict[str, Any]) -> dict[str, Path]:
    """Return the files of a service by their paths in the container."""
    return {each["target"]: ROOT / CONFIGS[each["source"]]["file"] for each in service["configs"]}


def parsed(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


PLAIN = parsed(mounted(lab.SERVICES["prometheus"])["/etc/prometheus/prometheus.yaml"])
ENCRYPTED = parsed(mounted(tls.SERVICES["prometheus"])["/etc/prometheus/prometheus.yaml"])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_else_starts_them(name: str) -> None:
    """`make up` neither downloads nor starts them, and each image has a version."""
    assert lab.SERVICES[name]["profiles"] == ["observability"]
    assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+\.\d+", lab.SERVICES[name]["image"])


def test_all_processes_are_scraped() -> None:
    """By the names that alerts and dashboard use, at the ports of the lab."""
    jobs = {each["job_name"]: each["static_configs"] for each in PLAIN["scrape_configs"]}
    ports = [lab.SERVICES[name]["environment"]["SWITCHROOM_RPC_PORT"] for name in lab.ENGINES]
    api = lab.SERVICES["api"]["environment"]["SWITCHROOM_API_METRICS_PORT"]
    streams = lab.SERVICES["streams"]["environment"]["SWITCHROOM_STREAMS_PORT"]
    assert jobs == {
        "switchroom": [{"targets": [f"127.0.0.1:{port}" for port in ports]}],
        "switchroom-api": [{"targets": [f"127.0.0.1:{api}"]}],
        "switchroom-streams": [{"targets": [f"127.0.0.1:{streams}"]}],
    }
    rules = (ROOT / "docs/operations/alerts.yaml").read_text()
    assert set(re.findall(r'up\{job="([^"]+)"', rules)) <= jobs.keys()


def test_tls_changes_the_scheme_of_all_but_the_rest_layer() -> None:
    """The CA is mounted where the configuration names it."""
    engines, _, gateways = ENCRYPTED["scrape_configs"]
    for each in (engines, gateways):
        assert each.pop("scheme") == "https"
        assert each.pop("tls_config") == {"ca_file": "/tls/ca.crt"}
    assert ENCRYPTED == PLAIN
    assert tls.SERVICES["prometheus"]["volumes"] == ["./.tls/engine/ca.crt:/tls/ca.crt:ro"]


def test_alerts_are_loaded_and_have_links() -> None:
    """From the folder of the configuration; the label of their links is set."""
    files = mounted(lab.SERVICES["prometheus"])
    assert [f"/etc/prometheus/{each}" for each in PLAIN["rule_files"]] == [
        each for each, path in files.items() if path.name == "alerts.yaml"
    ]
    (label,) = PLAIN["global"]["external_labels"]
    assert f"$externalLabels.{label} " in (ROOT / "docs/operations/alerts.yaml").read_text()


def test_the_dashboard_is_provisioned() -> None:
    """With the data source that it chooses by default, and as the first page."""
    grafana = lab.SERVICES["grafana"]
    files = mounted(grafana)
    folder = "/etc/grafana/provisioning"
    (source,) = parsed(files[f"{folder}/datasources/switchroom.yaml"])["datasources"]
    assert (source["type"], source["isDefault"]) == ("prometheus", True)
    assert (
        f"--web.listen-address={source['url'].removeprefix('http://')}"
        in (lab.SERVICES["prometheus"]["command"])
    )
    (provider,) = parsed(files[f"{folder}/dashboards/switchroom.yaml"])["providers"]
    home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home.startswith(provider["options"]["path"])
    assert json.loads(files[home].read_text())["uid"] == "switchroom"


def test_strangers_cannot_change_anything() -> None:
    """It listens on this host, there is no administrator, and readers need no password."""
    settings = lab.SERVICES["grafana"]["environment"]
    assert settings["GF_SERVER_HTTP_ADDR"] == "127.0.0.1"
    assert settings["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert settings["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "true"
