"""Tables of the settings, from the classes that read them."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from runpy import run_path
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from api.config import DatabaseSettings
from api.config import Settings as ApiSettings
from api.messaging_platform.settings import BusinessAccount, MsgappSettings
from base.limit import Limit
from engine.config import Settings
from engine.settings.nodes import NodeSettings
from engine.settings.rpc import RpcClientSettings
from speech.settings import Settings as SpeechSettings
from streams.settings import Settings as StreamsSettings
from tools.docs.reference.markdown import code, table
from tools.docs.reference.shapes import NOTHING, kind_of

PREFIX = "SWITCHROOM_"
_PAGE_LINK = re.compile(r"\]\((?!#|https?:)([^)]+)\)")  # from the folder docs
_UNIT = re.compile(r"(?<!_per)_(s|ms|bytes)$")
Part = tuple[str, type[BaseModel], tuple[str, ...]]  # title, class, fields


def engine_settings() -> str:
    """Return the tables of an engine's settings, by subject."""
    groups = _groups(Settings)
    return "\n".join(
        (
            *(_section(_title(each), each, tuple(each.model_fields), PREFIX) for each in groups),
            *_parts(("Fields of a node", NodeSettings), ("Fields of a client", RpcClientSettings)),
        )
    )


def rest_settings() -> str:
    """Return the tables of the settings of the REST layer, by subject."""
    groups = _groups(ApiSettings)
    in_groups = {name for each in groups for name in each.model_fields}
    own = tuple(name for name in ApiSettings.model_fields if name not in in_groups)
    ordered = (*DatabaseSettings.model_fields, *own)
    return "\n".join(
        (
            _section("Server", ApiSettings, tuple(dict.fromkeys(ordered)), PREFIX),
            *(_section(_title(each), each, tuple(each.model_fields), PREFIX) for each in groups),
            *_parts(
                ("Fields of the messaging platform", MsgappSettings),
                ("Fields of a business account", BusinessAccount),
            ),
        )
    )


def streams_settings() -> str:
    """Return the table of the settings of a stream gateway."""
    return _section("Gateway", StreamsSettings, tuple(StreamsSettings.model_fields), PREFIX)


def speech_settings() -> str:
    """Return the table of the settings of the speech recognizers."""
    return _section("Recognizers", SpeechSettings, tuple(SpeechSettings.model_fields), PREFIX)


def pbx_settings() -> str:
    """Return the table of a PBX node's settings; its folder is no package."""
    path = Path(__file__).parents[3] / "asterisk-config/node_settings.py"
    rows = [
        (code(f"PBX_{name}"), _node_default(each), linked(each.meaning))
        for name, each in run_path(str(path))["SETTINGS"].items()
    ]
    return table(("setting", "default", "meaning"), rows)


def _node_default(setting: Any) -> str:
    if setting.default:
        return code(setting.default)
    if setting.without:
        return str(setting.without)
    return NOTHING if setting.default is not None else "**required**"


def _groups(settings: type[BaseSettings]) -> list[type[BaseModel]]:
    """Return the classes that settings consist of, one for each subject."""
    bases = (each for each in settings.__bases__ if issubclass(each, BaseModel))
    return [each for each in bases if not issubclass(each, BaseSettings)]


def _title(group: type[Any]) -> str:
    return (group.__doc__ or "").partition(".")[0]


def _parts(*parts: tuple[str, type[BaseModel]]) -> Iterator[str]:
    """Yield the tables of the objects in settings."""
    for title, kind in parts:
        yield _section(title, kind, tuple(kind.model_fields), "")


def _section(title: str, kind: type[BaseModel], names: Iterable[str], prefix: str) -> str:
    schemas = kind.model_json_schema()["properties"]
    head = ("setting" if prefix else "field", "type and limits", "default", "meaning")
    rows = [
        (
            code(f"{prefix}{name.upper()}" if prefix else name),
            _kind(name, schemas[name]),
            default_of(kind.model_fields[name]),
            linked(_meaning(kind.model_fields[name])),
        )
        for name in names
    ]
    return f"### {title}\n\n{table(head, rows)}"


def _meaning(field: FieldInfo) -> str:
    """Return what a setting means; of a limit, also what more of it gets."""
    beyond = [f"More: {each.beyond}." for each in field.metadata if isinstance(each, Limit)]
    return " ".join((field.description or "", *beyond))


def _kind(name: str, schema: Any) -> str:
    unit = _UNIT.search(name)
    return kind_of(schema) + (f" ({unit[1]})" if unit else "")


def default_of(field: FieldInfo) -> str:
    """Return the default as it is written in the environment; a dash: there is none."""
    if field.is_required():
        return "**required**"
    value = field.default
    if field.default_factory is not None or isinstance(value, BaseModel | SecretStr):
        return NOTHING
    if isinstance(value, bool):
        return code(json.dumps(value))
    if value is None or value in ("", (), {}):
        return NOTHING
    if isinstance(value, tuple):
        plain = [each if isinstance(each, int | float) else str(each) for each in value]
        return code(json.dumps(plain))
    return code(value.as_posix() if isinstance(value, PurePath) else str(value))


def linked(text: str) -> str:
    """Return a text with its links as they are from the page of settings."""
    return _PAGE_LINK.sub(r"](../\1)", text)
