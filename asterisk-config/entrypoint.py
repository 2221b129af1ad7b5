#!/usr/bin/env python3
"""Writes the configuration for this container's PBX_ variables, then becomes Asterisk.

Asterisk runs under jemalloc, which takes 0.6 times the memory; beside it runs what bounds its
media cache.
"""

import os
import subprocess
import sys
from pathlib import Path

import prepare

TARGET = "/srv/switchroom"

if __name__ == "__main__":
    sys.argv[1:] = [TARGET]
    prepare.main()
    sweeper = Path(__file__).with_name("sweep_media.py")
    subprocess.Popen((sys.executable, sweeper, f"{TARGET}/run"))  # noqa: S603 - our own script
    os.environ["LD_PRELOAD"] = str(next(Path("/usr/lib").glob("*/libjemalloc.so.2")))
    command = ("asterisk", "-C", f"{TARGET}/etc/asterisk.conf", "-f", "-n")
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
