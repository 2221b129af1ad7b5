"""The option that lets a change fail if another person has made one meanwhile."""

from typing import Annotated

from cyclopts import Parameter

IfVersion = Annotated[
    int | None,
    Parameter(help="Only if it still has this version; 0: only if there is none yet."),
]
