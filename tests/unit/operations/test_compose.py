"""docker-compose.yml: two engines and two PBX nodes with consistent settings."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.config import Settings as ApiSettings
from base.tracing import is_traced
from engine.app import connections
from engine.app.engine import LEAVE_TIMEOUT_S
from engine.config import Settings
from engine.store.redis.address import parse_address
from speech.settings import Settings as SpeechSettings
from streams.settings import Settings as StreamsSettings
from tests.harness.lab.env import ensure_env
from tests.harness.operations.inputs import (
    PREFIX,
    read_settings,
    unknown_pbx_variables,
    unknown_settings,
)
from tests.harness.operations.pbx_script import load_prepare

AnySettings = type[Settings | ApiSettings | StreamsSettings | SpeechSettings]
PATH = Path(__file__).parents[3] / "docker-compose.yml"
COMPOSE: dict[str, Any] = yaml.safe_load(PATH.read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
ENGINES = ("engine1", "engine2")
PBXES = ("pbx1", "pbx2")
VALKEY_PORT = 6390
# Everything is on this host, in clear text; nodes are named.
NOT_IN_THE_LAB = {
    f"{PREFIX}{name}"
    for name in (
        *("ALLOW_INSECURE_STORE", "RPC_TLS_CERT", "RPC_TLS_KEY", "TLS_CA", "RPC_URL", "DOCUMENTS"),
        *("STREAMS_TLS_CERT", "STREAMS_TLS_KEY", "SPEECH_TLS_CERT", "SPEECH_TLS_KEY"),
    )
}
# Those of nodes and engines agree by other means, or belong to the image.
NOT_OF_AN_OPERATOR = {"PBX_ARI_USER", "PBX_AMI_USER", "PBX_DATA_DIR"}


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    """Return what `make up` writes into .env."""
    return ensure_env(tmp_path / ".env", {})


@pytest.fixture
def engines(env: Mapping[str, str], tmp_path: Path) -> list[Settings]:
    """Return the settings of both engines."""
    return [read_settings(environment(name, env), tmp_path) for name in ENGINES]


def environment(service: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return a service's variables: `${NAME}` and those without a value come from .env."""

    def value(found: re.Match[str]) -> str:
        return env.get(found[1]) or found[2].removeprefix(":-")

    variables: dict[str, object] = SERVICES[service].get("environment", {})
    given = {name: env.get(name) if each is None else each for name, each in variables.items()}
    return {
        name: re.sub(r"\$\{(\w+)([^}]*)\}", value, str(each))
        for name, each in given.items()
        if each is not None
    }


def test_all_variables_are_known(env: Mapping[str, str]) -> None:
    """Every variable is a setting, or used by the PBX's templates."""
    for name in (*ENGINES, "api"):
        assert not unknown_settings({**env, **environment(name, env)})
    for name in PBXES:
        assert not unknown_pbx_variables(environment(name, env))


@pytest.mark.parametrize(
    ("service", "settings"),
    [
        *((name, Settings) for name in ENGINES),
        ("api", ApiSettings),
        ("streams", StreamsSettings),
        ("speech", SpeechSettings),
    ],
)
def test_every_setting_is_passed_on(
    service: str,
    settings: type[Settings | ApiSettings | StreamsSettings | SpeechSettings],
    env: Mapping[str, str],
) -> None:
    """An operator's settings in .env reach the service that has them."""
    expected = {f"{PREFIX}{name.upper()}" for name in settings.model_fields}
    assert not expected - SERVICES[service]["environment"].keys() - NOT_IN_THE_LAB
    assert {name for name in environment(service, env) if name.startswith(PREFIX)} <= expected


@pytest.mark.parametrize("service", [*ENGINES, "api"])
def test_traces_are_settings_of_the_environment(service: str, env: Mapping[str, str]) -> None:
    """OpenTelemetry's variables are passed on, and have no value of ours: traces are off."""
    endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
    assert SERVICES[service]["environment"][endpoint] is None
    assert is_traced({**environment(service, env), endpoint: "http://127.0.0.1:4318"})
    assert not is_traced(environment(service, env))


