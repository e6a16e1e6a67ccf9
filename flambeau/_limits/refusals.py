"""Names below ``torch`` that Flambeau refuses entirely, each with a reason and the remedy.

Functions and classes that only refuse are generated from this table by `flambeau._limits.refusing`.
A working function reports unsupported options itself.
"""

from __future__ import annotations

__all__: list[str] = []

# By module or class and name: the reason with the remedy, the class of the error, and what the
# name is for in PyTorch, if the table says it.
REFUSALS: dict[str, dict[str, tuple[str, type[Exception], str]]] = {}

_DEVICES = "Flambeau computes on CPUs and NVIDIA GPUs; "
_ACCELERATOR = "no GPU can be used here; ask torch.accelerator.is_available() first"
_CUDA = (
    "not there for GPUs yet; ask torch.cuda.is_available() first, and keep tensors and modules on "
    "device 'cpu' for it"
)
_MPS = _DEVICES + "ask torch.backends.mps.is_available() first"
_MTIA = _DEVICES + "ask torch.mtia.is_available() first"
_XPU = _DEVICES + "ask torch.xpu.is_available() first"
_PROCESSES = "several cooperating processes are not supported yet; "
_COMPRESSED = (
    "compressed sparse matrices are not supported yet; use to_sparse(), the coordinate form"
)
_QUANTIZED = "quantized tensors are not supported; keep float32 or bfloat16"
_INTEGERS = (
    "there are no 8-bit integer kernels yet; quantize_dynamic keeps the weights of linear and "
    "recurrent layers in 8 bits"
)
_EXTENSIONS = (
    "extensions in C++ are compiled against PyTorch's headers, which Flambeau does not have; write "
    "the operator in Python with torch.library.custom_op, or set the package's option that leaves "
    "its extensions out"
)
_PHONES = (
    "there is no mobile runtime; save the weights with torch.save and load them in PyTorch, which "
    "can make a mobile module of them"
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
    "fake tensors are not supported; make tensors with device='meta'",
    names="FakeTensor FakeTensorMode",
)
_refuse(
    "Tensor",
    "operators use oneDNN's layouts on their own where that pays; remove the call",
    names="to_mkldnn",
)
_refuse("Tensor", _DEVICES + "remove the call", AssertionError, names="xpu ipu mtia")

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
    "Triton kernels are not supported; write the operator with torch.library.custom_op",
    names="triton_op wrap_triton",
)
_refuse(
    "ao.quantization",
    _INTEGERS,
    described={
        "prepare": "Insert observers of activation ranges into a model.",
        "prepare_qat": "Insert simulated quantization into a model for training.",
        "convert": "Convert an observed model to integers.",
        "quantize": "Prepare, calibrate and convert a model.",
        "quantize_qat": "The same with training instead of calibration.",
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
        "load_inline": "The same from source text.",
    },
)
_refuse(
    "utils.mobile_optimizer",
    _PHONES,
    names="generate_mobile_module_lints optimize_for_mobile",
)
_refuse(
    "vision.datasets",
    "there is no video decoder; decode the files with another package into tensors or "
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
        "current_device_index": "The index of the current device.",
        "set_device_index": "Make a device current.",
        "current_stream": "The current stream.",
        "set_stream": "Make a stream current.",
        "synchronize": "Wait until a device has finished its work.",
        "empty_cache": "Return unused memory to the system.",
        "get_memory_info": "The free and the total memory.",
        "memory_stats": "The statistics of the allocator.",
        "memory_allocated": "The bytes used by tensors.",
        "memory_reserved": "The bytes reserved by the allocator.",
        "max_memory_allocated": "The peak of the bytes used by tensors.",
        "max_memory_reserved": "The peak of the reserved bytes.",
        "reset_peak_memory_stats": "Reset the peaks.",
        "reset_accumulated_memory_stats": "Reset the totals.",
        "device_index": "Make a device current within a block.",
        "Event": "A marker in a stream.",
        "Stream": "A stream: a queue of work.",
    },
)
_refuse(
    "backends.mps",
    _MPS,
    RuntimeError,
    {
        "get_name": "The name of the GPU.",
        "get_core_count": "The cores of the GPU.",
        "is_macos_or_newer": "Whether macOS has at least this version.",
        "is_macos13_or_newer": "Whether macOS has at least this version.",
    },
)
_refuse(
    "cuda",
    _CUDA,
    AssertionError,
    {
        "caching_allocator_alloc": "A block of memory.",
        "caching_allocator_delete": "Free such a block.",
        "change_current_allocator": "Use another allocator.",
        "use_mem_pool": "Allocate from a pool within a block.",
        "CUDAPluggableAllocator": "An allocator from a shared library.",
        "cudart": "The CUDA runtime.",
        "current_blas_handle": "The handle of cuBLAS.",
        "set_sync_debug_mode": "Report calls that synchronise.",
        "memory_usage": "The fraction of time the memory was busy.",
        "utilization": "The fraction of time a GPU was busy.",
        "temperature": "The temperature of a GPU.",
        "power_draw": "The power that a GPU draws.",
        "clock_rate": "The clock of a GPU.",
    },
)
_refuse(
    "cuda",
    _CUDA,
    RuntimeError,
    {
        "CUDAGraph": "A recorded sequence of kernels.",
        "graph": "Record a block into a CUDAGraph.",
        "graph_pool_handle": "A pool that graphs share.",
        "make_graphed_callables": "Functions that replay a recorded graph.",
        "MemPool": "A pool of memory.",
    },
)
_refuse(
    "cuda.jiterator",
    _CUDA,
    AssertionError,
    {
        "_create_jit_fn": "A kernel with one result.",
        "_create_multi_output_jit_fn": "A kernel with several results.",
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
        "range_start": "Open a range and return its handle.",
        "range_end": "Close a range by its handle.",
        "mark": "Mark a moment.",
    },
)
_refuse(
    "cuda.profiler",
    _CUDA,
    AssertionError,
    {
        "start": "Start recording.",
        "stop": "Stop recording.",
    },
)
_refuse(
    "mps",
    _MPS,
    RuntimeError,
    {
        "synchronize": "Wait until the GPU has finished its work.",
        "empty_cache": "Return unused memory to the system.",
        "manual_seed": "Seed the generator of the GPU.",
        "seed": "Seed it with a random number.",
        "get_rng_state": "The state of the generator.",
        "set_rng_state": "Set the state of the generator.",
        "current_allocated_memory": "The bytes used by tensors.",
        "driver_allocated_memory": "The bytes used by the process.",
        "recommended_max_memory": "The bytes to stay below.",
        "set_per_process_memory_fraction": "Limit the fraction of memory that the process may use.",
        "compile_shader": "A kernel written in Metal.",
        "load_metallib": "Kernels of a library.",
        "Event": "A marker in a stream.",
    },
)
_refuse(
    "mtia",
    _MTIA,
    RuntimeError,
    {
        "current_device": "The index of the current device.",
        "current_stream": "The current stream.",
        "default_stream": "The default stream.",
        "set_device": "Make a device current.",
        "synchronize": "Wait until a device has finished its work.",
        "empty_cache": "Return unused memory to the system.",
        "get_device_capability": "The capabilities of a device.",
        "get_device_properties": "Name and memory of a device.",
    },
)
_refuse(
    "xpu",
    _XPU,
    AssertionError,
    {
        "init": "Start the device's runtime in this process.",
        "initial_seed": "The seed of the current device's generator.",
        "get_rng_state": "The state of the current device's generator.",
        "current_device": "The index of the current device.",
        "current_stream": "The current stream.",
        "set_device": "Make a device current.",
        "synchronize": "Wait until a device has finished its work.",
        "get_device_name": "The name of a device.",
        "get_device_properties": "Name, memory, units.",
        "get_device_capability": "The capabilities of a device.",
        "can_device_access_peer": "Whether two devices copy directly.",
        "mem_get_info": "The free and the total memory of a device.",
        "reset_peak_memory_stats": "Reset the peaks.",
        "stream": "Make a stream current within a block.",
        "Stream": "A stream: a queue of work.",
        "Event": "A marker in a stream.",
    },
)
_refuse("backends.cuda", _CUDA, AssertionError, names="cufft_plan_cache")

# Jobs of several processes.
_refuse(
    "distributed._functional_collectives",
    _PROCESSES + "a single process has no other to exchange with",
    names="all_to_all_single_autograd",
)
_refuse(
    "distributed.algorithms.ddp_comm_hooks.default_hooks",
    _PROCESSES + "a single process has no gradients to exchange",
    names=(
        "allreduce_hook bf16_compress_hook bf16_compress_wrapper fp16_compress_hook "
        "fp16_compress_wrapper"
    ),
)
_refuse(
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook",
    _PROCESSES + "a single process has no gradients to exchange",
    names="PostLocalSGDState post_localSGD_hook",
)
_refuse(
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook",
    _PROCESSES + "a single process has no gradients to exchange",
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
    _PROCESSES + "use a plain tensor",
    names="DTensor distribute_tensor empty full ones rand randn zeros",
)
_refuse(
    "distributed.tensor",
    _PROCESSES + "use the module as it is",
    names="distribute_module",
)
_refuse(
    "distributed.tensor._utils",
    _PROCESSES + "use a plain tensor",
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
    _PROCESSES + "use plain tensors",
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
