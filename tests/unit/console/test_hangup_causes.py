"""The console's words for hangup causes: those of commands."""

import re

from api.console.static_files import FOLDER
from wire.programs.hangup_causes import CAUSES


def test_the_console_has_the_words_of_commands() -> None:
    """Each cause, and no other."""
    source = (FOLDER / "lib/hangup-causes.js").read_text()
    found = re.findall(r'^  (\d+): "(.+)",$', source, re.MULTILINE)
    assert {int(number): text for number, text in found} == CAUSES
