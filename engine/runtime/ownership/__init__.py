"""Slots that this engine owns, and how calls are taken over."""
