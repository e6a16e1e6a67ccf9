"""Records of a saved file, one by one."""

import io

import pytest

import flambeau as fb


def test_records(tmp_path):
    path = tmp_path / "saved.pt"
    fb.save({"a": fb.arange(4.0)}, path)
    for reader in (
        fb.PyTorchFileReader(str(path)),
        fb.PyTorchFileReader(io.BytesIO(path.read_bytes())),
    ):
        assert {"data.pkl", "data/0", "version"} <= set(reader.get_all_records())
        assert reader.has_record("data.pkl")
        assert not reader.has_record("nothing")
        assert reader.get_record("data/0") == fb.arange(4.0).numpy().tobytes()
        with pytest.raises(RuntimeError, match="no record 'nothing'"):
            reader.get_record("nothing")
