"""Worker processes, which decode speech outside the server's event loop."""
