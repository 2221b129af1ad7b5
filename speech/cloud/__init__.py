"""Recognizers that are services of others, over plain websockets."""
