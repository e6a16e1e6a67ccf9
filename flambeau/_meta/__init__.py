"""The device ``meta``: tensors without elements, the sizes of results, and gradients of them."""
