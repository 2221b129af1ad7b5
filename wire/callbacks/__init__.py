"""Status callbacks: an account's own, and where they are sent."""
