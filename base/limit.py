"""Marks the limits of a program, so that the table of all limits has a row for each.

Of a setting, an option of `switchroom account set`, or a constant of a module:

    max_jobs: Annotated[int, Limit("account", "429 `too_many_jobs`")] = Field(100, description=…)
    MAX_UPLOADS: Annotated[int, Limit("process", "503 `unavailable`", "Uploads at once.")] = 8

`make docs` writes the table into docs/operations/security.md.
"""

from typing import Literal, NamedTuple

Owner = Literal[
    "account", "call", "address", "request", "phone", "listener", "process", "installation"
]


class Limit(NamedTuple):
    """Of which owner something is limited, and what more of it gets.

    `what` is limited; settings and options say that in their description.
    """

    owner: Owner
    beyond: str
    what: str = ""