@pytest.mark.parametrize("name", PBXES)
def test_every_setting_of_nodes_is_passed_on(name: str) -> None:
    """An operator's settings in .env reach the nodes, or are fixed for each."""
    expected = {f"PBX_{setting}" for setting in load_prepare().DEFAULTS} | {"PBX_TRUNK_MATCH"}
    given = SERVICES[name]["environment"]
    assert not expected - given.keys() - NOT_OF_AN_OPERATOR
    named = {key: f"${{{key}:-}}" for key, value in given.items() if "${PBX_" in str(value)}
    assert named == {key: given[key] for key in named}


SHARED = {"SWITCHROOM_RPC_TOKEN", "SWITCHROOM_KEYS_AS_TOKENS"}  # the second is no secret
SECRETS = re.compile(r"PASSWORD|SECRET|TOKEN|KEY")


def test_each_service_has_its_own_secrets_only(env: Mapping[str, str]) -> None:
    """No value that is a secret of one program is in the environment of another."""
    secrets = {value for name, value in env.items() if SECRETS.search(name) and name not in SHARED}
    held = {
        name: {value for value in secrets if value in str(environment(name, env))}
        for name in SERVICES
    }
    assert held["engine1"] == held["engine2"]
    assert held["engine1"] == {
        env[f"SWITCHROOM_{name}"]
        for name in (
            *("STORE_PASSWORD", "ARI_PASSWORD", "AMI_PASSWORD"),
            *("SIGNING_KEY", "STORE_KEY", "STREAMS_TOKEN"),
        )
    }
    assert held["api"] == {
        env[f"SWITCHROOM_{name}"]
        for name in ("TOKEN_SECRET", "API_KEY", "API_SECRET", "SPEECH_TOKEN")
    }
    speech_token = env["SWITCHROOM_SPEECH_TOKEN"]
    assert held["streams"] == {env["SWITCHROOM_STREAMS_TOKEN"], speech_token}
    assert held["speech"] == {speech_token}
    assert held["valkey"] == {env["SWITCHROOM_STORE_PASSWORD"]}
    assert not held["pbx1"] & {env["SWITCHROOM_STORE_PASSWORD"], env["SWITCHROOM_TOKEN_SECRET"]}
    assert not [name for name, each in SERVICES.items() if "env_file" in each]


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_has_few_privileges(name: str) -> None:
    """It writes to its volumes only, gains no privileges, and has limits."""
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"pids_limit", "mem_limit"} <= service.keys()
    assert not service.get("privileged")


def test_the_store_has_a_password(engines: list[Settings], env: Mapping[str, str]) -> None:
    """It is on no command line."""
    password = env["SWITCHROOM_STORE_PASSWORD"]
    for each in engines:
        assert parse_address(each.redis_url).has_password
        assert password in each.redis_url
    assert "requirepass $$REDISCLI_AUTH" in SERVICES["valkey"]["command"][-1]
    assert password not in str(SERVICES["valkey"]["command"])


def test_engines_are_reached_at_their_own_ports(engines: list[Settings]) -> None:
    """Other engines and nodes reach each engine by its own URL."""
    urls = [connections.rpc_url(each) for each in engines]
    assert urls == ["http://127.0.0.1:8070", "http://127.0.0.1:8071"]
    for each, url in zip(engines, urls, strict=True):
        assert f":{each.rpc_port}" in url
        assert {connections.media_url(each, node) for node in each.nodes} == {url}


def test_the_rest_layer_knows_both_engines(engines: list[Settings], env: Mapping[str, str]) -> None:
    """With their token."""
    variables = environment("api", env)
    urls = json.loads(variables["SWITCHROOM_ENGINE_URLS"])
    assert urls == [connections.rpc_url(each) for each in engines]
    tokens = {each.rpc_token.get_secret_value() for each in engines}
    assert tokens == {variables["SWITCHROOM_RPC_TOKEN"]}


