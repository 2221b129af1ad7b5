"""The stream gateways and speech recognizers in Kubernetes: their settings, names and ends."""

from pathlib import Path
from typing import Any

from pydantic_settings import BaseSettings

from speech.settings import Settings as SpeechSettings
from streams.settings import Settings as StreamsSettings
from tests.harness.operations.inputs import PREFIX, filled, read_settings
from tests.harness.operations.manifests import (
    KUBERNETES,
    Manifest,
    container,
    generated,
    named,
    pod,
    resources,
    set_by_manifest,
)

TRIAL = KUBERNETES / "overlays/trial"
FOUND = resources(KUBERNETES / "streams")
STREAMS = named(FOUND, "StatefulSet", "switchroom-streams")
SPEECH = named(FOUND, "Deployment", "switchroom-speech")


def read(kind: type[BaseSettings], owner: Manifest, secret: str, folder: Path) -> Any:
    """Return the settings of a workload with its secret of the trial; it has no other variables."""
    env = {each["name"]: each["value"] for each in container(owner)["env"]}
    variables = filled(TRIAL / secret) | env
    assert {name.removeprefix(PREFIX).lower() for name in variables} <= kind.model_fields.keys()
    path = folder / "variables.env"
    path.write_text("".join(f"{name}='{value}'\n" for name, value in variables.items()))
    return kind(_env_file=path)


def test_a_gateway_has_the_time_to_drain(tmp_path: Path) -> None:
    """And serves over TLS at the port of its manifest."""
    settings = read(StreamsSettings, STREAMS, "streams.env.example", tmp_path)
    assert pod(STREAMS)["terminationGracePeriodSeconds"] > settings.streams_drain_s
    assert settings.streams_tls_cert is not None
    assert settings.streams_port == container(STREAMS)["ports"][0]["containerPort"]


def test_gateways_reach_the_recognizers(tmp_path: Path) -> None:
    """Over TLS, by the name and port of their Service, with their token."""
    streams = read(StreamsSettings, STREAMS, "streams.env.example", tmp_path)
    speech = read(SpeechSettings, SPEECH, "speech.env.example", tmp_path)
    (port,) = named(FOUND, "Service", "switchroom-speech")["spec"]["ports"]
    assert streams.recognizers.url == f"wss://switchroom-speech:{port['port']}"
    assert streams.recognizers.token == speech.speech_token.get_secret_value()
    assert speech.speech_port == port["port"] == container(SPEECH)["ports"][0]["containerPort"]
    assert speech.speech_tls_cert is not None


def test_engines_know_each_gateway_by_its_name(tmp_path: Path) -> None:
    """A Service would send the requests of a stream to gateways that do not have it."""
    engine = read_settings({**generated(TRIAL), **set_by_manifest()}, tmp_path)
    service, replicas = STREAMS["spec"]["serviceName"], STREAMS["spec"]["replicas"]
    names = {f"https://switchroom-streams-{n}.{service}:8095/" for n in range(replicas)}
    for node in engine.nodes:
        assert {str(url) for url in node.stream_gateways} == names
    assert engine.streams_token is not None
    spec = named(FOUND, "Service", service)["spec"]
    assert (spec["clusterIP"], spec["publishNotReadyAddresses"]) == ("None", True)


def test_what_callers_say_leaves_the_recognizers_for_gateways_only() -> None:
    """Nobody else reaches them, and they reach nobody."""
    spec = named(FOUND, "NetworkPolicy", "switchroom-speech")["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert spec["egress"] == []
    (rule,) = spec["ingress"]
    labels = [each["podSelector"]["matchLabels"] for each in rule["from"]]
    assert labels == [{"app.kubernetes.io/name": "switchroom-streams"}]
