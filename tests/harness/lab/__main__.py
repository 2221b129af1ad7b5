"""The development lab: `python -m tests.harness.lab up|down|status|logs`."""

import argparse
import asyncio
import sys

from tests.harness.lab.commands import down, logs, status, up

COMMANDS = {"up": up, "down": down, "status": status, "logs": logs}


def main() -> None:
    """Run the named command."""
    parser = argparse.ArgumentParser(prog="python -m tests.harness.lab", description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    try:
        asyncio.run(COMMANDS[parser.parse_args().command]())
    except KeyboardInterrupt:
        sys.exit(130)
    except (RuntimeError, PermissionError, TimeoutError) as error:
        sys.exit(f"switchroom lab: {error}")


if __name__ == "__main__":
    main()
