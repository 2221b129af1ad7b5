"""Programs that are started, found again and stopped by their process ids."""
