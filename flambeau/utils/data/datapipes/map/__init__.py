"""Pipes whose samples are asked for by key."""

from flambeau.utils.data.datapipes.map.pipes import BatcherMapDataPipe as Batcher
from flambeau.utils.data.datapipes.map.pipes import ConcaterMapDataPipe as Concater
from flambeau.utils.data.datapipes.map.pipes import MapperMapDataPipe as Mapper
from flambeau.utils.data.datapipes.map.pipes import SequenceWrapperMapDataPipe as SequenceWrapper
from flambeau.utils.data.datapipes.map.pipes import ShufflerIterDataPipe as Shuffler
from flambeau.utils.data.datapipes.map.pipes import ZipperMapDataPipe as Zipper

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]
