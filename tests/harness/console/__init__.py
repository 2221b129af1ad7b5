"""What builds, checks and drives the console."""
