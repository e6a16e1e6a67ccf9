"""Every operator, declared once. One file per family."""