@pytest.mark.parametrize("scheme", ["ws", "wss"])
def test_the_gateway_knows_the_recognizers(env: Mapping[str, str], scheme: str) -> None:
    """With their token, and in clear text only where all of the lab is."""
    streams, speech = (environment(name, env) for name in ("streams", "speech"))
    if scheme == "wss":
        tls = yaml.safe_load(PATH.with_name("docker-compose.tls.yml").read_text())["services"]
        streams |= tls["streams"]["environment"]
        assert tls["speech"]["environment"]["SWITCHROOM_SPEECH_TLS_CERT"]
    address = f"{scheme}://127.0.0.1:{speech['SWITCHROOM_SPEECH_PORT']}"
    assert streams["SWITCHROOM_STREAMS_RECOGNIZERS"] == address
    assert streams["SWITCHROOM_SPEECH_TOKEN"] == speech["SWITCHROOM_SPEECH_TOKEN"]


def test_engines_know_both_nodes(engines: list[Settings], env: Mapping[str, str]) -> None:
    """The engines have the nodes' ports, passwords and slots."""
    pbxes = {name: environment(name, env) for name in PBXES}
    for each in engines:
        ports = {node.name: str(node.url.port) for node in each.nodes}
        assert ports == {pbx["PBX_NODE"]: pbx["PBX_ARI_PORT"] for pbx in pbxes.values()}
        for node in each.nodes:
            assert node.password.get_secret_value() == pbxes[node.name]["PBX_ARI_PASSWORD"]
        assert {pbx["PBX_SLOTS"] for pbx in pbxes.values()} == {str(each.slots)}


def test_engines_share_the_archive_and_nothing_else(engines: list[Settings]) -> None:
    """The engine that takes a call over archives its recording; audio is per engine."""
    one, other = ({*SERVICES[name]["volumes"]} for name in ENGINES)
    assert one & other == {"recordings:/var/lib/switchroom/recordings"}
    assert {each.recordings_url for each in engines} == {"file:///var/lib/switchroom/recordings"}
    assert len({SERVICES[name]["hostname"] for name in ENGINES}) == 2


def test_ports_are_distinct(engines: list[Settings], env: Mapping[str, str]) -> None:
    """All services share the host's network."""
    ports = [VALKEY_PORT, *(each.rpc_port for each in engines)]
    api = environment("api", env)
    ports += [int(api[f"SWITCHROOM_API_{name}"]) for name in ("PORT", "METRICS_PORT")]
    ports += [int(environment(name, env)[f"SWITCHROOM_{name.upper()}_PORT"])
              for name in ("streams", "speech")]  # fmt: skip
    ports += [9090, int(environment("grafana", env)["GF_SERVER_HTTP_PORT"])]
    for name in PBXES:
        pbx = environment(name, env)
        ports += [int(pbx[f"PBX_{port}_PORT"]) for port in ("SIP", "TLS", "ARI", "AMI")]
        ports += range(int(pbx["PBX_RTP_FIRST"]), int(pbx["PBX_RTP_LAST"]) + 1)
    assert len(ports) == len(set(ports))
    assert f"--port {VALKEY_PORT}" in SERVICES["valkey"]["command"][-1]


def test_all_restart_and_have_health_checks() -> None:
    """Services restart; engines have the time to hand their calls over."""
    assert {each["restart"] for each in SERVICES.values()} == {"unless-stopped"}
    for name in ("streams", "speech"):
        assert "/readyz" in SERVICES[name]["healthcheck"]["test"][-1]
    for name in (*ENGINES, "api"):
        assert "/readyz" in SERVICES[name]["healthcheck"]["test"][-1]
        assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) >= 3 * LEAVE_TIMEOUT_S


def test_every_volume_is_used_and_declared() -> None:
    """The declared volumes are those that services mount."""
    mounts = (mount for each in SERVICES.values() for mount in each["volumes"])
    assert {mount.partition(":")[0] for mount in mounts} == set(COMPOSE["volumes"])


def test_no_log_grows_without_limit() -> None:
    """Of each container, at most five files of 20 MB are kept."""
    for name, service in SERVICES.items():
        assert service["logging"]["options"] == {"max-size": "20m", "max-file": "5"}, name
