"""Recording programs: tapes of calls, sizes that are traced, programs that run again, and files.

``torch.jit.trace``, ``torch.export``, ``make_fx`` and the graph of TensorBoard read the same tape.
"""

__all__: list[str] = []
