"""Names below ``torch`` that Flambeau refuses entirely, each with a reason and the remedy.

Functions and classes that only refuse are generated from this table by `flambeau._limits.refusing`.
A working function reports unsupported options itself.
"""

from __future__ import annotations

__all__: list[str] = []

# By module or class and name: the reason with the remedy, the class of the error, and what the
# name is for in PyTorch, if the table says it.
REFUSALS: dict[str, dict[str, tuple[str, type[Exception], str]]] = {}

_CPU = "this build of Flambeau computes on the CPU; "
_ACCELERATOR = _CPU + "ask torch.accelerator.is_available() first"
_CUDA = _CPU + "ask torch.cuda.is_available() first, and keep tensors and modules on device 'cpu'"
_MPS = _CPU + "ask torch.backends.mps.is_available() first"
_MTIA = _CPU + "ask torch.mtia.is_available() first"
_XPU = _CPU + "ask torch.xpu.is_available() first"
_PROCESSES = "several processes that work together are not supported yet; "
_COMPRESSED = (
    "matrices in compressed form are not supported yet; use to_sparse(), the coordinate form"
)
_QUANTIZED = "quantized tensors are not supported; keep float32 or bfloat16"
_INTEGERS = (
    "there are no kernels for 8-bit integers yet; quantize_dynamic keeps the weights of linear and "
    "recurrent layers in 8 bits"
)
_EXTENSIONS = (
    "extensions in C++ are compiled against PyTorch's headers, which Flambeau does not have; write "
    "the operator in Python with torch.library.custom_op, or set the package's option that leaves "
    "its extensions out"
)
_PHONES = (
    "there is no runtime for phones; save the weights with torch.save and load them in PyTorch, "
    "which can make a module for phones of them"
)
_NESTED = (
    "nested tensors are not supported yet; pad the rows with torch.nn.utils.rnn.pad_sequence and "
    "keep a mask, or use pack_sequence"
)
_REMOVED = "this function was deprecated since version 1.9 and is now removed. "


def _refuse(
    where: str,
    reason: str,
    error: type[Exception] = NotImplementedError,
    described: dict[str, str] | None = None,
    names: str = "",
) -> None:
    """Add names of a module or class, ``""`` being ``torch`` itself."""
    rows = REFUSALS.setdefault(where, {})
    for name in names.split():
        rows[name] = (reason, error, "")
    for name, text in (described or {}).items():
        rows[name] = (reason, error, text)


# Unsupported kinds of tensors.
_refuse(
    "",
    _COMPRESSED,
    names=(
        "sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor "
        "sparse_compressed_tensor"
    ),
)
_refuse(
    "Tensor",
    _COMPRESSED,
    names=(
        "to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc crow_indices col_indices "
        "ccol_indices row_indices"
    ),
)
_refuse(
    "",
    _QUANTIZED,
    names=(
        "quantize_per_tensor quantize_per_channel quantize_per_tensor_dynamic empty_quantized "
        "q_scale q_zero_point int_repr"
    ),
)
_refuse(
    "Tensor",
    _QUANTIZED,
    names=(
        "q_scale q_zero_point qscheme int_repr q_per_channel_axis q_per_channel_scales "
        "q_per_channel_zero_points"
    ),
)
_refuse(
    "Tensor",
    "nested tensors are not supported yet; see torch.nn.utils.rnn.pad_sequence",
    names="to_padded_tensor",
)
_refuse(
    "nested",
    _NESTED,
    names=(
        "as_nested_tensor masked_select narrow nested_tensor nested_tensor_from_jagged "
        "to_padded_tensor"
    ),
)
_refuse(
    "masked",
    "tensors that carry their mask are not supported; pass mask= to the functions of torch.masked, "
    "or use torch.where",
    names="masked_tensor",
)
_refuse(
    "_subclasses",
    "tensors that only pretend to have elements are not supported; make tensors with device='meta'",
    names="FakeTensor FakeTensorMode",
)
_refuse(
    "Tensor",
    "operators use oneDNN's layouts on their own where that pays; leave the call out",
    names="to_mkldnn",
)
_refuse("Tensor", _CPU + "leave the call out", AssertionError, names="xpu ipu mtia")

