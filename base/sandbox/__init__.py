"""Restricts a process that parses untrusted files: no network, no programs, few files."""
