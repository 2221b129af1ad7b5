"""Draws the pictures of the docs: `python -m tools.docs.pictures` (`make docs`)."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tools.docs.pictures.ladder import survival, tutorial
from tools.docs.pictures.overview import architecture, takeover

FOLDER = Path(__file__).parents[3] / "docs/pictures"
PICTURES: Mapping[str, Callable[[], str]] = {
    "architecture.svg": architecture,
    "survival.svg": survival,
    "takeover.svg": takeover,
    "tutorial.svg": tutorial,
}


def main() -> None:
    """Write all pictures."""
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw())


if __name__ == "__main__":
    main()
