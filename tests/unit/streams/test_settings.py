"""Settings of a stream gateway: invalid values are rejected with the name of their setting."""

import pytest
from pydantic import SecretStr

from streams.app.settings import Settings
from wire.programs.invalid_settings import InvalidSettings
from wire.settings import load


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
    token = SecretStr("t" * 32)
    settings = Settings(streams_token=token, speech_token=token, streams_recognizers=None)
    assert settings.recognizers is None
