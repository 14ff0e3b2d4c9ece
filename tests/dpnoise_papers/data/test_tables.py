import gzip
import hashlib
import json
import math
import pickle
import struct
import zipfile
from io import BytesIO

import numpy as np
import pytest

import data_copies as copies
from dpnoise_papers.data.registry import TableEntry
from dpnoise_papers.data.tables import RefusedError, fingerprint, read_table, verify_table

FAITHFUL = {
    "LF": copies.text(),
    "CRLF": copies.text(end="\r\n"),
    "CR": copies.text(end="\r"),
    "no final newline": copies.text(last=False),
    "blank lines at the end": copies.text() + b"\n\n",
    "header": copies.text(header="width,height,kind"),
    "other header": copies.text(header="A,B,C"),
    "semicolon": copies.text(separator=";"),
    "tab": copies.text(separator="\t"),
    "byte order mark": b"\xef\xbb\xbf" + copies.text(),
    "Turkish code page": copies.text().decode().encode("cp1254"),
    "quoted": copies.text([[f'"{cell}"' for cell in row] for row in copies.cells()]),
    "space after comma": copies.text(separator=", "),
    "ARFF": copies.arff(),
    "ARFF, CRLF": copies.arff().replace(b"\n", b"\r\n"),
    "workbook": copies.workbook(),
    "gzip": gzip.compress(copies.text()),
}


def plain(columns, **more):
    """Return the entry of a table of which only the form matters."""
    digests = dict.fromkeys(columns, "0" * 12)
    given = {"files": ["a.csv"], "sources": [], "rows": 1, "fingerprint": "0" * 64}
    return TableEntry.model_validate(given | {"columns": digests} | more)


@pytest.mark.parametrize("name", FAITHFUL)
def test_every_faithful_copy_reads_as_the_same_bits(name):
    table = read_table(FAITHFUL[name], copies.entry())
    verify_table(table, copies.entry())
    assert table.values.tobytes() == copies.table().values.tobytes()


def test_whitespace_separated_numbers():
    entry = plain("ab")
    table = read_table(b"  0.10  -2e-3\n 5.\t7 \n", entry)
    assert table.values.tolist() == [[0.1, -0.002], [5.0, 7.0]]


def test_numeric_labels_in_any_spelling():
    entry = plain("c", labels={"c": {"1": -1, "2": 1, "present": 1}})
    table = read_table(b"1\n2.0\n'2'\npresent\n", entry)
    assert table["c"].tolist() == [-1, 1, 1, 1]


def test_fingerprint_is_the_documented_one():
    columns, values = ["x", "y"], [[1.5, -2.0], [0.0, 1e-300], [3.0, 4.0]]
    head = json.dumps({"columns": columns, "shape": [3, 2]})
    body = b"".join(struct.pack("<d", value) for row in values for value in row)
    expected = hashlib.sha256(head.encode() + body).hexdigest()
    assert fingerprint(columns, np.array(values)) == expected
    assert fingerprint(columns, np.asfortranarray(values)) == expected


def test_fingerprint_ignores_the_sign_of_zero_and_nothing_else():
    values = np.array([[0.0, 1.0], [2.0, 3.0]])
    reference = fingerprint("ab", values)
    assert fingerprint("ab", np.array([[-0.0, 1.0], [2.0, 3.0]])) == reference
    nudged = values.copy()
    nudged[1, 1] = np.nextafter(3.0, 4.0)
    others = [
        fingerprint("ab", nudged),
        fingerprint("ba", values),
        fingerprint("ab", values[::-1]),
        fingerprint("ab", values[:, ::-1]),
        fingerprint("abcd", values.reshape(1, 4)),
    ]
    assert reference not in others
    assert len(set(others)) == len(others)


def _changed():
    rows = copies.cells()
    rows[17][1] = str(int(rows[17][1]) + 1)
    return copies.text(rows)


def _last_digit():
    rows = copies.cells()
    rows[3][0] = repr(float(np.nextafter(float(rows[3][0]), 9)))
    return copies.text(rows)


def _relabelled():
    rows = copies.cells()
    rows[0][2], rows[1][2] = rows[1][2], rows[0][2]
    return copies.text(rows)


def _blank_cell():
    rows = copies.cells()
    rows[5][1] = ""
    return copies.text(rows)


def _html():
    page = "<!DOCTYPE html>\n<html><body>404, not found</body></html>\n"
    return page.encode()


def _zip_of(name, content):
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, content)
    return stream.getvalue()


