"""The operator's settings of the messaging platform."""

import json

import pytest
from pydantic import ValidationError

from api.config import Settings
from api.messaging_platform.settings import MsgappSettings

ACCOUNTS = {"acme": {"business_id": "102290129340398", "token": "t0ken"}}


def test_tokens_go_over_tls() -> None:
    """A URL without TLS is allowed on this machine only."""
    for good in ("https://graph.example.com", "http://127.0.0.1:9000", "http://[::1]:9000"):
        assert MsgappSettings.model_validate({"url": good}).url
    for bad in ("http://graph.example.com", "http://127.0.0.1.example.com", "ftp://127.0.0.1"):
        with pytest.raises(ValidationError):
            MsgappSettings.model_validate({"url": bad})


@pytest.mark.parametrize(
    "given",
    [
        {"version": "23"},
        {"version": "v23.0/../.."},
        {"accounts": {"acme": {"business_id": "a/b", "token": "x"}}},
        {"accounts": {"acme": {"business_id": "1", "token": ""}}},
        {"accounts": {"acme": {"business_id": "1"}}},
        {"app_id": "a/b"},
        {"app_secret": ""},
        {"verify_token": ""},
        {"tokens": {}},
    ],
)
def test_invalid_settings(given: object) -> None:
    """They are rejected at startup."""
    with pytest.raises(ValidationError):
        MsgappSettings.model_validate(given)


def test_they_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one JSON, with separate fields; a token is not shown."""
    # pydantic-settings reads only the environment of this process.
    monkeypatch.setenv("SWITCHROOM_RPC_TOKEN", "x" * 16)
    monkeypatch.setenv("SWITCHROOM_TOKEN_SECRET", "x" * 32)
    monkeypatch.setenv("SWITCHROOM_MSGAPP", json.dumps({"accounts": ACCOUNTS}))
    monkeypatch.setenv("SWITCHROOM_MSGAPP__VERSION", "v24.0")
    found = Settings(_env_file=None).msgapp
    assert found.accounts["acme"].token.get_secret_value() == "t0ken"
    assert found.version == "v24.0"
    assert "t0ken" not in repr(found)
