"""The page of settings: all that an engine and the REST layer read, with texts and defaults."""

import re
from collections.abc import Callable

from pydantic import BaseModel
from pydantic_settings import BaseSettings

from api.config import Settings as ApiSettings
from api.messaging_platform.settings import BusinessAccount, MsgappSettings
from engine.config import Settings
from engine.settings.nodes import NodeSettings
from engine.settings.rpc import RpcClientSettings
from speech.settings import Settings as SpeechSettings
from streams.settings import Settings as StreamsSettings
from tests.harness.each import for_each
from tools.docs.reference.settings import (
    PREFIX,
    engine_settings,
    rest_settings,
    speech_settings,
    streams_settings,
)

PAGES: dict[type[BaseSettings], Callable[[], str]] = {
    Settings: engine_settings,
    ApiSettings: rest_settings,
    StreamsSettings: streams_settings,
    SpeechSettings: speech_settings,
}
SHAPES: tuple[type[BaseModel], ...] = (
    *PAGES,
    NodeSettings,
    RpcClientSettings,
    MsgappSettings,
    BusinessAccount,
)


@for_each(SHAPES, lambda shape: f"{shape.__module__}.{shape.__name__}")
def test_every_setting_is_described(shape: type[BaseModel]) -> None:
    """By more than its name."""
    for name, field in shape.model_fields.items():
        text = field.description or ""
        assert text.endswith("."), name
        assert text.lower().strip(".").replace(" ", "_") != name


@for_each(PAGES, lambda each: each.__module__)
def test_each_setting_has_one_row(settings: type[BaseSettings]) -> None:
    """Whichever class it comes from."""
    rows = re.findall(rf"^\| `{PREFIX}(\w+)` \|", PAGES[settings](), re.MULTILINE)
    assert sorted(rows) == sorted(name.upper() for name in settings.model_fields)


def test_defaults_and_limits_are_those_of_the_settings() -> None:
    """As they are written in the environment."""
    page = engine_settings()
    assert "| `SWITCHROOM_LEASE_S` | number, 0.5 to 30 (s) | `2.0` |" in page
    assert "| `SWITCHROOM_CALLBACK_RETRIES_S` | list: number, at least 0 (s) | `[0, 5, 300," in page
    assert "| `SWITCHROOM_RPC_TOKEN` | secret | **required** |" in page
    assert "| `SWITCHROOM_TRUNK_REFER` | boolean | `false` |" in page
