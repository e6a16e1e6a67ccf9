"""Networks for videos and for the flow between two images."""

from __future__ import annotations

from pathlib import Path

import pytest

import flambeau as fb
from flambeau.vision import models
from flambeau.vision.models import optical_flow, video


@pytest.mark.parametrize("name", ["mc3_18", "r2plus1d_18", "r3d_18"])
def test_resnets_for_films_of_any_size(name: str) -> None:
    model = models.get_model(name, num_classes=4).eval()
    with fb.no_grad():
        assert model(fb.randn(2, 3, 3, 20, 26)).shape == (2, 4)


def test_windows_of_films() -> None:
    """Videos smaller than a window, and those that do not consist of whole windows."""
    model = video.SwinTransformer3d(
        (2, 4, 4), 24, [2, 2], [2, 4], (4, 3, 3), num_classes=5, stochastic_depth_prob=0.0
    ).eval()
    with fb.no_grad():
        for size in ((3, 17, 22), (20, 32, 40)):
            assert model(fb.randn(1, 3, *size)).shape == (1, 5)


@pytest.mark.parametrize("second", [False, True])
def test_a_step_of_training_of_a_multiscale_transformer(second: bool) -> None:
    blocks = [
        video.mvit.MSBlockConfig(1, 8, 16, [3, 3, 3], [3, 3, 3], [1, 1, 1], [1, 2, 2]),
        video.mvit.MSBlockConfig(2, 16, 16, [3, 3, 3], [3, 3, 3], [1, 2, 2], [1, 1, 1]),
    ]
    model = video.MViT(
        (32, 32),
        4,
        blocks,
        residual_pool=second,
        residual_with_cls_embed=second,
        rel_pos_embed=second,
        proj_after_attn=second,
        num_classes=3,
    )
    scores = model(fb.randn(2, 3, 4, 32, 32))
    assert scores.shape == (2, 3)
    fb.nn.functional.cross_entropy(scores, fb.tensor([0, 2])).backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_flow_between_images() -> None:
    model = optical_flow.raft_small().eval()
    first = fb.rand(1, 3, 128, 136) * 2 - 1
    with fb.no_grad():
        flows = model(first, first.roll(2, -1), num_flow_updates=2)
    assert [flow.shape for flow in flows] == [(1, 2, 128, 136)] * 2
    with pytest.raises(ValueError, match="divisible by 8"):
        model(first[..., :130], first[..., :130])
    with pytest.raises(ValueError, match="pass images of 128 or more"):
        model(first[..., :64], first[..., :64])
    with pytest.raises(ValueError, match="same shape"):
        model(first, first[..., :128])


def test_every_step_of_a_flow_learns() -> None:
    model = optical_flow.raft_small()
    flows = model(*fb.randn(2, 1, 3, 128, 128), num_flow_updates=2)
    sum(flow.abs().mean() for flow in flows).backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_flows_of_larger_images() -> None:
    flow = fb.arange(8.0).view(1, 2, 2, 2)
    larger = optical_flow._utils.upsample_flow(flow, factor=2)
    assert larger.shape == (1, 2, 4, 4)
    assert larger[0, 0, 0, 0] == 0.0
    assert larger[0, 1, -1, -1] == 14.0
    mask = fb.zeros(1, 9 * 4, 2, 2)  # the mean of the neighbours, of which some are outside
    fb.testing.assert_close(
        optical_flow._utils.upsample_flow(flow, mask, factor=2)[0, 0], fb.full((4, 4), 12 / 9)
    )


def test_what_weights_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = models.get_weight("R3D_18_Weights.DEFAULT")
    assert weights is video.R3D_18_Weights.KINETICS400_V1
    assert len(weights.meta["categories"]) == 400
    clip = fb.zeros(5, 3, 140, 180, dtype=fb.uint8)
    assert weights.transforms()(clip).shape == (3, 5, 112, 112)
    assert weights.transforms()(clip[None]).shape == (1, 3, 5, 112, 112)
    assert video.MViT_V2_S_Weights.DEFAULT.meta["min_temporal_size"] == 16

    pair = optical_flow.Raft_Small_Weights.DEFAULT.transforms()(clip[0], clip[1])
    assert [image.min().item() for image in pair] == [-1.0, -1.0]
    assert optical_flow.Raft_Small_Weights.DEFAULT is optical_flow.Raft_Small_Weights.C_T_V2

    monkeypatch.setenv("FLAMBEAU_WEIGHTS", str(tmp_path))
    state = optical_flow.raft_small().state_dict()
    fb.save(state, tmp_path / optical_flow.Raft_Small_Weights.DEFAULT.url.rpartition("/")[2])
    loaded = optical_flow.raft_small(weights="DEFAULT").state_dict()
    assert all((loaded[name] == value).all() for name, value in state.items())


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"spatial_size.*\(224, 224\) but got \(64, 64\)"):
        video.mvit_v2_s(weights="DEFAULT", spatial_size=(64, 64))
    with pytest.raises(ValueError, match="layers must have five widths"):
        optical_flow.raft.FeatureEncoder(layers=(64, 64))
    with pytest.raises(ValueError, match="length 3"):
        video.swin_transformer.ShiftedWindowAttention3d(8, [2, 2], [1, 1], 2)
    with pytest.raises(ValueError, match="not divisible by partition size 7"):
        models.maxvit_t(input_size=(200, 200))
