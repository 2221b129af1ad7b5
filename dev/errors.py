"""Why a lab cannot do what a developer wants, in one plain sentence with its remedy.

The command prints these and nothing else; any other exception is a fault of ours.
"""

from collections.abc import Sequence
from pathlib import Path

from base.invalid_settings import unreadable
from dev.caller import sudo_command


class LabError(RuntimeError):
    """A reason that a developer can remove; the code is one of the table of error codes."""

    code: str


class PortTaken(LabError):
    code = "port_taken"

    def __init__(self, name: str, port: int) -> None:
        super().__init__(
            f"{name} needs port {port}, which another program uses: stop that program, or choose"
            " other ports with --port-base"
        )


class RootNeeded(LabError):
    code = "root_needed"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs root rights, once: `{sudo_command()}`")


class NoSpace(LabError):
    code = "no_space"

    def __init__(self, folder: Path, free_bytes: int, needed_bytes: int) -> None:
        free, needed = (f"{each / 1e9:.1f} GB" for each in (free_bytes, needed_bytes))
        super().__init__(f"{folder} has {free} free, and {needed} are needed: free some space")


class NoNetwork(LabError):
    code = "no_network"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: no server could be reached; check the network and the proxy")


class ToolMissing(LabError):
    code = "tool_missing"

    def __init__(self, tool: str, remedy: str) -> None:
        super().__init__(f"the program {tool} is missing: {remedy}")


class CommandFailed(LabError):
    """A program of the system failed; its last lines say why."""

    code = "command_failed"

    def __init__(self, argv: Sequence[str], output: str) -> None:
        super().__init__(f"`{' '.join(argv)}` failed:\n{output[-3000:].strip()}")


class PackagesMissing(LabError):
    """Python packages are absent, and the developer has to install them."""

    code = "packages_missing"

    def __init__(self, reason: str, commands: Sequence[str]) -> None:
        lines = "".join(f"\n  {each}" for each in commands)
        super().__init__(f"{reason}; type:{lines}")


class NoPbx(LabError):
    """No way to run Asterisk was found."""

    code = "no_pbx"


class UnfitAsterisk(LabError):
    """The Asterisk on the PATH is too old, or lacks modules."""

    code = "unfit_asterisk"


class ServerFailed(LabError):
    """A server ended, or was not ready in time."""

    code = "server_failed"


class UnusableFolder(LabError):
    code = "unusable_folder"

    def __init__(self, error: OSError) -> None:
        where = error.filename or "the folder"
        super().__init__(f"{where}: {(error.strerror or str(error)).lower()}; choose another --dir")


class UnreadablePlan(LabError):
    code = "lab_damaged"

    def __init__(self, path: Path, error: Exception) -> None:
        super().__init__(f"{path} is damaged ({error}): delete it, and start the lab again")


class UnreadableSettings(LabError):
    code = "invalid_settings"

    def __init__(self, path: Path, error: Exception) -> None:
        super().__init__(
            unreadable(path, error)
            if isinstance(error, OSError)
            else f"{path} cannot be read: {error}"
        )


class MissingSetting(LabError):
    code = "invalid_settings"

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(f"{path} has no {name}: `switchroom dev reset` deletes this lab")


class LabBusy(LabError):
    code = "lab_busy"

    def __init__(self, folder: Path) -> None:
        super().__init__(f"another command starts or stops the lab in {folder}: wait for it")


class NotStarted(LabError):
    code = "no_lab"

    def __init__(self, folder: Path) -> None:
        super().__init__(f"no lab is in {folder}: `switchroom dev` starts one")


class CallFailed(LabError):
    """The phone got no response, or an unusable one."""

    code = "call_failed"


class BadOption(LabError):
    """An option has a value that is not allowed."""

    code = "invalid_usage"
