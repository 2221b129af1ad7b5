"""The manifests: valid by Kubernetes' schemas, and consistent."""

from pathlib import Path

import kubernetes_validate  # type: ignore[import-untyped]  # it has no types
import pytest

from tests.unit.operations.manifests import (
    KUBERNETES,
    OVERLAYS,
    POD_OWNERS,
    Manifest,
    container,
    documents,
    kustomization,
    named,
    of_kind,
    pod,
    pod_labels,
    port_names,
    resources,
    selected_by,
    values_at,
)

VERSIONS = ("1.32", "1.37")
FOLDERS = sorted(path.parent for path in KUBERNETES.rglob("kustomization.yaml"))


def in_each(paths: list[Path]) -> pytest.MarkDecorator:
    """Run a test for each folder."""
    ids = [str(path.relative_to(KUBERNETES)) for path in paths]
    return pytest.mark.parametrize("folder", paths, ids=ids)


def patches(folder: Path) -> list[Path]:
    """Return the patches of a folder, which are not complete resources."""
    return [folder / patch["path"] for patch in kustomization(folder).get("patches", [])]


@pytest.mark.parametrize("version", VERSIONS)
@in_each(FOLDERS)
def test_every_resource_is_valid(folder: Path, version: str) -> None:
    """Kubernetes knows every field, in the oldest and newest supported version."""
    for name in kustomization(folder)["resources"]:
        if (folder / name).is_file():
            for each in documents(folder / name):
                kubernetes_validate.validate(each, version, strict=True)


@in_each(FOLDERS)
def test_every_file_exists_and_is_used(folder: Path) -> None:
    """A kustomization names existing files, and every manifest in its folder."""
    config = kustomization(folder)
    files = {folder / name for name in config["resources"]} | set(patches(folder))
    assert not [path for path in files if not path.exists()]
    assert {*folder.glob("*.yaml")} - {folder / "kustomization.yaml"} <= files


@in_each(FOLDERS)
def test_secrets_are_not_committed(folder: Path) -> None:
    """Each has an example beside it; settings are committed."""
    config = kustomization(folder)
    for secret in config.get("secretGenerator", []):
        assert [(folder / f"{name}.example").exists() for name in secret["envs"]] == [True]
    for settings in config.get("configMapGenerator", []):
        assert [(folder / name).exists() for name in settings["envs"]] == [True]


@in_each(OVERLAYS)
def test_references_of_pods_exist(folder: Path) -> None:
    """Secrets and settings are generated; claims, accounts, volumes and images exist."""
    config, found = kustomization(folder), resources(folder)
    for kind, generator in (
        ("secretRef", "secretGenerator"),
        ("configMapRef", "configMapGenerator"),
    ):
        refs = {ref["name"] for ref in values_at(found, kind)}
        assert refs == {each["name"] for each in config.get(generator, [])}
    assert set(values_at(found, "image")) == {image["name"] for image in config["images"]}
    for account in values_at(found, "serviceAccountName"):
        assert named(found, "ServiceAccount", account)
    for owner in of_kind(found, *POD_OWNERS):
        assert mounted(owner) == volumes(owner)


def mounted(owner: Manifest) -> set[str]:
    """Return the names of its container's mounts."""
    return {mount["name"] for mount in container(owner)["volumeMounts"]}


def volumes(owner: Manifest) -> set[str]:
    """Return the names of its pods' volumes, including claims."""
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
    """Services, budgets and policies select one workload each; a workload selects its own pods."""
    found = resources(folder)
    for owner in of_kind(found, *POD_OWNERS):
        assert owner["spec"]["selector"]["matchLabels"] == pod_labels(owner)
    for service in of_kind(found, "Service"):
        (owner,) = selected_by(service["spec"]["selector"], found)
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= port_names(owner)
    for budget in of_kind(found, "PodDisruptionBudget"):
        (owner,) = selected_by(budget["spec"]["selector"]["matchLabels"], found)
        assert budget["metadata"]["name"] == owner["metadata"]["name"]
    for policy in of_kind(found, "NetworkPolicy"):
        (owner,) = selected_by(policy["spec"]["podSelector"]["matchLabels"], found)
        assert {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]} <= (
            port_names(owner)
        )


@in_each(OVERLAYS)
def test_a_stateful_set_has_its_service(folder: Path) -> None:
    """Its service exists, and selects its pods."""
    found = resources(folder)
    for owner in of_kind(found, "StatefulSet"):
        service = named(found, "Service", owner["spec"]["serviceName"])
        assert selected_by(service["spec"]["selector"], found) == [owner]


@in_each(OVERLAYS)
def test_probes_use_existing_ports(folder: Path) -> None:
    """Each workload has a readiness probe on a port of its own."""
    for owner in of_kind(resources(folder), *POD_OWNERS):
        spec = container(owner)
        assert "readinessProbe" in spec
        for action in ("httpGet", "tcpSocket"):
            assert {probe["port"] for probe in values_at(spec, action)} <= port_names(owner)
