"""`switchroom new`: create an application from a sample, without a network or an engine."""

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from cli.errors import UsageError, exit_on_errors
from cli.new.instructions import instructions
from cli.new.project import Framework, Sample, create_project
from cli.output import OutputFlag, shown, write_shown


@exit_on_errors
def new(  # noqa: PLR0913 - one parameter per option
    sample: Annotated[Sample, Parameter(name="SAMPLE", help="What the application does.")],
    folder: Annotated[
        Path | None, Parameter(name="DIR", help="Folder to create; default: the sample's name.")
    ] = None,
    *,
    fastapi: Annotated[bool, Parameter(help="In Python, with FastAPI.")] = False,
    flask: Annotated[bool, Parameter(help="In Python, with Flask.")] = False,
    express: Annotated[bool, Parameter(help="In TypeScript, with Express.")] = False,
    output: OutputFlag = "table",
) -> None:
    """Create an application from a sample, and print the commands that run it.

    Example: switchroom new ivr --fastapi
    """
    chosen: list[Framework] = []
    chosen += ["fastapi"] if fastapi else []
    chosen += ["flask"] if flask else []
    chosen += ["express"] if express else []
    if len(chosen) != 1:
        raise UsageError("one of --fastapi, --flask and --express is required")
    project = create_project(sample, chosen[0], folder or Path(sample))
    how = instructions(sample, chosen[0], project, os.environ)
    value = {"folder": str(project.folder), "commands": list(how.commands)}
    write_shown(shown(value, "\n".join(how.lines)), output)
