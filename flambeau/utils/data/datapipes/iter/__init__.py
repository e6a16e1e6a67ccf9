"""Pipes that are iterated over."""

from flambeau.utils.data.datapipes.iter.callable import CollatorIterDataPipe as Collator
from flambeau.utils.data.datapipes.iter.callable import MapperIterDataPipe as Mapper
from flambeau.utils.data.datapipes.iter.combinatorics import SamplerIterDataPipe as Sampler
from flambeau.utils.data.datapipes.iter.combinatorics import ShufflerIterDataPipe as Shuffler
from flambeau.utils.data.datapipes.iter.combining import ConcaterIterDataPipe as Concater
from flambeau.utils.data.datapipes.iter.combining import DemultiplexerIterDataPipe as Demultiplexer
from flambeau.utils.data.datapipes.iter.combining import ForkerIterDataPipe as Forker
from flambeau.utils.data.datapipes.iter.combining import MultiplexerIterDataPipe as Multiplexer
from flambeau.utils.data.datapipes.iter.combining import ZipperIterDataPipe as Zipper
from flambeau.utils.data.datapipes.iter.files import FileListerIterDataPipe as FileLister
from flambeau.utils.data.datapipes.iter.files import FileOpenerIterDataPipe as FileOpener
from flambeau.utils.data.datapipes.iter.files import StreamReaderIterDataPipe as StreamReader
from flambeau.utils.data.datapipes.iter.grouping import BatcherIterDataPipe as Batcher
from flambeau.utils.data.datapipes.iter.grouping import GrouperIterDataPipe as Grouper
from flambeau.utils.data.datapipes.iter.grouping import UnBatcherIterDataPipe as UnBatcher
from flambeau.utils.data.datapipes.iter.selecting import FilterIterDataPipe as Filter
from flambeau.utils.data.datapipes.iter.selecting import (
    ShardingFilterIterDataPipe as ShardingFilter,
)
from flambeau.utils.data.datapipes.iter.utils import IterableWrapperIterDataPipe as IterableWrapper

__all__ = [
    "Batcher",
    "Collator",
    "Concater",
    "Demultiplexer",
    "FileLister",
    "FileOpener",
    "Filter",
    "Forker",
    "Grouper",
    "IterableWrapper",
    "Mapper",
    "Multiplexer",
    "Sampler",
    "ShardingFilter",
    "Shuffler",
    "StreamReader",
    "UnBatcher",
    "Zipper",
]
