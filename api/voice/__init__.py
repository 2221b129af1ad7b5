"""Voice: calls made, looked at and steered; transfers and conferences are in `sessions`."""
