"""Worker processes, which send batches through shared memory, and worker threads.

`iterator` hands out the work and keeps the order, whatever the workers are; `processes` and
`threads` are the two kinds. A worker process runs `worker`: it gets its tasks over a `channel` and
writes its batches into an `arena`. `packing` keeps large lists of Python objects from being copied
into every process.
"""

from flambeau.utils.data._workers.processes import ProcessIterator
from flambeau.utils.data._workers.threads import ThreadIterator

__all__ = ["ProcessIterator", "ThreadIterator"]
