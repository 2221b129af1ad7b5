"""`python -m engine.ari.generator FOLDER VERSION`: FOLDER is its `rest-api`."""

import sys
from pathlib import Path

from engine.ari.generator.description import read
from engine.ari.generator.write import render, write


def main(arguments: list[str]) -> None:
    """Generate the package next to this one."""
    folder, version = arguments
    write(render(read(Path(folder)), version), Path(__file__).parents[1] / "generated")


main(sys.argv[1:])
