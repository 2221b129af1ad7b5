"""Traces of both layers: their interface, and OpenTelemetry behind it."""
