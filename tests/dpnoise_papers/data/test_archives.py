import stat
import tarfile
import zipfile
from io import BytesIO

import pytest

from dpnoise_papers.data.archives import member_of

WANTED = b"1,2,3\n" * 100


def zipped(members, compression=zipfile.ZIP_DEFLATED):
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(members, mode="w:gz"):
    stream = BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, content in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if info.isfile():
                info.size = len(content)
            archive.addfile(info, BytesIO(content))
    return stream.getvalue()


def link(kind):
    info = tarfile.TarInfo("folder/table.csv")
    info.type, info.linkname = kind, "elsewhere"
    return info


def zip_link():
    info = zipfile.ZipInfo("table.csv")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zipped([(info, b"elsewhere")])


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("member", ["table.csv", "folder/table.csv"])
def test_member_is_found_by_the_end_of_its_path(pack, member):
    archive = pack([("folder/other.csv", b"x"), ("folder/table.csv", WANTED), ("mytable.csv", b"")])
    assert member_of(archive, member) == WANTED


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_every_tar_compression(mode):
    assert member_of(tarred([("table.csv", WANTED)], mode), "table.csv") == WANTED


UNSAFE = ["../table.csv", "/table.csv", "a/../../table.csv", "C:/table.csv", "..\\table.csv"]


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_names_are_refused_even_beside_the_wanted_member(pack, name):
    with pytest.raises(ValueError, match="unsafe archive: it holds a member named"):
        member_of(pack([(name, b""), ("folder/table.csv", WANTED)]), "folder/table.csv")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_are_refused_in_tar(kind):
    with pytest.raises(ValueError, match="not a regular file"):
        member_of(tarred([(link(kind), b"")]), "table.csv")


def test_links_are_refused_in_zip():
    with pytest.raises(ValueError, match="is a link"):
        member_of(zip_link(), "table.csv")


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("bomb", ["table.csv", "beside.csv"])
def test_bombs_are_refused(pack, bomb):
    archive = pack([(bomb, b"\0" * 2_000_000), ("x/table.csv", WANTED)])
    assert len(archive) < 20_000
    with pytest.raises(ValueError, match="expected at most 1000000 bytes unpacked, got 2000"):
        member_of(archive, "x/table.csv", limit=1_000_000)


def test_a_zip_that_lies_about_its_size_is_refused():
    archive = bytearray(zipped([("table.csv", b"\0" * 2_000_000)]))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = archive.index(signature) + offset
        archive[start : start + 4] = (1000).to_bytes(4, "little")
    with pytest.raises(ValueError, match="archive"):
        member_of(bytes(archive), "table.csv", limit=1_000_000)


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_damaged_archives_are_refused(pack):
    archive = pack([("table.csv", bytes(range(256)) * 400)])
    assert len(archive) > 200
    for broken in (b"", b"<html>", archive[:60], archive[: len(archive) // 2]):
        with pytest.raises(ValueError, match="archive"):
            member_of(broken, "table.csv")


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("members", [["other.csv"], ["a/table.csv", "b/table.csv"]])
def test_member_must_be_there_once(pack, members):
    with pytest.raises(ValueError, match=r"expected one member 'table.csv'"):
        member_of(pack([(name, WANTED) for name in members]), "table.csv")
