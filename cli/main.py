"""The `switchroom` command."""

import sys

from cyclopts import CycloptsError

from base.exit_status import ExitStatus
from cli.tree import app
from wire.error_codes.hint import failure_lines


def main() -> None:
    """Run the command."""
    try:
        app(exit_on_error=False)
    except CycloptsError:  # it is printed
        sys.exit(ExitStatus.NOT_DONE)
    except ImportError as error:
        reason = error.__cause__ or error
        message = (
            f"{reason}: install the extra of this program, such as switchroom[api];"
            " `switchroom dev up` installs what a lab needs"
        )
        sys.stderr.write(f"{failure_lines('switchroom', message, code='packages_missing')}\n")
        sys.exit(ExitStatus.NOT_DONE)


if __name__ == "__main__":
    main()
