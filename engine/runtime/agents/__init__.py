"""Agents: directory, endpoints, presence and status."""
