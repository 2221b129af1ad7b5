"""Commands that run a program until SIGTERM."""
