"""What an account sees of itself: its settings and limits, and its background jobs."""
