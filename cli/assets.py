"""`switchroom asset`: the files that an installation brings for operators, written to a folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import App, Parameter

from cli.errors import NotFound, UsageError, error_text, exit_on_errors
from cli.help import with_example
from cli.output import OutputFlag, rows_shown, shown, write_shown

# The repository; in a wheel, the folder of the packages, to which pyproject.toml adds the files.
_ROOT = Path(__file__).parents[1]
_UNWANTED = "__pycache__"


class _Asset(NamedTuple):
    """A file or folder of the repository."""

    path: str
    text: str


ASSETS = {
    "asterisk-config": _Asset(
        "asterisk-config", "configuration of a PBX node, with prepare.py, which fills it in"
    ),
    "alerts": _Asset("docs/operations/alerts.yaml", "alert rules for Prometheus"),
    "dashboard": _Asset("docs/operations/dashboard.json", "dashboard for Grafana"),
}

asset = App(
    name="asset",
    help=with_example(
        "List the files for operators, and save them to a folder.", "asset save asterisk-config pbx"
    ),
)


@asset.command(name="list")
@exit_on_errors
def list_(*, output: OutputFlag = "table") -> None:
    """List the files that this installation brings.

    Example: switchroom asset list
    """
    rows = [{"name": name, "text": each.text} for name, each in ASSETS.items()]
    write_shown(rows_shown(rows, [("name", "name"), ("what it is", "text")], ""), output)


@asset.command
@exit_on_errors
def save(
    name: Annotated[str, Parameter(help="Name, from `switchroom asset list`.")],
    folder: Annotated[Path, Parameter(help="Folder to write to; it is created.")],
    *,
    force: Annotated[
        bool, Parameter(help="Replace files that differ from those of this version.", negative="")
    ] = False,
    output: OutputFlag = "table",
) -> None:
    """Write the files of a name to a folder; without --force, only if none of them is replaced.

    Example: switchroom asset save asterisk-config pbx
    """
    if name not in ASSETS:
        raise NotFound("asset", name)
    try:
        written = _save(_ROOT / ASSETS[name].path, folder, is_forced=force)
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: {error_text(error)}") from None
    paths = [str(each) for each in written]
    write_shown(shown({"name": name, "files": paths}, *paths), output)


def _save(source: Path, folder: Path, *, is_forced: bool) -> list[Path]:
    """Write all files, or none if one of them would be replaced; return their paths."""
    base = source.parent if source.is_file() else source
    targets = {each: folder / each.relative_to(base) for each in _files(source)}
    changed = [each for each in targets if _differs(each, targets[each])]
    if changed and not is_forced:
        raise UsageError(f"{targets[changed[0]]} exists and differs; --force replaces it")
    for each, target in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(each.read_bytes())
    return list(targets.values())


def _files(source: Path) -> Iterator[Path]:
    found = [source] if source.is_file() else sorted(source.rglob("*"))
    return (each for each in found if each.is_file() and _UNWANTED not in each.parts)


def _differs(source: Path, target: Path) -> bool:
    return target.exists() and target.read_bytes() != source.read_bytes()