CORRUPT = {
    "empty": (b"", "empty"),
    "only blanks": (b" \n\n", "empty"),
    "header alone": (b"width,height,kind\n", f"expected {copies.ROWS} rows .* got 0 rows"),
    "ARFF without records": (b"@relation x\n@data\n", "no records"),
    "truncated between lines": (
        b"\n".join(copies.text().splitlines()[:-1]),
        f"expected {copies.ROWS} rows .* got {copies.ROWS - 1} rows",
    ),
    "truncated within a line": (copies.text()[:-30], r"line 40, column|line 40: expected 3 values"),
    "a row twice": (copies.text(copies.cells() + copies.cells()[:1]), "got 41 rows"),
    "one value": (_changed(), "1 of 3 columns differ, first 'height'"),
    "one last digit": (_last_digit(), "1 of 3 columns differ, first 'width'"),
    "two labels": (_relabelled(), "1 of 3 columns differ, first 'kind'"),
    "columns swapped": (
        copies.text([[b, a, c] for a, b, c in copies.cells()]),
        "2 of 3 columns differ, first 'width'",
    ),
    "columns and header swapped": (
        copies.text([[b, a, c] for a, b, c in copies.cells()], header="height,width,kind"),
        "2 of 3 columns differ",
    ),
    "rows sorted": (copies.text(sorted(copies.cells())), "3 of 3 columns differ.*another order"),
    "missing value": (_blank_cell(), "line 6, column 'height': expected a finite number, got ''"),
    "question mark": (_changed().replace(b"-0.", b"?0.", 1), "expected a finite number"),
    "not a number": (b"nan,1,x\n" + copies.text(), "expected a finite number, got 'nan'"),
    "unknown label": (b"1,1,Kuh\n", "column 'kind': expected .* got 'Kuh'"),
    "another table": (b"1 2 3 4\n5 6 7 8\n", "expected 3 values, got 4"),
    "HTML error page": (_html(), "HTML"),
    "zeros": (b"\0" * 1000, "binary"),
    "no gzip": (b"\x1f\x8b\x08 not really", "not a readable compressed file"),
    "truncated gzip": (gzip.compress(copies.text())[:-9], "not a readable compressed file"),
    "pickle": (pickle.dumps([1.0, 2.0]), "binary"),
    "truncated workbook": (copies.workbook()[:-500], "workbook"),
    "zip, not a workbook": (_zip_of("a.txt", b"1,2,3"), "workbook"),
    "one endless line": (b'1,"' + b"x" * 200_000, "line 1: field larger"),
}


@pytest.mark.parametrize("name", CORRUPT)
def test_every_corruption_is_refused_with_what_differs(name):
    content, message = CORRUPT[name]
    with pytest.raises(RefusedError, match=message):
        verify_table(read_table(content, copies.entry()), copies.entry())


def test_workbook_with_damaged_xml():
    stream = BytesIO()
    with zipfile.ZipFile(BytesIO(copies.workbook())) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content[: len(content) // 2] if "sheet1" in name else content)
    with pytest.raises(RefusedError, match="workbook"):
        read_table(stream.getvalue(), copies.entry())


def test_a_pickle_is_never_run(tmp_path):
    target = tmp_path / "ran"

    class Payload:
        def __reduce__(self):
            return (type(target).touch, (target,))

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        content = pickle.dumps(Payload(), protocol=protocol)
        with pytest.raises(RefusedError):
            read_table(content, copies.entry())
    assert not target.exists()


TRIPS = b"""when,kind,value,rest
2014-09-23 23:59:59,a,1.5,
2014-09-24 00:00:00,b,-0.0,7
2014-09-24 23:59:59,a,2e3,
"""
FORM = {"times": ["when"], "labels": {"kind": {"a": 1, "b": 2}}, "gaps": ["rest"]}
TRIP = plain(["when", "kind", "value", "rest"], **FORM)
START = 1411516800.0  # 24 September 2014, 00:00 UTC


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("change", [bytes, lambda text: text.replace(b"\n", b"\r\n")])
def test_dates_words_and_gaps(pack, change):
    table = read_table(pack(change(TRIPS)), TRIP)
    expected = [[START - 1, 1, 1.5, math.nan], [START, 2, 0, 7], [START + 86399, 1, 2e3, math.nan]]
    assert np.array_equal(table.values, expected, equal_nan=True)


def test_one_day_of_many():
    table = read_table(TRIPS, TRIP.model_copy(update={"day": "2014-09-24"}))
    assert table["when"].tolist() == [START, START + 86399]


def test_lines_of_different_length():
    table = read_table(b"1 2\n40.5  -74\n0 1 5.5\n", plain("abc", gaps=["c"]))
    expected = [[1, 2, math.nan], [40.5, -74, math.nan], [0, 1, 5.5]]
    assert np.array_equal(table.values, expected, equal_nan=True)
    with pytest.raises(RefusedError, match="line 2: expected 3 values, got 1"):
        read_table(b"1 2\n40.5\n", plain("abc", gaps=["c"]))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (TRIPS.replace(b"-0.0", b"inf"), "line 3, column 'value': .*got 'inf'"),
        (TRIPS.replace(b"1.5", b""), "line 2, column 'value': .*got ''"),
        (TRIPS.replace(b",b,", b",c,"), "line 3, column 'kind': expected a or b, got 'c'"),
        (TRIPS.replace(b"-23 23", b"-31 23"), "line 2, column 'when': expected a date"),
        (TRIPS.replace(b"24 00:00:00", b"24 00:00:00Z"), "line 3, column 'when': expected a date"),
        (TRIPS.replace(b"2e3,", b"2e3,1,1,1"), "line 4: expected 4 values, got 6"),
        (TRIPS.replace(b"7\n", b"seven\n"), "line 3, column 'rest': .*got 'seven'"),
    ],
)
def test_damage_of_trips_is_named(content, complaint):
    with pytest.raises(RefusedError, match=complaint):
        read_table(content, TRIP)
