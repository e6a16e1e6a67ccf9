"""The databases behind torch's own tests, run on torch and on Flambeau."""
