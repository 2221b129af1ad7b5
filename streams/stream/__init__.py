"""One stream: its audio in both directions, its marks, who speaks, and barge-in."""
