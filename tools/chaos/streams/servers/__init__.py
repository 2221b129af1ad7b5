"""The programs that faults are injected into, and the bots that callers talk to."""
