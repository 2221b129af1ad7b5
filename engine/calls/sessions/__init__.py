"""Actions on live calls: leg control, transfers, conferences, coaching."""
