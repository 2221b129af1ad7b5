"""Settings of transcripts: addresses, and the token that they need."""

import pytest
from pydantic import SecretStr, ValidationError

from tests.harness.api.rest import settings_for

TOKEN = SecretStr("t" * 32)


def test_none_by_default() -> None:
    """Without addresses, no token is needed."""
    assert settings_for("sqlite+aiosqlite:///x", "http://x").transcript_recognizers == ()


@pytest.mark.parametrize(
    ("addresses", "token", "said"),
    [
        (("ws://127.0.0.1:8096",), None, "transcript_recognizers need speech_token"),
        (("ws://127.0.0.1:8096",), SecretStr("short"), "at least 16 are needed"),
        (("http://127.0.0.1:8096",), TOKEN, "transcript_recognizers"),
        (("ws://",), TOKEN, "transcript_recognizers"),
    ],
)
def test_invalid_settings(addresses: tuple[str, ...], token: SecretStr | None, said: str) -> None:
    """The error names the setting, and never has the token."""
    with pytest.raises(ValidationError, match=said) as error:
        settings_for(
            "sqlite+aiosqlite:///x",
            "http://x",
            transcript_recognizers=addresses,
            speech_token=token,
        )
    assert "short" not in str(error.value)
