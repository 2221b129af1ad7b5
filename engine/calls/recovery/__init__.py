"""Reconciles a call with its PBX after an outage."""
