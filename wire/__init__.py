"""Types that cross a process boundary; imports no other package of this project."""
