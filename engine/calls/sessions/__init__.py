"""What people do to a live call: leg control, transfers, conferences, coaching."""
