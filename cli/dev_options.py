"""Options that several commands of `switchroom dev` have."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

Folder = Annotated[
    Path | None,
    Parameter(name="--dir", help="Folder of the state; default: ~/.local/state/switchroom/dev."),
]
Nodes = Annotated[int | None, Parameter(help="PBX nodes, 1 or 2; default: as before, or 1.")]
PortBase = Annotated[
    int | None,
    Parameter(
        help="First of some 500 ports in a row; default: as before, or the usual ones (8070, 8000,"
        " 6390, 5060, 5080, 8088, 5038); 0 for those. From 32768 on, mostly, outgoing connections"
        " may have one of them."
    ),
]
Provider = Annotated[
    Literal["docker", "path", "debian"] | None,
    Parameter(
        name="--pbx",
        help="Where Asterisk comes from: a container, the PATH, or a private Debian root;"
        " default: SWITCHROOM_PBX, or the first that this machine has.",
    ),
]
SettingsFile = Annotated[
    Path | None,
    Parameter(
        name="--settings",
        help="File that keeps all settings, instead of DIR/settings.env and a part of .env.",
    ),
]
KeptSettings = Annotated[
    Path | None,
    Parameter(
        name="--settings",
        help="File that keeps the lab's settings: the folder in it is the default of --dir.",
    ),
]
