"""What a command shows: a value, as a table for people, or as JSON or YAML for programs."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from cyclopts import Parameter
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from base.exit_status import ExitStatus
from cli.adaptive_table import AdaptiveTable
from wire.decoding.texts import BIDI_CONTROLS

OutputFormat = Literal["table", "json", "yaml"]
OutputFlag = Annotated[
    OutputFormat, Parameter(name=("--output", "-o"), help="Format of the output.")
]
Row = Mapping[str, Any]
Column = tuple[str, str | Callable[[Row], str]]  # its heading; the field of a row, or its text
MAX_WIDTH = 120  # columns of a pipe
_CONTROLS = {
    code: "\ufffd"
    for code in (*range(0x20), *range(0x7F, 0xA0), *BIDI_CONTROLS)
    if chr(code) not in "\t\n"
}
_UNESCAPED = re.compile(rb"\x7f|\xc2([\x80-\x9f])")  # controls that JSON may have as they are
# Letters first, then what no YAML reader takes for a mark; words that are values are quoted.
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./+@-]*(?: [A-Za-z0-9_./+@-]+)*")
_VALUES = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


class Shown(NamedTuple):
    """A value for programs, with its lines and tables for people."""

    value: Any
    items: tuple[RenderableType, ...] = ()
    status: int = ExitStatus.DONE
    reason: str = ""  # of that status, for the standard error


def shown(value: Any, *items: RenderableType) -> Shown:
    """Return a value and how people see it."""
    return Shown(value, items)


def json_shown(value: Any) -> Shown:
    """Return a document, which people see as JSON, too."""
    return Shown(value, (msgspec.json.format(msgspec.json.encode(value)).decode(),))


def rows_shown(rows: Sequence[Row], columns: Iterable[Column], empty: str) -> Shown:
    """Return a list as JSON, and as a table with these columns; without rows, as a text."""
    named = tuple(columns)
    cells = [tuple(_cell(row, source) for _, source in named) for row in rows]
    table = AdaptiveTable(tuple(heading for heading, _ in named), cells)
    return Shown(list(rows), (table if rows else empty,))


def fields_shown(value: Row, names: Iterable[tuple[str, str]] = ()) -> Shown:
    """Return an object as JSON, and as a table of its fields; `names` chooses and names them."""
    chosen = tuple(names) or tuple((each, each) for each in value)
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for heading, name in chosen:
        if text := cell_text(value.get(name)):
            table.add_row(heading, text)
    return Shown(value, (table,))


def _cell(row: Row, source: str | Callable[[Row], str]) -> str:
    return cell_text(row.get(source)) if isinstance(source, str) else source(row)


def cell_text(value: Any) -> str:
    """Return a value of JSON as the text of a table's cell."""
    match value:
        case None | "":
            return ""
        case dict() | list() | tuple() if not value:
            return ""
        case True:
            return "yes"
        case False:
            return "no"
        case str():
            return value
        case list() | tuple() if all(isinstance(each, str) for each in value):
            return " ".join(value)
        case dict() | list() | tuple():
            return msgspec.json.encode(value).decode()
        case _:
            return str(value)


class PlainConsole(Console):
    """Prints texts of strangers: their control characters could change the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(text.translate(_CONTROLS), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """See Console; also texts that have a style already."""
        for each in super().render(renderable, options):
            yield each if each.control else each._replace(text=each.text.translate(_CONTROLS))


def write_items(*items: RenderableType) -> None:
    """Print for people: without markup in names and without wrapping ids."""
    console = PlainConsole(highlight=False, markup=False)
    if not console.is_terminal:
        console = PlainConsole(highlight=False, markup=False, width=MAX_WIDTH)
    for each in items:
        console.print(each, soft_wrap=isinstance(each, str))


def write_shown(found: Shown, output: OutputFormat) -> None:
    """Print a value in the format that is wanted, and the reason of its status."""
    if found.reason:
        PlainConsole(stderr=True, highlight=False, markup=False).print(found.reason, soft_wrap=True)
    if output == "table":
        write_items(*found.items)
        return
    if output == "json":
        _write(msgspec.json.format(_json(found.value)) + b"\n")
    else:
        _write(_yaml(found.value))


def write_next(value: Any, output: OutputFormat, *items: RenderableType) -> None:
    """Print one value of a stream: a JSON object a line, or a YAML document with `---` before."""
    match output:
        case "table":
            write_items(*items)
        case "json":
            _write(_json(value) + b"\n")
        case "yaml":
            _write(b"---\n" + _yaml(value))


def _json(value: Any) -> bytes:
    return _UNESCAPED.sub(lambda found: b"\\u%04x" % found[0][-1], msgspec.json.encode(value))


def _yaml(value: Any) -> bytes:
    # As JSON has it: a tuple is a list.
    return yaml_text(msgspec.json.decode(msgspec.json.encode(value))).encode()


def _write(text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def yaml_text(value: Any) -> str:
    """Return a JSON value as a YAML document."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _entry(f"{_scalar(key)}:", item, indent="" if _is_list(item) else "  ")
    elif _is_list(value):
        for item in value:
            first, *rest = _lines(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _entry(name: str, item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, (dict, list)) and item:
        yield name
        yield from (f"{indent}{line}" for line in _lines(item))
    else:
        yield f"{name} {_scalar(item)}"


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _VALUES:
        return value
    # JSON is YAML, but for characters that no reader must accept as they are.
    text = json.dumps(value, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in text)
