"""``submin segment`` with a volume: files out, refusals, what the table says of the crop."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.conftest import assert_refused

nibabel = pytest.importorskip("nibabel", reason='pip install "submin[volumes]"')
tifffile = pytest.importorskip("tifffile", reason='pip install "submin[volumes]"')
pytest.importorskip("sklearn", reason='pip install "submin[vision]"')

AFFINE = np.diag([-1.0, -1.0, 2.0, 1.0])


@pytest.fixture
def files(tmp_path):
    """A cuboid in a volume, with strokes, as NIfTI and as TIFF."""
    volume = np.zeros((24, 26, 40), dtype=np.int16)
    volume[6:14, 6:16, 6:12] = 300
    scribbles = np.zeros(volume.shape, dtype=np.float32)
    scribbles[9, 9, 7:10], scribbles[9, 2, 7:10] = 2, 1
    for name in ("scan.nii.gz", "scan.nii"):
        nibabel.Nifti1Image(volume, AFFINE).to_filename(tmp_path / name)
    nibabel.Nifti1Image(scribbles, AFFINE).to_filename(tmp_path / "strokes.nii.gz")
    settings = {"imagej": True, "metadata": {"axes": "ZYX", "spacing": 3.0}}
    tifffile.imwrite(tmp_path / "scan.tif", volume.astype(np.uint16), **settings)
    tifffile.imwrite(tmp_path / "strokes.tif", scribbles.astype(np.uint8), metadata=None)
    return tmp_path, volume > 0


@pytest.mark.parametrize(
    ("name", "more"),
    [("scan.nii.gz", []), ("scan.nii.gz", ["--whole"]), ("scan.nii", ["--connectivity", "26"])],
)
def test_a_scan_is_cut_with_proof(invoke, files, name, more):
    folder, truth = files
    out = folder / "out"
    run = invoke(
        "segment", folder / name, "--scribbles", folder / "strokes.nii.gz", "-o", out,
        "--json", *more,
    )  # fmt: skip
    assert run.exit_code == 0, run.stderr
    said = json.loads(run.stdout)
    assert said["status"] == "OPTIMAL"
    assert said["spacing"] == [1.0, 1.0, 2.0]
    assert (said["whole"], said["beyond"]) == ("--whole" in more, 0.0)
    assert said["volume"] == list(truth.shape)
    assert {path.name for path in out.iterdir()} == {"mask.nii.gz", "result.npz", "slices.png"}
    mask = nibabel.load(out / "mask.nii.gz")
    assert np.array_equal(np.asarray(mask.dataobj), truth)
    assert np.array_equal(mask.affine, AFFINE)
    assert invoke("verify", out / "result.npz").exit_code == 0


def test_a_stack_is_cut_with_strokes_of_either_format(invoke, files):
    folder, truth = files
    for strokes in ("strokes.tif", "strokes.nii.gz"):
        run = invoke(
            "segment", folder / "scan.tif", "--scribbles", folder / strokes, "-o", folder / "out",
            "--spacing", "2,1,1",
        )  # fmt: skip
        assert run.exit_code == 0, run.stderr
        assert "2 x 1 x 1" in run.stdout
        assert "proved: the whole volume has the same answer" in run.stdout
        assert np.array_equal(tifffile.imread(folder / "out" / "mask.tif"), truth)


def test_refusals(invoke, files):
    folder, _ = files
    scan, strokes = folder / "scan.nii.gz", folder / "strokes.nii.gz"
    assert_refused(invoke("segment", scan), "--scribbles FILE")
    assert_refused(invoke("segment", scan, "--scribbles", scan), "labels")
    assert_refused(invoke("segment", scan, "--scribbles", folder / "none.nii"), "none.nii")
    given = ["segment", scan, "--scribbles", strokes]
    assert_refused(invoke(*given, "--box", "1,2,3,4"), "--box is about photographs")
    assert_refused(invoke(*given, "--solver", "rcdm"), "--solver is about photographs")
    assert_refused(invoke(*given, "--connectivity", 8), "connectivity")
    assert_refused(invoke(*given, "--spacing", "1,2"), "three numbers")
    assert_refused(invoke(*given, "--spacing", "1,2,0"), "spacing[2]")
    assert_refused(invoke("segment", "--sample", "cat", "--whole"), "volumes alone")
    (folder / "broken.nii.gz").write_bytes(scan.read_bytes()[:90])
    assert_refused(invoke("segment", folder / "broken.nii.gz", "--scribbles", strokes), "broken")
    half = np.full((24, 26, 40), 0.5)
    nibabel.Nifti1Image(half, AFFINE).to_filename(folder / "half.nii")
    assert_refused(invoke("segment", scan, "--scribbles", folder / "half.nii"), "not whole")
    assert not (folder / "segmentation").exists()
