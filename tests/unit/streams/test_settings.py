"""Settings of a stream gateway: invalid values are rejected with the name of their setting."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from base.invalid_settings import InvalidSettings
from base.settings import load
from streams.bots.destinations import RecognizerServer
from streams.settings import Settings

TOKEN = SecretStr("t" * 32)


@pytest.mark.parametrize("address", ["http://127.0.0.1:8096", "ws://user:pass@host", "host"])
def test_an_invalid_address_of_recognizers(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """It is that of a websocket, without a password."""
    monkeypatch.setenv("SWITCHROOM_STREAMS_TOKEN", "g" * 32)
    monkeypatch.setenv("SWITCHROOM_SPEECH_TOKEN", "t" * 32)
    monkeypatch.setenv("SWITCHROOM_STREAMS_RECOGNIZERS", address)
    with pytest.raises(InvalidSettings, match=r"^SWITCHROOM_STREAMS_RECOGNIZERS: "):
        load(Settings)


def test_a_token_alone_is_no_recognizer() -> None:
    """A gateway without the address of recognizers has none, though it may have their token."""
    settings = Settings(streams_token=TOKEN, speech_token=TOKEN, streams_recognizers=None)
    assert settings.recognizers is None


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        ({"streams_tls_key": Path("key.pem")}, {"streams_tls_cert": Path("cert.pem")}),
        ({"streams_recognizers": "ws://127.0.0.1:8096"}, {"speech_token": TOKEN}),
    ],
)
def test_a_setting_needs_another(
    given: dict[str, Any],
    needed: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """The error names it."""
    monkeypatch.chdir(tmp_path)  # without a lab's .env
    with pytest.raises(ValidationError, match=f"needs {next(iter(needed))}"):
        Settings(streams_token=TOKEN, **given)
    Settings(streams_token=TOKEN, **given, **needed)
    Settings(streams_token=TOKEN, **needed)


def test_tokens_and_recognizers() -> None:
    """All tokens are accepted, and the recognizers get their own; a short one is refused."""
    with pytest.raises(ValidationError, match="32"):
        Settings(streams_token=SecretStr("t" * 31))
    other = SecretStr("o" * 32)
    settings = Settings(
        streams_token=TOKEN,
        further_streams_tokens=(other,),
        speech_token=other,
        streams_recognizers="ws://127.0.0.1:8096",
    )
    assert settings.tokens == ("t" * 32, "o" * 32)
    assert settings.recognizers == RecognizerServer("ws://127.0.0.1:8096", "o" * 32)


def test_a_file_of_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment is stronger."""
    file = tmp_path / "switchroom.toml"
    file.write_text(f'streams_token = "{"t" * 32}"\nstreams_port = 1\nmax_streams = 2\n')
    monkeypatch.setenv("SWITCHROOM_CONFIG", str(file))
    monkeypatch.setenv("SWITCHROOM_MAX_STREAMS", "3")
    settings = load(Settings)
    assert (settings.streams_port, settings.max_streams) == (1, 3)
