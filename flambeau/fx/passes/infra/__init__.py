"""Building blocks of passes over graphs."""
