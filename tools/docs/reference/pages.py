"""All files of the reference with their contents, and those that nothing generates any more."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from tools.docs.reference.commands import command_pages, command_table, common_table
from tools.docs.reference.errors import error_pages
from tools.docs.reference.events import common_fields, event_pages, kinds_table
from tools.docs.reference.limits import limits_table as table_of_limits
from tools.docs.reference.markdown import with_blocks
from tools.docs.reference.settings import (
    engine_settings,
    pbx_settings,
    rest_settings,
    speech_settings,
    streams_settings,
)
from tools.docs.reference.verbs import (
    common_errors,
    limits_table,
    ssml_table,
    verb_pages,
    verb_table,
)
from tools.docs.reference.webhooks import webhook_pages, webhook_table

DOCS = Path(__file__).parents[3] / "docs"
REFERENCE = DOCS / "reference"
# Written pages with generated blocks.
BLOCKS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "verbs.md": {"verbs": verb_table},
    "verbs/common.md": {"limits": limits_table, "errors": common_errors},
    "verbs/speech.md": {"ssml": ssml_table},
    "webhooks.md": {"webhooks": webhook_table},
    "commands.md": {"commands": command_table, "options": common_table},
    "settings.md": {
        "engine": engine_settings,
        "rest": rest_settings,
        "streams": streams_settings,
        "speech": speech_settings,
        "pbx": pbx_settings,
    },
    "events.md": {"events": kinds_table, "common": common_fields},
    "../operations/security.md": {"limits": table_of_limits},
}
_WRITTEN = {
    "common.md",
    "digits.md",
    "speech.md",
    "spoken-input.md",
}  # in folders of generated pages
_FOLDERS = ("commands", "verbs", "webhooks", "events")


def sources() -> dict[Path, str]:
    """Return the contents of all files that `make docs` writes."""
    pages = {**verb_pages(), **webhook_pages(), **event_pages(), **command_pages()}
    pages |= error_pages()
    written = {
        name: with_blocks((REFERENCE / name).read_text(), blocks) for name, blocks in BLOCKS.items()
    }
    return {REFERENCE / name: text for name, text in {**pages, **written}.items()}


def stale_pages(current: Collection[Path]) -> list[Path]:
    """Return the pages of folders that nothing generates: their verb or body was removed."""
    found = (path for folder in _FOLDERS for path in (REFERENCE / folder).glob("*.md"))
    return [path for path in found if path not in current and path.name not in _WRITTEN]
