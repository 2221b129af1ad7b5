"""Benches: what a call costs and how long callers wait, beside Asterisk's own dialplan."""
