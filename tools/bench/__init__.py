"""Benches: CPU per call and waiting times, compared with Asterisk's dialplan."""
