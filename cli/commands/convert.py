"""`switchroom convert`: documents of other platforms become trees of verbs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from rich.console import Console

from base.exit_status import ExitStatus
from cli.errors import UsageError, exit_on_errors
from cli.help import with_example
from cli.output import OutputFlag, json_shown, write_shown

if TYPE_CHECKING:
    from cli.convert.context import Context
    from cli.convert.result import Converted

convert = App(
    name="convert",
    help=with_example("Convert documents of other platforms.", "convert twiml menu.xml"),
)
STANDARD_INPUT = "-"
BaseUrl = Annotated[
    str, Parameter(help="Address of the document: completes relative ones and a missing action.")
]
Region = Annotated[
    str, Parameter(help="Country of numbers without a country code (ISO 3166), such as US.")
]


@convert.command
@exit_on_errors
def twiml(
    file: Annotated[
        Path, Parameter(help="TwiML document; - for standard input.", allow_leading_hyphen=True)
    ],
    *,
    base_url: BaseUrl = "",
    region: Region = "",
    output: OutputFlag = "json",
) -> None:
    """Print the tree of verbs that does what a TwiML document does.

    What is different, or has no counterpart, is named on standard error with its line.

    Exit status: 0 all of it is converted, if with differences; 1 a part is not; 2 it is not TwiML.

    Example: switchroom convert twiml menu.xml
    """
    from cli.convert.twiml.convert import convert as convert_document  # noqa: PLC0415 - XML's imports

    _convert(file, convert_document, base_url, region, output)


@convert.command
@exit_on_errors
def jambonz(
    file: Annotated[
        Path,
        Parameter(
            help="Verbs of jambonz, a JSON array; - for standard input.", allow_leading_hyphen=True
        ),
    ],
    *,
    base_url: BaseUrl = "",
    region: Region = "",
    output: OutputFlag = "json",
) -> None:
    """Print the tree of verbs that does what an array of jambonz' verbs does.

    What is different, or has no counterpart, is named on standard error with the line of its verb.

    Exit status: 0 all of it is converted, if with differences; 1 a part is not; 2 it is no array.

    Example: switchroom convert jambonz menu.json
    """
    from cli.convert.jambonz.convert import convert as convert_document  # noqa: PLC0415 - slow for other commands

    _convert(file, convert_document, base_url, region, output)


def _convert(
    file: Path,
    convert_document: "Callable[[bytes, Context], Converted]",
    base_url: str,
    region: str,
    output: OutputFlag,
) -> None:
    from cli.convert.context import InvalidContext, context  # noqa: PLC0415 - slow for other commands
    from cli.convert.result import MAX_BYTES, DocumentError  # noqa: PLC0415 - slow for other commands

    name = "standard input" if str(file) == STANDARD_INPUT else str(file)
    try:
        converted = convert_document(_content(file, MAX_BYTES), context(base_url, region))
    except InvalidContext as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{name}: {(error.strerror or str(error)).lower()}") from None
    except DocumentError as error:
        raise UsageError(f"{name}: {error}") from None
    notes = Console(stderr=True, highlight=False, markup=False)
    for each in converted.remarks:
        notes.print(f"{name}:{each.line}: {each.text}", soft_wrap=True)
    write_shown(json_shown(converted.action), output)
    if not converted.is_complete:
        raise SystemExit(ExitStatus.NEGATIVE)


def _content(file: Path, limit: int) -> bytes:
    """Return at most one byte more than is accepted: a device may have no end."""
    if str(file) == STANDARD_INPUT:
        return sys.stdin.buffer.read(limit + 1)
    with file.open("rb") as opened:
        return opened.read(limit + 1)
