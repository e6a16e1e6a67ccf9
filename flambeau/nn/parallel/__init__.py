"""Networks on several devices."""

from flambeau.nn.parallel.data_parallel import DataParallel as DataParallel
from flambeau.nn.parallel.data_parallel import data_parallel as data_parallel
from flambeau.nn.parallel.distributed import DistributedDataParallel as DistributedDataParallel
from flambeau.nn.parallel.parallel_apply import parallel_apply as parallel_apply
from flambeau.nn.parallel.replicate import replicate as replicate
from flambeau.nn.parallel.scatter_gather import gather as gather
from flambeau.nn.parallel.scatter_gather import scatter as scatter

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]
