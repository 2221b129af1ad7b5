"""What an engine is assembled from, and how it starts and stops."""
