"""One slot on one PBX node: its live calls, their steps, commands and timers."""
