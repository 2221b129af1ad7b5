"""Engine settings for tests, independent of the developer's `.env`."""

from collections.abc import Mapping
from typing import Any

from engine.config import Settings


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings without reading `.env`; raises ValidationError."""
    return Settings(_env_file=None, **values)
