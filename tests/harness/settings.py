"""Engine settings for tests, independent of the developer's `.env`."""

from collections.abc import Mapping
from typing import Any

from engine.config import Settings

SECRET = "secret-of-a-test-0123456789"  # noqa: S105 - of no installation


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings, with a token, without reading `.env`; raises ValidationError."""
    return Settings(_env_file=None, **{"rpc_token": SECRET, **values})
