"""Datasets made of small steps: ``IterableWrapper(range(9)).shuffle().batch(3).map(fn)``."""

from flambeau.utils.data.datapipes import iter as iter
from flambeau.utils.data.datapipes import map as map
