"""Datasets, samplers and the loader that makes batches of them, as `torch.utils.data`."""

import importlib as _importlib
import typing as _typing

from flambeau.utils.data._iterator import _DatasetKind
from flambeau.utils.data.dataloader import (
    DataLoader,
    default_collate,
    default_convert,
    get_worker_info,
)
from flambeau.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from flambeau.utils.data.distributed import DistributedSampler
from flambeau.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from flambeau.utils.data.shared_list import SharedList

if _typing.TYPE_CHECKING:
    from flambeau.utils.data import datapipes as datapipes
    from flambeau.utils.data.datapipes.datapipe import DataChunk as DataChunk
    from flambeau.utils.data.datapipes.datapipe import IterDataPipe as IterDataPipe
    from flambeau.utils.data.datapipes.datapipe import MapDataPipe as MapDataPipe
    from flambeau.utils.data.datapipes.datapipe import functional_datapipe as functional_datapipe
else:

    def __getattr__(name):
        """Load the pipes on first access."""
        if name == "datapipes":
            return _importlib.import_module("flambeau.utils.data.datapipes")
        if name in ("DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe"):
            return getattr(_importlib.import_module("flambeau.utils.data.datapipes.datapipe"), name)
        raise AttributeError(f"module 'flambeau.utils.data' has no attribute {name!r}")


__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SharedList",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "_DatasetKind",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]
