"""The tensor class and what belongs to it: storage, printing, pickling, dtypes, modes, settings."""
