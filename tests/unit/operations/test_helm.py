"""The Helm chart: the same objects as the Kustomize examples."""

import copy
import json
import tomllib
from typing import Any

import jsonschema
import kubernetes_validate  # type: ignore[import-untyped]  # it has no types
import pytest
import yaml

from tests.harness.operations.helm import CHART, render, rendered, used_values, values
from tests.harness.operations.inputs import unknown_settings
from tests.harness.operations.manifests import (
    KUBERNETES,
    Manifest,
    container,
    documents,
    named,
    resources,
)

EXAMPLE = KUBERNETES / "overlays/example"
VERSIONS = ("1.32", "1.37")


WORKLOADS = {"engine": "Deployment", "api": "Deployment", "streams": "StatefulSet",
             "speech": "Deployment"}  # fmt: skip


def all_enabled() -> dict[str, Any]:
    """Return the default values, with the optional components."""
    given = values()
    given["streams"]["enabled"] = True
    return given


def kustomized() -> list[Manifest]:
    """Return the objects of the examples with their network policies, without their settings."""
    folders = (KUBERNETES / each for each in ("base", "api", "streams"))
    found = copy.deepcopy([each for folder in folders for each in resources(folder)])
    for name, patch in (
        ("engine", EXAMPLE / "network.yaml"),
        ("api", EXAMPLE / "network-api.yaml"),
        ("streams", EXAMPLE.with_name("trial") / "network-streams.yaml"),
    ):
        policy = named(found, "NetworkPolicy", f"switchroom-{name}")
        for each in yaml.safe_load(patch.read_text()):
            _, spec, direction, _ = each["path"].split("/")
            policy[spec][direction].append(each["value"])
    return found


def by_name(found: list[Manifest]) -> dict[tuple[str, str], Manifest]:
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def without_settings(found: Manifest, role: str) -> Manifest:
    """Return a workload as it is in Kustomize: settings in a ConfigMap, images by name."""
    result = copy.deepcopy(found)
    program = result["spec"]["template"]["spec"]["containers"][0]
    names = values()[role]["settings"]
    program["env"] = [each for each in program["env"] if each["name"] not in names]
    program["image"] = f"switchroom-{role}"
    if role == "engine":
        program["envFrom"].insert(0, {"configMapRef": {"name": "switchroom"}})
    return result


def test_the_objects_are_those_of_the_example() -> None:
    """Probes, limits, policies and names are the same: one of both is never forgotten."""
    chart, example = by_name(rendered(all_enabled())), by_name(kustomized())
    for role, kind in WORKLOADS.items():
        key = (kind, f"switchroom-{role}")
        chart[key] = without_settings(chart[key], role)
    assert chart.keys() == example.keys()
    for key, found in chart.items():
        assert found == example[key], key


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_valid(version: str) -> None:
    """Kubernetes knows every field, in the oldest and newest supported version."""
    for each in rendered(all_enabled()):
        kubernetes_validate.validate(each, version, strict=True)


def test_stream_gateways_are_optional() -> None:
    """Many run them on the PBX hosts, or have no bots; nothing of them is left then."""
    assert "streams" not in json.dumps(rendered(values()))
    assert "speech" not in json.dumps(rendered(values()))


def test_every_value_is_used() -> None:
    """No value is without effect, and no template names one that is not there."""

    def leaves(found: Any, path: str = "") -> set[str]:
        if isinstance(found, dict) and path not in used_values():
            return set().union(*(leaves(each, f"{path}.{key}") for key, each in found.items()))
        return {path.removeprefix(".")}

    nested = {key: leaves(each, key) for key, each in values().items()}
    assert set().union(*nested.values()) == used_values()


def test_values_change_the_objects() -> None:
    """Images, counts, settings with any characters, and addresses."""
    given = values()
    given["engine"] |= {"image": "r/e@sha256:0", "replicas": 5, "secret": "mine"}
    given["api"]["settings"] = {"SWITCHROOM_CORS_ORIGINS": '["https://a.example"]'}
    given["network"]["pbx"] = ["198.51.100.1/32", "2001:db8::1/128"]
    found = rendered(given)
    engine = named(found, "Deployment", "switchroom-engine")
    assert engine["spec"]["replicas"] == 5
    assert container(engine)["image"] == "r/e@sha256:0"
    assert container(engine)["envFrom"] == [{"secretRef": {"name": "mine"}}]
    api = container(named(found, "Deployment", "switchroom-api"))
    assert {"name": "SWITCHROOM_CORS_ORIGINS", "value": '["https://a.example"]'} in api["env"]
    policy = json.dumps(named(found, "NetworkPolicy", "switchroom-engine"))
    assert policy.count("2001:db8::1/128") == 2


@pytest.mark.parametrize("name", ["pbx", "pbxPorts", "mediaPorts", "store", "database"])
def test_a_policy_without_addresses_is_refused(name: str) -> None:
    """To Kubernetes, an empty list means everybody: Helm checks the schema before it renders."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    jsonschema.validate(values(), schema)
    given = values()
    given["network"][name] = []
    with pytest.raises(jsonschema.ValidationError, match=r"non-empty|too short"):
        jsonschema.validate(given, schema)


def test_misspelled_values_are_refused() -> None:
    """They would have no effect."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    with pytest.raises(jsonschema.ValidationError, match="replica"):
        jsonschema.validate({**values(), "engine": {"replica": 3}}, schema)


def test_settings_are_known() -> None:
    """Those of the example are in the documentation of settings."""
    for role in WORKLOADS:
        assert not unknown_settings(values()[role]["settings"])


def test_the_chart_has_the_version_of_the_package() -> None:
    """Its images, too."""
    project = tomllib.loads((CHART.parents[3] / "pyproject.toml").read_text())["project"]
    (chart,) = documents(CHART / "Chart.yaml")
    assert chart["version"] == chart["appVersion"] == project["version"]
    for role in WORKLOADS:
        assert values()[role]["image"].endswith(f":{project['version']}")


def test_an_unknown_action_is_an_error() -> None:
    """The renderer of these tests passes over nothing that Helm would do otherwise."""
    with pytest.raises(ValueError, match="include"):
        render('a: {{ include "x" . }}', {})
