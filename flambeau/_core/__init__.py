"""The tensor class and its surroundings: storage, printing, pickling, dtypes, modes, settings."""
