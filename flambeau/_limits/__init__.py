"""The limits of Flambeau: what it refuses, with the remedy, and what it accepts without effect."""