# Removed from PyTorch.
_refuse(
    "Tensor",
    "reinforce() was removed; use torch.distributions and its log_prob",
    RuntimeError,
    names="reinforce",
)
for _where in ("", "Tensor"):
    for _name, _advice in {
        "symeig": "Use linalg.eigh; it reads the lower triangle unless UPLO='U' is given.",
        "eig": "Use linalg.eig, which returns complex tensors, or linalg.eigvals.",
        "lstsq": "Use linalg.lstsq(A, B), which takes its arguments in the other order.",
        "solve": "Use linalg.solve(A, B), which takes its arguments in the other order.",
    }.items():
        _refuse(_where, _REMOVED + _advice, RuntimeError, {_name: f"Removed. {_advice}"})
_refuse(
    "",
    _REMOVED + "Use linalg.matrix_rank; its argument hermitian was called symmetric.",
    RuntimeError,
    {"matrix_rank": "Removed. Use linalg.matrix_rank."},
)

# Programs in other forms.
_refuse(
    "onnx",
    "Flambeau does not write ONNX files yet; torch.jit.trace(model, args).save(path) writes a file "
    "that torch.jit.load runs without the model's code",
    names="export",
)
_refuse(
    "fx.passes.regional_inductor",
    "there is no compiler for parts of a graph; the graph module itself runs them",
    names="regional_inductor",
)
_refuse(
    "fx.passes.graph_drawer",
    "drawing graphs needs pydot and Graphviz, which Flambeau does not use; "
    "print(graph_module.graph) and graph_module.print_readable() show a graph as text",
    names="FxGraphDrawer",
)
_refuse(
    "library",
    "kernels of Triton need a GPU, and this build computes on the CPU; write the operator with "
    "torch.library.custom_op",
    names="triton_op wrap_triton",
)
_refuse(
    "ao.quantization",
    _INTEGERS,
    described={
        "prepare": "Let a model watch the ranges of its activations.",
        "prepare_qat": "Let a model round its activations while it is trained.",
        "convert": "Make a watched model one of integers.",
        "quantize": "All of that at once.",
        "quantize_qat": "The same with training.",
    },
)
_refuse(
    "utils.cpp_extension",
    _EXTENSIONS,
    described={
        "BuildExtension": "The command of ``setup`` that builds extensions.",
        "CUDAExtension": "The description of an extension with kernels for GPUs.",
        "CppExtension": "The description of an extension for ``setup``.",
        "load": "Build an extension and import it.",
        "load_inline": "The same from text.",
    },
)
_refuse(
    "utils.mobile_optimizer",
    _PHONES,
    names="generate_mobile_module_lints optimize_for_mobile",
)
_refuse(
    "vision.datasets",
    "there is no decoder for video here; decode the files with another package into tensors or "
    "images, and read those in a Dataset of your own",
    names="HMDB51 Kinetics UCF101",
)

