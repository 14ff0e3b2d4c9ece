"""Labelled images: the archive as registered, read exactly, or refused with one clear message."""

import hashlib
import tarfile
from functools import partial
from io import BytesIO

import numpy as np
import pytest
import yaml
from PIL import Image

from dpnoise_papers.data import images as module
from dpnoise_papers.data.images import images_contents, load_images, read_archive, read_images
from dpnoise_papers.data.registry import find_images, read_images_registry
from dpnoise_papers.data.sets import DatasetUnavailable, prepare

PIXELS = 3 * 4 * 5
CLASSES = ["cat", "dog"]
TRAIN, TEST = 6, 2  # images of each class
ENTRY = {
    "title": "toy",
    "citation": "nobody",
    "licence": "none",
    "homepage": "https://example.org/toy.html",
    "classes": CLASSES,
    "height": 4,
    "width": 5,
    "train": TRAIN,
    "test": TEST,
    "train_files": ["data_1.bin", "data_2.bin"],
    "test_files": ["test.bin"],
}


def records(count, seed):
    """Records of `count` images of each class, in a random order."""
    draw = np.random.default_rng(seed)
    rows = draw.integers(0, 256, (2 * count, 1 + PIXELS), dtype=np.uint8)
    rows[:, 0] = draw.permutation(np.repeat([0, 1], count))
    return rows


ROWS, TESTED = records(TRAIN, 1), records(TEST, 2)
MEMBERS = {
    "toy/readme.html": b"ignored",
    "toy/test.bin": TESTED.tobytes(),
    "toy/data_2.bin": ROWS[TRAIN:].tobytes(),
    "toy/data_1.bin": ROWS[:TRAIN].tobytes(),
}


def tarred(members, mode="w:gz"):
    stream = BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, BytesIO(content))
    return stream.getvalue()


def jpegs():
    """Archive of a flat grey image for each (part, class, number), whose grey tells which."""
    members = {"README.md": b"a note"}
    for part, count in (("train", TRAIN), ("test", TEST)):
        for label, kind in enumerate(CLASSES):
            for number in range(count):
                grey = 10 * number + 100 * label + 3 * (part == "test")
                stream = BytesIO()
                Image.new("RGB", (5, 4), (grey,) * 3).save(stream, "JPEG", quality=95)
                members[f"{part}/{kind}/{number:04}.jpg"] = stream.getvalue()
    return members


def copy_of(content, form, note="", **changes):
    return {
        "form": form,
        "files": [f"toy/{form}.tar"],
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "note": note,
    } | changes


@pytest.fixture
def place(tmp_path):
    """Return a registry and folders with a mirror that holds both copies."""
    original, lossy = tarred(MEMBERS), tarred(jpegs(), "w:xz")
    copies = {"toy-original": copy_of(original, "records"),
              "toy-jpeg": copy_of(lossy, "jpeg", "lossy copy")}  # fmt: skip
    text = yaml.safe_dump({"toy": ENTRY | {"copies": copies}}, sort_keys=False)
    (tmp_path / "images.yaml").write_text(text)
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / "toy" / "records.tar").write_bytes(original)
    (tmp_path / "mirror" / "toy" / "jpeg.tar").write_bytes(lossy)
    return tmp_path


def load(place, **options):
    places = {"cache": place / "cache", "mirror": place / "mirror", "offline": True}
    return load_images("toy", **places | options, registry=place / "images.yaml")


def test_the_original_is_read_to_the_last_pixel_and_preferred(place):
    images, source = load(place)
    assert source == "mirror"
    assert images.note == ""
    for rows, pixels, labels in (
        (ROWS, images.train, images.train_labels),
        (TESTED, images.test, images.test_labels),
    ):
        assert pixels.dtype == labels.dtype == np.uint8
        assert pixels.shape == (len(rows), 3, 4, 5)
        assert np.array_equal(np.column_stack([labels, pixels.reshape(len(rows), -1)]), rows)


def test_a_lossy_copy_replaces_a_missing_original_and_says_so(place):
    (place / "mirror" / "toy" / "records.tar").unlink()
    images, _ = load(place)
    assert images.note == "lossy copy"
    assert images.train.shape == (2 * TRAIN, 3, 4, 5)
    for count, offset, pixels, labels in (
        (TRAIN, 0, images.train, images.train_labels),
        (TEST, 3, images.test, images.test_labels),
    ):
        assert labels.tolist() == [0] * count + [1] * count
        greys = [10 * number + 100 * label + offset for label in (0, 1) for number in range(count)]
        assert np.abs(pixels - np.array(greys, float)[:, None, None, None]).max() <= 2


def test_prepared_images_come_back_and_missing_ones_are_an_error(place):
    npz = place / "images" / "toy.npz"
    get = partial(
        images_contents, "toy", cache=place / "cache", mirror=place / "mirror", offline=True,
        registry=place / "images.yaml",
    )  # fmt: skip
    status = prepare("toy", npz, get)
    images, _ = load(place)
    again = read_images(str(npz))
    assert np.array_equal(again.train, images.train)
    assert np.array_equal(again.test_labels, images.test_labels)
    assert again.fingerprint == images.fingerprint == status["fingerprint"]
    assert again.note == status["note"] == ""
    assert status["shape"] == [2 * (TRAIN + TEST), PIXELS]
    for file in ("records.tar", "jpeg.tar"):
        (place / "mirror" / "toy" / file).unlink()
    with pytest.raises(DatasetUnavailable, match="mirror: no file for 'toy-original'"):
        prepare("toy", npz, get)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-1], "expected the sha256"),
        (lambda content: b"0" + content[1:], "expected the sha256"),
    ],
)
def test_another_archive_is_refused_for_its_digest(place, damage, message):
    file = place / "mirror" / "toy" / "records.tar"
    file.write_bytes(damage(file.read_bytes()))
    (place / "mirror" / "toy" / "jpeg.tar").unlink()
    with pytest.raises(DatasetUnavailable, match=message) as refused:
        load(place)
    assert str(refused.value).count("records.tar") == 1


