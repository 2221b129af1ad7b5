"""An engine's settings as a test gives them: not those of whoever runs it."""

from collections.abc import Mapping
from typing import Any

from engine.config import Settings


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Make settings, without the `.env` of the folder; raises ValidationError."""
    return Settings(_env_file=None, **values)