# Devices that this build does not compute on. The classes of errors are those that PyTorch raises
# in its build for CPUs, which programs may catch.
_refuse(
    "accelerator",
    _ACCELERATOR,
    RuntimeError,
    {
        "current_device_index": "The current one's index.",
        "set_device_index": "Make one the current one.",
        "current_stream": "The stream that work goes into.",
        "set_stream": "Make a stream the current one.",
        "synchronize": "Wait for everything one was given to do.",
        "empty_cache": "Give unused memory back to the system.",
        "get_memory_info": "The free and the whole memory.",
        "memory_stats": "The counts of the allocator.",
        "memory_allocated": "The bytes that tensors take.",
        "memory_reserved": "The bytes that are held.",
        "max_memory_allocated": "The most of them so far.",
        "max_memory_reserved": "The most of them so far.",
        "reset_peak_memory_stats": "Forget the peaks.",
        "reset_accumulated_memory_stats": "Forget totals.",
        "device_index": "Makes one the current one while a block runs.",
        "Event": "A mark in a queue of work.",
        "Stream": "A queue of work.",
    },
)
_refuse(
    "backends.mps",
    _MPS,
    RuntimeError,
    {
        "get_name": "The name of the GPU.",
        "get_core_count": "The cores of the GPU.",
        "is_macos_or_newer": "Whether the system is that new.",
        "is_macos13_or_newer": "Whether the system is that new.",
    },
)
_refuse(
    "cuda",
    _CUDA,
    AssertionError,
    {
        "reset_peak_memory_stats": "Forget the peaks.",
        "reset_max_memory_allocated": "Forget a peak.",
        "reset_max_memory_cached": "Forget a peak.",
        "reset_accumulated_memory_stats": "Forget totals.",
        "reset_peak_host_memory_stats": "Forget the peaks.",
        "reset_accumulated_host_memory_stats": "Forget totals.",
        "mem_get_info": "The free and the whole memory of a GPU.",
        "memory_summary": "The counts as a table.",
        "memory_snapshot": "Every block of the allocator.",
        "get_allocator_backend": "The name of the allocator.",
        "get_per_process_memory_fraction": "The share of memory that the process may take.",
        "set_per_process_memory_fraction": "Limit the share of memory that the process may take.",
        "caching_allocator_alloc": "A block of memory.",
        "caching_allocator_delete": "Free such a block.",
        "change_current_allocator": "Use another allocator.",
        "use_mem_pool": "Take memory from a pool while a block runs.",
        "CUDAPluggableAllocator": "An allocator of a library.",
        "get_rng_state": "The state of the generator of a GPU.",
        "initial_seed": "The seed of the generator of the current GPU.",
        "current_stream": "The stream that work goes into.",
        "default_stream": "The stream that is current at first.",
        "get_stream_from_external": "A stream made elsewhere.",
        "init": "Start CUDA in this process.",
        "current_device": "The index of the current GPU.",
        "synchronize": "Wait for everything a GPU was given to do.",
        "get_device_name": "The name of a GPU.",
        "get_device_properties": "Name, memory, processors.",
        "get_device_capability": "The compute capability.",
        "can_device_access_peer": "Whether GPUs copy directly.",
        "cudart": "The CUDA run time.",
        "current_blas_handle": "The handle of cuBLAS.",
        "ipc_collect": "Free memory that other processes have released.",
        "set_sync_debug_mode": "Report calls that wait for a GPU.",
        "get_sync_debug_mode": "What such calls do.",
        "memory_usage": "The share of time the memory was busy.",
        "device_memory_used": "The bytes that are in use on a GPU.",
        "utilization": "The share of time a GPU was busy.",
        "temperature": "The temperature of a GPU.",
        "power_draw": "The power that a GPU draws.",
        "clock_rate": "The clock of a GPU.",
        "set_device": "Make a GPU the current one.",
        "set_stream": "Make a stream the current one.",
        "stream": "A block whose work goes into a stream.",
    },
)
_refuse(
    "cuda",
    _CUDA,
    RuntimeError,
    {
        "CUDAGraph": "A recorded sequence of kernels.",
        "graph": "Records a block into a CUDAGraph.",
        "graph_pool_handle": "A pool that graphs share.",
        "make_graphed_callables": "Functions that replay their graph.",
        "MemPool": "A pool of memory.",
        "Stream": "A queue of work on a GPU.",
        "ExternalStream": "A queue made elsewhere.",
        "Event": "A mark in a queue of work.",
        "device": "Makes a GPU the current one while a block runs.",
    },
)
_refuse(
    "cuda.comm",
    _CUDA,
    AssertionError,
    {
        "broadcast": "Copies of a tensor on several GPUs.",
        "broadcast_coalesced": "The same for many tensors.",
        "scatter": "Pieces of a tensor on several GPUs.",
        "gather": "One tensor of pieces on several GPUs.",
        "reduce_add": "The sum of tensors on several GPUs.",
    },
)
_refuse(
    "cuda.jiterator",
    _CUDA,
    AssertionError,
    {
        "_create_jit_fn": "A kernel of one result.",
        "_create_multi_output_jit_fn": "A kernel of several results.",
    },
)
_refuse(
    "cuda.memory",
    _CUDA,
    AssertionError,
    {
        "_record_memory_history": "Note every block.",
        "_snapshot": "What was noted.",
        "_dump_snapshot": "Write what was noted into a file.",
    },
)
_refuse(
    "cuda.nccl",
    _CUDA,
    AssertionError,
    {
        "version": "The version of the library.",
        "unique_id": "An identifier for a group.",
        "all_reduce": "The sum of tensors on all GPUs.",
        "reduce": "The sum of tensors on one GPU.",
        "broadcast": "One tensor on all GPUs.",
        "all_gather": "The tensors of all GPUs on each.",
        "reduce_scatter": "A part of the sum on each GPU.",
    },
)
_refuse(
    "cuda.nvtx",
    _CUDA,
    RuntimeError,
    {
        "range_push": "Open a range.",
        "range_pop": "Close the innermost range.",
        "range_start": "Open a range by its handle.",
        "range_end": "Close a range by its handle.",
        "mark": "Mark a moment.",
    },
)
_refuse(
    "cuda.profiler",
    _CUDA,
    AssertionError,
    {
        "start": "Start to record.",
        "stop": "Stop to record.",
    },
)
_refuse(
    "mps",
    _MPS,
    RuntimeError,
    {
        "synchronize": "Wait for everything the GPU was given to do.",
        "empty_cache": "Give unused memory back to the system.",
        "manual_seed": "Seed the generator of the GPU.",
        "seed": "Seed it with a number that cannot be foreseen.",
        "get_rng_state": "The state of the generator.",
        "set_rng_state": "Go on from such a state.",
        "current_allocated_memory": "The bytes of tensors.",
        "driver_allocated_memory": "The bytes of the process.",
        "recommended_max_memory": "The bytes to stay below.",
        "set_per_process_memory_fraction": "Limit the share of memory that the process may take.",
        "compile_shader": "A kernel written in Metal.",
        "load_metallib": "Kernels of a library.",
        "Event": "A mark in a queue of work.",
    },
)
_refuse(
    "mtia",
    _MTIA,
    RuntimeError,
    {
        "current_device": "The index of the current one.",
        "current_stream": "The stream that work goes into.",
        "default_stream": "The stream that is current at first.",
        "set_device": "Make one the current one.",
        "synchronize": "Wait for everything one was given to do.",
        "empty_cache": "Give unused memory back to the system.",
        "get_device_capability": "What one can do.",
        "get_device_properties": "Name and memory of one.",
    },
)
_refuse(
    "xpu",
    _XPU,
    AssertionError,
    {
        "init": "Start them in this process.",
        "initial_seed": "The seed of the current one's generator.",
        "get_rng_state": "The state of the current one's generator.",
        "current_device": "The index of the current one.",
        "current_stream": "The stream that work goes into.",
        "set_device": "Make one the current one.",
        "synchronize": "Wait for everything one was given to do.",
        "get_device_name": "The name of one.",
        "get_device_properties": "Name, memory, units.",
        "get_device_capability": "What one can do.",
        "can_device_access_peer": "Whether two copy directly.",
        "mem_get_info": "The free and the whole memory of one.",
        "reset_peak_memory_stats": "Forget the peaks.",
        "stream": "A block whose work goes into a stream.",
        "Stream": "A queue of work.",
        "Event": "A mark in a queue of work.",
    },
)
_refuse("backends.cuda", _CUDA, AssertionError, names="cufft_plan_cache")
_refuse(
    "cuda",
    _CUDA,
    TypeError,
    names=(
        "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor "
        "IntTensor LongTensor ShortTensor"
    ),
)

