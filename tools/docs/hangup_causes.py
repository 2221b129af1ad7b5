"""Writes the console's words for hangup causes from those of commands.

`python -m tools.docs.hangup_causes` (`make docs`)
"""

import json

from api.console.static_files import FOLDER
from base.hangup_causes import CAUSES

FILE = FOLDER / "lib/hangup-causes.js"
_HEAD = """\
// @ts-check
// Texts for hangup causes, generated from `base/hangup_causes.py` by `make docs`.

/** @type {Record<number, string>} ITU-T Q.850, table 1 */
export const CAUSES = {
"""


def source() -> str:
    """Return the text of the module."""
    rows = (f"  {number}: {json.dumps(text)},\n" for number, text in CAUSES.items())
    return f"{_HEAD}{''.join(rows)}}};\n"


def main() -> None:
    """Write the module."""
    FILE.write_text(source())


if __name__ == "__main__":
    main()