def without(name):
    return {key: value for key, value in MEMBERS.items() if key != name}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (without("toy/data_2.bin"), r"expected data_2.bin in the archive"),
        (MEMBERS | {"toy/test.bin": TESTED.tobytes()[:-1]}, r"toy/test.bin: expected 244 bytes"),
        (MEMBERS | {"toy/test.bin": TESTED.tobytes() + b"0"}, r"expected 244 bytes, got 245"),
        (MEMBERS | {"more/test.bin": TESTED.tobytes()}, "expected one file of that name"),
        (
            MEMBERS | {"toy/test.bin": (TESTED + np.eye(1, 61, dtype=np.uint8) * 2).tobytes()},
            "expected labels from 0 to 1, got [23]",
        ),
        (
            MEMBERS | {"toy/test.bin": np.vstack([TESTED[:1]] * 4).tobytes()},
            "expected 2 images of each class for testing, got",
        ),
    ],
)
def test_content_that_is_not_as_registered_is_refused(place, members, message):
    entry = find_images("toy", place / "images.yaml")
    path = place / "other.tar"
    path.write_bytes(tarred(members))
    with pytest.raises(ValueError, match=message):
        read_archive("toy", path, entry, entry.copies["toy-original"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train/cat/0000.jpg", b"no image", "train/cat/0000.jpg: not a readable image"),
        ("train/cow/0000.jpg", b"", "expected train/CLASS/NUMBER.jpg in the archive, got 'train/c"),
        ("train/cat/more.jpg", jpegs()["train/cat/0000.jpg"], "expected 6 images of each class"),
    ],
)
def test_a_bad_image_is_refused(place, name, content, message):
    entry = find_images("toy", place / "images.yaml")
    path = place / "other.tar"
    path.write_bytes(tarred(jpegs() | {name: content}))
    with pytest.raises(ValueError, match=message):
        read_archive("toy", path, entry, entry.copies["toy-jpeg"])


def test_an_image_of_another_size_is_refused(place):
    stream = BytesIO()
    Image.new("RGB", (4, 5)).save(stream, "JPEG")
    entry = find_images("toy", place / "images.yaml")
    path = place / "other.tar"
    path.write_bytes(tarred(jpegs() | {"test/dog/0000.jpg": stream.getvalue()}))
    with pytest.raises(ValueError, match=r"test/dog/0000.jpg: expected 5 x 4 RGB, got"):
        read_archive("toy", path, entry, entry.copies["toy-jpeg"])


def test_what_is_no_archive_is_refused(place):
    entry = find_images("toy", place / "images.yaml")
    path = place / "other.tar"
    path.write_bytes(tarred(MEMBERS)[:100])
    with pytest.raises(ValueError, match="not a readable archive"):
        read_archive("toy", path, entry, entry.copies["toy-original"])


def test_a_download_is_verified_and_kept(place, monkeypatch):
    original = (place / "mirror" / "toy" / "records.tar").read_bytes()
    text = (place / "images.yaml").read_text()
    registry = yaml.safe_load(text)
    registry["toy"]["copies"]["toy-original"]["url"] = "https://example.org/toy.tar.gz"
    (place / "images.yaml").write_text(yaml.safe_dump(registry, sort_keys=False))

    def served(content):
        def retrieve(url, folder, digest):
            assert url == "https://example.org/toy.tar.gz"
            assert digest == hashlib.sha256(original).hexdigest()
            (folder / "raw").write_bytes(content)
            return folder / "raw"

        monkeypatch.setattr(module, "retrieve", retrieve)

    served(original[:-1])
    with pytest.raises(
        DatasetUnavailable,
        match=r"toy.tar.gz: expected .* put it into .* as toy",
    ):
        load(place, mirror="", offline=False)
    assert list((place / "cache").iterdir()) == []
    served(original)
    images, source = load(place, mirror="", offline=False)
    assert source == "https://example.org/toy.tar.gz"
    assert load(place, mirror="")[1] == "cache"
    assert images.note == ""


def test_an_unknown_name_and_a_wrong_registry_are_refused(place):
    with pytest.raises(ValueError, match="images: expected one of toy, got 'mnist'"):
        load_images("mnist", registry=place / "images.yaml")
    wrong = {"toy": ENTRY | {"classes": ["cat", "cat"], "train_files": ["a"] * 5, "copies": {
        "toy-original": copy_of(b"1", "records")}}}  # fmt: skip
    (place / "images.yaml").write_text(yaml.safe_dump(wrong, sort_keys=False))
    with pytest.raises(ValueError, match=r"toy.classes: expected different names") as refused:
        read_images_registry(place / "images.yaml")
    assert "toy.train_files: expected a divisor of 12 files" in str(refused.value)


def test_the_shipped_registry_is_of_sixty_thousand_images():
    entry = find_images("cifar10")
    assert (entry.train + entry.test) * len(entry.classes) == 60_000
    assert entry.copies["cifar-10-binary"].note == ""
    assert "lossy" in entry.copies["cifar-10-jpeg"].note
