"""The manifests: valid by Kubernetes' own schemas, and fitting each other."""

from pathlib import Path

import kubernetes_validate  # type: ignore[import-untyped]  # it has no types
import pytest

from tests.unit.operations.manifests import (
    KUBERNETES,
    OVERLAYS,
    POD_OWNERS,
    Manifest,
    chosen_by,
    container,
    documents,
    kustomization,
    named,
    of_kind,
    pod,
    pod_labels,
    port_names,
    resources,
    values_at,
)

VERSIONS = ("1.32", "1.37")
FOLDERS = sorted(path.parent for path in KUBERNETES.rglob("kustomization.yaml"))


def in_each(paths: list[Path]) -> pytest.MarkDecorator:
    """Run a test for each folder."""
    ids = [str(path.relative_to(KUBERNETES)) for path in paths]
    return pytest.mark.parametrize("folder", paths, ids=ids)


def patched(folder: Path) -> list[Path]:
    """Name the patches of a folder, which are no whole resources."""
    return [folder / patch["path"] for patch in kustomization(folder).get("patches", [])]


@pytest.mark.parametrize("version", VERSIONS)
@in_each(FOLDERS)
def test_every_resource_is_valid(folder: Path, version: str) -> None:
    """Kubernetes knows every field, in the oldest version that we mean and in the newest."""
    for name in kustomization(folder)["resources"]:
        if (folder / name).is_file():
            for each in documents(folder / name):
                kubernetes_validate.validate(each, version, strict=True)


@in_each(FOLDERS)
def test_every_file_is_there_and_used(folder: Path) -> None:
    """A kustomization names what exists, and every manifest in its folder."""
    asked = kustomization(folder)
    files = {folder / name for name in asked["resources"]} | set(patched(folder))
    assert not [path for path in files if not path.exists()]
    assert {*folder.glob("*.yaml")} - {folder / "kustomization.yaml"} <= files


@in_each(FOLDERS)
def test_secrets_come_from_a_file_that_is_not_committed(folder: Path) -> None:
    """Of each there is an example beside it, and the settings are committed."""
    asked = kustomization(folder)
    for secret in asked.get("secretGenerator", []):
        assert [(folder / f"{name}.example").exists() for name in secret["envs"]] == [True]
    for settings in asked.get("configMapGenerator", []):
        assert [(folder / name).exists() for name in settings["envs"]] == [True]


@in_each(OVERLAYS)
def test_what_pods_name_is_there(folder: Path) -> None:
    """Secrets and settings are generated, claims, accounts and volumes exist, images are named."""
    asked, found = kustomization(folder), resources(folder)
    for kind, generator in (
        ("secretRef", "secretGenerator"),
        ("configMapRef", "configMapGenerator"),
    ):
        refs = {ref["name"] for ref in values_at(found, kind)}
        assert refs == {made["name"] for made in asked.get(generator, [])}
    assert set(values_at(found, "image")) == {image["name"] for image in asked["images"]}
    for account in values_at(found, "serviceAccountName"):
        assert named(found, "ServiceAccount", account)
    for owner in of_kind(found, *POD_OWNERS):
        assert mounted(owner) == volumes(owner)


def mounted(owner: Manifest) -> set[str]:
    """Name what its container mounts."""
    return {mount["name"] for mount in container(owner)["volumeMounts"]}


def volumes(owner: Manifest) -> set[str]:
    """Name what its pods bring, claims included."""
    claims = owner["spec"].get("volumeClaimTemplates", [])
    return {
        *(volume["name"] for volume in pod(owner).get("volumes", [])),
        *(claim["metadata"]["name"] for claim in claims),
    }


@in_each(OVERLAYS)
def test_every_patch_has_its_target(folder: Path) -> None:
    """A patch names a resource of the overlay, and its claims exist."""
    found = resources(folder)
    for patch in kustomization(folder).get("patches", []):
        (document,) = documents(folder / patch["path"])[:1]
        target = patch.get("target") or {**document["metadata"], "kind": document["kind"]}
        assert named(found, target["kind"], target["name"])
        for claim in values_at(document, "claimName"):
            assert named(found, "PersistentVolumeClaim", claim)


@in_each(OVERLAYS)
def test_selectors_match_their_pods(folder: Path) -> None:
    """Services, budgets and policies choose one workload each; a workload chooses its own pods."""
    found = resources(folder)
    for owner in of_kind(found, *POD_OWNERS):
        assert owner["spec"]["selector"]["matchLabels"] == pod_labels(owner)
    for service in of_kind(found, "Service"):
        (owner,) = chosen_by(service["spec"]["selector"], found)
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= port_names(owner)
    for budget in of_kind(found, "PodDisruptionBudget"):
        (owner,) = chosen_by(budget["spec"]["selector"]["matchLabels"], found)
        assert budget["metadata"]["name"] == owner["metadata"]["name"]
    for policy in of_kind(found, "NetworkPolicy"):
        (owner,) = chosen_by(policy["spec"]["podSelector"]["matchLabels"], found)
        assert {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]} <= (
            port_names(owner)
        )


@in_each(OVERLAYS)
def test_a_stateful_set_has_its_service(folder: Path) -> None:
    """The names of its pods are those of a Service that exists and chooses them."""
    found = resources(folder)
    for owner in of_kind(found, "StatefulSet"):
        service = named(found, "Service", owner["spec"]["serviceName"])
        assert chosen_by(service["spec"]["selector"], found) == [owner]


@in_each(OVERLAYS)
def test_probes_ask_ports_that_there_are(folder: Path) -> None:
    """Each workload says when it is ready, on a port of its own."""
    for owner in of_kind(resources(folder), *POD_OWNERS):
        asked = container(owner)
        assert "readinessProbe" in asked
        for way in ("httpGet", "tcpSocket"):
            assert {probe["port"] for probe in values_at(asked, way)} <= port_names(owner)
