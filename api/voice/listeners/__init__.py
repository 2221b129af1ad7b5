"""Listeners: developers' machines that answer the webhooks of a number or call."""
