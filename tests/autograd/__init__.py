"""The tape: graphs, gradients, views and in-place writes, hooks, errors."""
