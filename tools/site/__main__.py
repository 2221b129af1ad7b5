"""Builds the site: `python -m tools.site` (`make site`).

It writes `.site/html`, with llms.txt, and fails on a broken link and on anything that a browser
would load from another host.
"""

import sys

from tools.site.build import build
from tools.site.mermaid import fetch_mermaid
from tools.site.pages import ROOT

FOLDER = ROOT / ".site"
MAX_SHOWN = 40


def main() -> None:
    """Build and check; exit with 1 if something is wrong."""
    script = fetch_mermaid(FOLDER / "cache")
    if script is None:
        sys.stderr.write("npm does not give mermaid: the site has its diagrams as text\n")
    faults = build(FOLDER, script)
    for each in faults[:MAX_SHOWN]:
        sys.stderr.write(f"{each}\n")
    if faults:
        sys.exit(f"the site has {len(faults)} faults")
    sys.stdout.write(f"the site is in {FOLDER / 'html'}\n")


if __name__ == "__main__":
    main()
