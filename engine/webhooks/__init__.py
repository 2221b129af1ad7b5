"""Asking and telling customers' servers over HTTP: guarded, signed, bounded in time and size."""
