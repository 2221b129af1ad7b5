"""Tokens and passwords that can be guessed: no process starts with them."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from api.config import Settings as ApiSettings
from base.settings import MIN_SECRET_CHARS, setting_errors
from engine.config import Settings
from tests.harness.settings import SECRET

SHORT = "x" * (MIN_SECRET_CHARS - 1)
NODE = {"name": "pbx1", "url": "http://127.0.0.1:8088", "password": SECRET}


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"rpc_token": SHORT}, "RPC_TOKEN"),
        ({"further_rpc_tokens": [SECRET, SHORT]}, "FURTHER_RPC_TOKENS__1"),
        ({"nodes": [{**NODE, "password": SHORT}]}, "NODES__0__PASSWORD"),
        ({"nodes": [{**NODE, "ami_password": SHORT}]}, "NODES__0__AMI_PASSWORD"),
        ({"ami_password": SHORT}, "AMI_PASSWORD"),
        ({"node_dns": "pbx:8088", "node_password": SHORT}, "NODE_PASSWORD"),
        ({"rpc_token": ""}, "RPC_TOKEN"),
        ({"rpc_clients": {"monitor": {"token": SHORT}}}, "RPC_CLIENTS__MONITOR__TOKEN"),
    ],
)
def test_an_engine_refuses_short_secrets(values: Mapping[str, Any], name: str) -> None:
    """By the setting's name, with what is needed, and without the secret."""
    with pytest.raises(ValidationError) as error:
        Settings(_env_file=None, **{"rpc_token": SECRET, **values})
    (text,) = setting_errors(error.value, Settings)
    assert text.startswith(f"SWITCHROOM_{name}: ")
    assert f"at least {MIN_SECRET_CHARS} are needed" in text
    assert SHORT not in text


def test_the_rest_layer_refuses_a_short_token() -> None:
    """It would fit no engine."""
    with pytest.raises(ValidationError, match=f"at least {MIN_SECRET_CHARS} are needed"):
        ApiSettings(_env_file=None, rpc_token=SecretStr(SHORT), token_secret=SecretStr("x" * 32))


def test_secrets_of_the_least_length_are_accepted() -> None:
    """Sixteen characters."""
    least = "x" * MIN_SECRET_CHARS
    settings = Settings(_env_file=None, rpc_token=SecretStr(least), ami_password=SecretStr(least))
    assert settings.rpc_token.get_secret_value() == least


def test_short_keys_are_refused_while_they_change_too() -> None:
    """An old secret still signs tokens, and a further key still decrypts."""
    values: dict[str, Any] = {"rpc_token": SECRET, "token_secret": "x" * 32}
    with pytest.raises(ValidationError, match="old_token_secrets"):
        ApiSettings(_env_file=None, **values, old_token_secrets=["short"])
    with pytest.raises(ValidationError, match="further_store_keys"):
        Settings(_env_file=None, rpc_token=SecretStr(SECRET), further_store_keys=["short"])
