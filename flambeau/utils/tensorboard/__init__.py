"""Logs that TensorBoard shows, written without TensorBoard and without protocol buffers."""

from flambeau.utils.tensorboard.writer import FileWriter as FileWriter
from flambeau.utils.tensorboard.writer import SummaryWriter as SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
