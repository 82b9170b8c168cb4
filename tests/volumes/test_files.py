"""Files of volumes: what is kept, where the spacing comes from, and what damaged bytes do."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from submin.volumes import holds_volume, read_volume

nibabel = pytest.importorskip("nibabel", reason='pip install "submin[volumes]"')
tifffile = pytest.importorskip("tifffile", reason='pip install "submin[volumes]"')

VOXELS = np.arange(6 * 5 * 7, dtype=np.int16).reshape(6, 5, 7)
ZYX = {"metadata": {"axes": "ZYX"}}
AFFINE = np.array([[0, -2.0, 0, 7], [1.5, 0, 0, -3], [0, 0, 4.0, 9], [0, 0, 0, 1]])


def nifti(path, voxels=VOXELS, kind=nibabel.Nifti1Image):
    image = kind(voxels, AFFINE)
    image.header["descrip"] = b"a scan"
    image.header["cal_max"] = 500.0
    image.header.set_xyzt_units("mm", "sec")
    image.header.set_qform(AFFINE, code="scanner")
    image.to_filename(path)
    return path


@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
@pytest.mark.parametrize("ending", [".nii", ".nii.gz", ".NII.GZ"])
def test_nifti_keeps_header_and_affine(tmp_path, kind, ending):
    path = nifti(tmp_path / f"scan{ending}", kind=kind)
    volume = read_volume(path)
    assert np.array_equal(volume.voxels, VOXELS)
    assert volume.voxels.dtype == np.int16
    assert volume.spacing == (1.5, 2.0, 4.0)
    target = tmp_path / f"mask{ending}"
    volume.save(target, VOXELS > 30)
    mask, image = nibabel.load(target), nibabel.load(path)
    assert type(mask) is kind
    assert np.array_equal(np.asarray(mask.dataobj), VOXELS > 30)
    assert mask.get_data_dtype() == np.uint8
    assert np.array_equal(mask.affine, image.affine)
    for name in ("qform_code", "sform_code", "pixdim", "descrip", "xyzt_units"):
        assert np.array_equal(mask.header[name], image.header[name]), name
    assert mask.header["cal_max"] == 0
    assert (target.read_bytes()[:2] == b"\x1f\x8b") == ending.lower().endswith(".gz")


@pytest.mark.parametrize("source", [".nii", ".nii.gz"])
def test_the_name_says_whether_a_mask_is_compressed(tmp_path, source):
    volume = read_volume(nifti(tmp_path / f"scan{source}"))
    for target in ("mask.nii", "mask.nii.gz"):
        volume.save(tmp_path / target, VOXELS > 30)
        assert np.array_equal(read_volume(tmp_path / target).voxels, VOXELS > 30)
    with pytest.raises(ValueError, match=r"mask.tif must end in .nii or .nii.gz"):
        volume.save(tmp_path / "mask.tif", VOXELS)
    assert not (tmp_path / "mask.tif").exists()


def test_nifti_of_other_kinds(tmp_path):
    scaled = nibabel.Nifti1Image(VOXELS, AFFINE)
    scaled.header.set_slope_inter(0.5, 10.0)
    scaled.to_filename(tmp_path / "scaled.nii")
    read = read_volume(tmp_path / "scaled.nii").voxels
    assert read == pytest.approx(nibabel.load(tmp_path / "scaled.nii").get_fdata())
    single = read_volume(nifti(tmp_path / "one_time.nii", VOXELS[..., None]))
    assert single.voxels.shape == VOXELS.shape
    single.save(tmp_path / "labels.nii", VOXELS * 9)
    assert nibabel.load(tmp_path / "labels.nii").shape == (*VOXELS.shape, 1)
    assert nibabel.load(tmp_path / "labels.nii").get_data_dtype() == np.uint16
    swapped = read_volume(nifti(tmp_path / "other_order.nii", VOXELS.astype(">f4"))).voxels
    assert swapped.dtype.isnative
    assert np.array_equal(swapped, VOXELS)


def test_spacing_of_imagej_and_ome(tmp_path):
    settings = {"imagej": True, "resolution": (1 / 0.5, 1 / 0.25)}
    metadata = {"spacing": 2.0, "unit": "um", "axes": "ZYX"}
    tifffile.imwrite(tmp_path / "j.tif", VOXELS.astype(np.uint16), metadata=metadata, **settings)
    sizes = {"PhysicalSizeX": 500.0, "PhysicalSizeXUnit": "nm", "PhysicalSizeY": 0.25}
    sizes |= {"PhysicalSizeZ": 0.002, "PhysicalSizeZUnit": "mm", "axes": "ZYX"}
    tifffile.imwrite(tmp_path / "o.ome.tif", VOXELS, ome=True, metadata=sizes)
    for name in ("j.tif", "o.ome.tif"):
        volume = read_volume(tmp_path / name)
        assert volume.spacing == pytest.approx((2.0, 0.25, 0.5), rel=1e-6)
        volume.save(tmp_path / f"mask_{name}", VOXELS > 30)
        mask = read_volume(tmp_path / f"mask_{name}")
        assert np.array_equal(mask.voxels, VOXELS > 30)
        assert mask.voxels.dtype == np.uint8
        assert mask.spacing == pytest.approx(volume.spacing, rel=1e-6)


@pytest.mark.parametrize(
    "settings", [{}, {"metadata": None}, {"imagej": True, **ZYX}, {"ome": True, **ZYX}]
)
def test_a_stack_without_spacing(tmp_path, settings):
    tifffile.imwrite(tmp_path / "s.tif", VOXELS.astype(np.uint8), **settings)
    assert holds_volume(tmp_path / "s.tif")
    volume = read_volume(tmp_path / "s.tif")
    assert volume.spacing is None
    assert np.array_equal(volume.voxels, VOXELS)
    volume.save(tmp_path / "m.tif", VOXELS % 2)
    assert np.array_equal(read_volume(tmp_path / "m.tif").voxels, VOXELS % 2)


def test_which_files_are_volumes(tmp_path):
    tifffile.imwrite(tmp_path / "flat.tif", VOXELS[0])
    tifffile.imwrite(tmp_path / "rgb.tif", np.zeros((6, 7, 3), np.uint8), photometric="rgb")
    (tmp_path / "broken.tif").write_bytes(b"II*\0" + bytes(3))
    for name in ("flat.tif", "rgb.tif", "broken.tif"):
        assert not holds_volume(tmp_path / name)
    assert holds_volume("scan.nii.gz")
    with pytest.raises(FileNotFoundError):
        holds_volume(tmp_path / "none.tif")


@pytest.mark.parametrize(
    ("name", "voxels", "message"),
    [
        ("a.nii", np.zeros((3, 4, 5, 2)), r"three axes"),
        ("a.nii", np.zeros((3, 4)), "three axes"),
        ("a.nii.gz", np.zeros((3, 4, 5), np.complex64), "complex64"),
        ("a.tif", np.zeros((3, 2, 5, 6), np.uint8), "axes are"),
        ("a.tif", np.zeros((3, 6, 7, 3), np.uint8), "3 colours"),
        ("j.tif", np.zeros((3, 2, 5, 6), np.uint8), "2 channels"),
        ("t.tif", np.zeros((4, 1, 1, 5, 6, 1), np.uint8), "4 times"),
    ],
)
def test_what_is_no_volume(tmp_path, name, voxels, message):
    path = tmp_path / name
    if ".nii" in name:
        nifti(path, voxels)
    else:
        colours = {"photometric": "rgb"} if voxels.shape[-1] == 3 else {}
        tifffile.imwrite(path, voxels, imagej=name[0] in "jt", **colours)
    with pytest.raises(ValueError, match=message) as caught:
        read_volume(path)
    assert str(path) in str(caught.value)


def test_large_volumes_are_refused_before_they_are_decoded(tmp_path):
    """Headers that promise more than the file has, and files that are a bomb of zeros."""
    path = nifti(tmp_path / "scan.nii")
    with pytest.raises(ValueError, match="210 voxels are more than 209"):
        read_volume(path, most_voxels=209)
    data = bytearray(path.read_bytes())
    data[42:48] = np.array([30000, 30000, 30000], dtype="<i2").tobytes()
    for name, content in (("huge.nii", bytes(data)), ("huge.nii.gz", gzip.compress(bytes(data)))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match="27000000000000 voxels are more than"):
            read_volume(tmp_path / name)


@pytest.mark.parametrize("name", ["scan.nii", "scan.nii.gz", "stack.tif", "stack.ome.tif"])
def test_damaged_bytes_are_read_or_refused_in_a_sentence(tmp_path, name):
    path = tmp_path / name
    if ".nii" in name:
        nifti(path)
    else:
        tifffile.imwrite(path, VOXELS, ome="ome" in name)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    damaged = [whole[:length] for length in rng.integers(0, len(whole), 15)] + [b""]
    for _ in range(25):
        changed = bytearray(whole)
        for place in rng.integers(0, min(len(whole), 400), 3):
            changed[place] = rng.integers(256)
        damaged.append(bytes(changed))
    for content in damaged:
        path.write_bytes(content)
        try:
            assert read_volume(path).voxels.ndim == 3
        except ValueError as error:
            assert name in str(error)  # noqa: PT017


def test_names_that_do_not_fit_their_bytes(tmp_path):
    for name in ("scan.nii", "scan.nii.gz", "stack.tif", "scan.mgz"):
        (tmp_path / name).write_bytes(b"no volume at all" * 40)
        with pytest.raises(ValueError, match=name):
            read_volume(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_volume(tmp_path / "none.nii")


def test_what_is_not_saved(tmp_path):
    volume = read_volume(nifti(tmp_path / "scan.nii"))
    for wrong, kind in (
        (VOXELS[1:], ValueError), (VOXELS - 1, ValueError), (VOXELS * 0.5, TypeError),
        (VOXELS.astype(np.int64) << 12, ValueError),
    ):  # fmt: skip
        with pytest.raises(kind, match="voxels"):
            volume.save(tmp_path / "mask.nii", wrong)
    assert not (tmp_path / "mask.nii").exists()
