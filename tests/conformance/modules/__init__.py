"""Programs with modules that must do the same in both frameworks. One subject a file."""
