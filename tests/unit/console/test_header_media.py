"""The files of headers that the console offers: those that the server accepts, and no others."""

import re

from api.console.static_files import FOLDER
from api.templates.media import KINDS, MEGABYTE

SOURCE = (FOLDER / "account/template-media.js").read_text()


def test_kinds_types_and_sizes_are_the_servers() -> None:
    """So a form rejects no file that the server accepts."""
    found = re.findall(
        r'^  ([a-z]+): \{ accept: "(.*)", types: .*, maxMib: (\d+) \},$', SOURCE, re.MULTILINE
    )
    shown = {kind: (int(mib) * MEGABYTE, frozenset(types.split(","))) for kind, types, mib in found}
    assert shown == KINDS
