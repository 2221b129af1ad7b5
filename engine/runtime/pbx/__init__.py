"""Translation between the core and Asterisk."""
