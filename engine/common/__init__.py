"""Helpers for asyncio that every package of the engine may use."""
