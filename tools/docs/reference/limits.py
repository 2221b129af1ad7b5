"""The table of all limits, from the marks that the code has (`base/limit.py`)."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, get_args

from cyclopts import Parameter
from pydantic import BaseModel

from api.accounts.store import NEW_ACCOUNT
from base.limit import Limit, Owner
from cli.database.account_limits import AccountLimits
from tools.docs.reference.markdown import code, table
from tools.docs.reference.settings import PREFIX, default_of, linked
from tools.docs.reference.shapes import NOTHING

ROOT = Path(__file__).parents[3]
PACKAGES = ("api", "engine", "speech", "streams", "wire")
MARK = "import Limit"
OWNERS = get_args(Owner)


class Row(NamedTuple):
    """One limit as the table shows it."""

    owner: str
    what: str
    default: str
    setting: str
    beyond: str


def limits_table() -> str:
    """Return the table: limits of accounts first, settings before constants."""
    found = sorted(rows(), key=lambda each: (OWNERS.index(each.owner), each.setting, each.what))
    return table(("of one", "limited", "default", "set by", "more of it gets"), found)


def rows() -> Iterator[Row]:
    """Yield a row for each mark in the code."""
    for module in _marked_modules():
        yield from _constants(module)
        for kind in vars(module).values():
            if isinstance(kind, type) and kind.__module__ == module.__name__:
                yield from _fields(kind)


def _marked_modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if MARK in path.read_text():
                yield import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def _constants(module: ModuleType) -> Iterator[Row]:
    for name, limit, _ in _marks(module):
        value = getattr(module, name)
        yield Row(limit.owner, limit.what, code(str(value)), NOTHING, limit.beyond)


def _fields(kind: type[Any]) -> Iterator[Row]:
    if kind is AccountLimits:
        for name, limit, marks in _marks(kind):
            option = next(each for each in marks if isinstance(each, Parameter))
            flag = code(f"--{name.replace('_', '-')}")
            yield Row(limit.owner, option.help or "", _account_default(name), flag, limit.beyond)
    elif issubclass(kind, BaseModel):
        for name, limit, _ in _marks(kind):
            field = kind.model_fields[name]
            setting = code(PREFIX + name.upper())
            text = linked(field.description or "")
            yield Row(limit.owner, text, default_of(field), setting, limit.beyond)


def _account_default(name: str) -> str:
    value = getattr(NEW_ACCOUNT, name)
    return "none" if value is None else code(str(value))


def _marks(holder: Any) -> Iterator[tuple[str, Limit, tuple[Any, ...]]]:
    """Yield the names that a module or a class declares with a mark, and all their marks."""
    for name, kind in vars(holder).get("__annotations__", {}).items():
        marks = getattr(kind, "__metadata__", ())
        for each in marks:
            if isinstance(each, Limit):
                yield name, each, marks
