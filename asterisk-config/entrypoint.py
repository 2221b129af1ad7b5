#!/usr/bin/env python3
"""Writes the configuration for this container's PBX_ variables, then becomes Asterisk.

Asterisk runs under jemalloc, which takes 0.6 times the memory.
"""

import os
import sys
from pathlib import Path

import prepare

TARGET = "/srv/switchroom"

if __name__ == "__main__":
    sys.argv[1:] = [TARGET]
    prepare.main()
    os.environ["LD_PRELOAD"] = str(next(Path("/usr/lib").glob("*/libjemalloc.so.2")))
    command = ("asterisk", "-C", f"{TARGET}/etc/asterisk.conf", "-f", "-n")
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
