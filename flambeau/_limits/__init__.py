"""Where Flambeau ends: what it refuses, with the remedy, and what it takes without effect."""
