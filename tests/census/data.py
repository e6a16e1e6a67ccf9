"""Examples of datasets, samplers and loaders (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

_D = "t.utils.data"
_LOADER = f"{_D}.DataLoader({_D}.TensorDataset(x, k), batch_size=2, shuffle=True)"
_BATCHES = f"{_D}.BatchSampler({_D}.SequentialSampler(range(5)), 2, False)"
_SQUARES = (
    f"type('Squares', ({_D}.Dataset,), {{'__getitem__': lambda self, i: i * i,"
    " '__len__': lambda self: 4})()"
)
_STREAM = f"type('Stream', ({_D}.IterableDataset,), {{'__iter__': lambda self: iter(range(5))}})()"
_ORDER = f"type('Order', ({_D}.Sampler,), {{'__iter__': lambda self: iter([2, 0])}})()"

DATA: dict[str, list[str]] = {
    "DataLoader": [
        (
            f"list({_D}.DataLoader(dataset=range(9), batch_size=2, shuffle=True, num_workers=0,"
            " collate_fn=t.tensor, pin_memory=False, drop_last=True))"
        ),
        f"list({_D}.DataLoader(range(3), sampler=[2, 0, 1], batch_size=2))",
        f"[batch for _ in range(2) for batch in {_LOADER}]",
    ],
    "DataLoader.dataset": [f"len({_LOADER}.dataset)"],
    "DataLoader.sampler": [f"list({_LOADER}.sampler)"],
    "DataLoader.batch_sampler": [f"list({_LOADER}.batch_sampler)"],
    "DataLoader.collate_fn": [f"{_LOADER}.collate_fn([1, 2])"],
    "DataLoader.worker_init_fn": [f"{_LOADER}.worker_init_fn"],
    "DataLoader.batch_size": [f"{_LOADER}.batch_size"],
    "DataLoader.num_workers": [f"{_LOADER}.num_workers"],
    "Dataset": [f"list({_D}.DataLoader({_SQUARES}))", f"({_SQUARES} + {_SQUARES})[5]"],
    "IterableDataset": [f"list({_D}.DataLoader({_STREAM}, batch_size=2))"],
    "TensorDataset": [f"{_D}.TensorDataset(x, k)[1]", f"len({_D}.TensorDataset(x))"],
    "Subset": [f"{_D}.Subset(dataset=range(9), indices=[3, 5])[1]"],
    "ConcatDataset": [f"{_D}.ConcatDataset([range(3), range(4)])[4]"],
    "random_split": [
        (
            f"[list(part) for part in {_D}.random_split(range(9), lengths=[4, 5],"
            " generator=t.Generator().manual_seed(1))]"
        ),
        f"[list(part) for part in {_D}.random_split(range(9), [0.5, 0.5])]",
    ],
    "default_collate": [f"{_D}.default_collate([{{'a': x, 'b': 1}}, {{'a': y, 'b': 2}}])['a']"],
    "Sampler": [f"list({_D}.DataLoader(range(3), sampler={_ORDER}))"],
    "SequentialSampler": [f"list({_D}.SequentialSampler(range(3)))"],
    "RandomSampler": [
        (
            f"list({_D}.RandomSampler(data_source=range(5), replacement=True, num_samples=7,"
            " generator=t.Generator().manual_seed(2)))"
        ),
        f"list({_D}.RandomSampler(range(5)))",
    ],
    "SubsetRandomSampler": [f"list({_D}.SubsetRandomSampler([4, 2, 7]))"],
    "WeightedRandomSampler": [
        f"list({_D}.WeightedRandomSampler(weights=[0.5, 2.0], num_samples=6, replacement=True))"
    ],
    "BatchSampler": [f"list({_D}.BatchSampler(sampler=range(5), batch_size=2, drop_last=True))"],
    "BatchSampler.batch_size": [f"{_BATCHES}.batch_size"],
    "BatchSampler.drop_last": [f"{_BATCHES}.drop_last"],
    "BatchSampler.sampler": [f"list({_BATCHES}.sampler)"],
    "get_worker_info": [f"{_D}.get_worker_info()"],
}
