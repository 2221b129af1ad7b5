"""`switchroom completion`: the script that lets a shell complete commands and options."""

import sys
from typing import Annotated, Literal

from cyclopts import Parameter


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish"], Parameter(name="SHELL", help="Shell of the script.")
    ],
) -> None:
    """Print the completion script of a shell.

    Example: switchroom completion bash
    """
    from cli.tree import app  # noqa: PLC0415 - the tree names this module

    sys.stdout.write(app.generate_completion(shell=shell))