# Jobs of several processes.
_refuse(
    "distributed._functional_collectives",
    _PROCESSES + "one process has nobody to exchange with",
    names="all_to_all_single_autograd",
)
_refuse(
    "distributed.algorithms.ddp_comm_hooks.default_hooks",
    _PROCESSES + "one process has no gradients to exchange",
    names=(
        "allreduce_hook bf16_compress_hook bf16_compress_wrapper fp16_compress_hook "
        "fp16_compress_wrapper"
    ),
)
_refuse(
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook",
    _PROCESSES + "one process has no gradients to exchange",
    names="PostLocalSGDState post_localSGD_hook",
)
_refuse(
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook",
    _PROCESSES + "one process has no gradients to exchange",
    names="PowerSGDState batched_powerSGD_hook powerSGD_hook",
)
_refuse(
    "distributed.autograd",
    _PROCESSES + "call loss.backward()",
    names="backward context get_gradients",
)
_refuse(
    "distributed.checkpoint",
    _PROCESSES + "use torch.serialization.safetensors",
    names="HuggingFaceStorageReader HuggingFaceStorageWriter",
)
_refuse(
    "distributed.checkpoint.hf_storage",
    _PROCESSES + "flambeau.serialization.safetensors reads and writes such files",
    names="HuggingFaceStorageReader HuggingFaceStorageWriter",
)
_refuse(
    "distributed.fsdp",
    _PROCESSES + "use the module as it is, or DistributedDataParallel with one process",
    names="FSDPModule FullyShardedDataParallel fully_shard register_fsdp_forward_method",
)
_refuse(
    "distributed.fsdp.sharded_grad_scaler",
    _PROCESSES + "use torch.amp.GradScaler",
    names="ShardedGradScaler",
)
_refuse(
    "distributed.optim",
    _PROCESSES + "use an optimiser of torch.optim",
    names="DistributedOptimizer PostLocalSGDOptimizer",
)
_refuse(
    "distributed.pipelining",
    _PROCESSES + "run the whole model in one process",
    names="PipelineStage pipeline",
)
_refuse(
    "distributed.pipelining.schedules",
    _PROCESSES + "run the whole model in one process",
    names=(
        "PipelineScheduleMulti PipelineScheduleSingle Schedule1F1B ScheduleGPipe get_schedule_class"
    ),
)
_refuse(
    "distributed.rpc",
    _PROCESSES + "call the function itself, or use torch.multiprocessing",
    names="RRef WorkerInfo get_worker_info init_rpc remote rpc_async rpc_sync shutdown",
)
_refuse(
    "distributed.tensor",
    _PROCESSES + "use a tensor of one process",
    names="DTensor distribute_tensor empty full ones rand randn zeros",
)
_refuse(
    "distributed.tensor",
    _PROCESSES + "use the module as it is",
    names="distribute_module",
)
_refuse(
    "distributed.tensor._utils",
    _PROCESSES + "use a tensor of one process",
    names="compute_local_shape_and_global_offset",
)
_refuse(
    "distributed.tensor.experimental",
    _PROCESSES + "call the function itself",
    names="local_map",
)
_refuse(
    "distributed.tensor.experimental",
    _PROCESSES + "run attention in one process",
    names="context_parallel",
)
_refuse(
    "distributed.tensor.experimental",
    _PROCESSES + "use tensors of one process",
    names="implicit_replication",
)
_refuse(
    "distributed.tensor.parallel",
    _PROCESSES + "compute the loss in one process",
    names="loss_parallel",
)
_refuse(
    "distributed.tensor.parallel",
    _PROCESSES + "use the module as it is",
    names="parallelize_module",
)
