"""The report without a browser: structure, escaping, odd input, and files that appear whole or not at all."""

import base64
import dataclasses
import hashlib
import itertools
import os
import re
import struct
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from report.example import cost_scatter, example_page, groups_lines, methods_table, paper_dots

from vicinal.experiments import feature_image, voronoi_cells
from vicinal.report import (
    Cell,
    Column,
    DotRow,
    Dots,
    FeatureImage,
    FeatureImages,
    Lines,
    Page,
    Point,
    Scatter,
    Section,
    Series,
    Table,
    Voronoi,
    VoronoiPanel,
    human_seconds,
    render,
    write_report,
)
from vicinal.report._cells import clipped_cells
from vicinal.report._charts import pareto_front
from vicinal.report._labels import Box, place, spread
from vicinal.report._png import png
from vicinal.report._scales import scale_of

VOID = {"meta", "link", "img", "br", "hr", "input"}
NASTY = "<script>alert(\"x\")</script> & 'q' \N{PARTY POPPER} \x00\ud800"
LONG = "a name without end " * 30


class Document(HTMLParser):
    """Elements with their attributes and text; raises where they are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open, f"</{name}> closes nothing"
        assert self.open.pop() == name, self.getpos()

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text += data

    def all(self, name, **wanted):
        found = [attributes for tag, attributes in self.elements if tag == name]
        return [each for each in found if all(each.get(key.strip("_")) == value for key, value in wanted.items())]

    def painted(self, name, kind):
        return [each for each in self.all(name) if kind in each.get("class", "").split()]


def shown(*blocks, **page):
    return Document(render(Page("page", sections=(Section("section", "", tuple(blocks)),), **page)))


def test_page_is_whole_and_well_formed():
    page = example_page()
    document = Document(render(page))
    for words in (page.title, page.subtitle, page.warning, page.command, *page.verdict, *page.notes):
        assert words in document.text
    for section in page.sections:
        assert section.title in document.text
    assert len(document.all("main")) == len(document.all("header")) == len(document.all("footer")) == 1
    assert document.all("html", lang="en")
    assert document.all("a", _class="skip", href="#evidence")
    assert document.all("main", id="evidence")
    identifiers = [attributes["id"] for _, attributes in document.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for _, attributes in document.elements:
        for reference in (attributes.get("aria-labelledby"), attributes.get("href", "")[1:]):
            assert not reference or reference in identifiers or attributes["href"].startswith("data:")


def test_page_needs_no_network():
    text = render(example_page())
    document = Document(text)
    for name, attributes in document.elements:
        assert name not in ("iframe", "object", "embed", "base")
        for key in ("src", "href", "srcset", "xlink:href", "action"):
            assert attributes.get(key, "#").startswith(("#", "data:")), (name, attributes)
    assert not re.search(r"url\(|@import|https?://|fetch\(|XMLHttpRequest", text)
    [policy] = [
        attributes["content"]
        for attributes in document.all("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL).group(1)
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert "default-src 'none'" in policy


def test_same_page_same_text():
    assert render(example_page()) == render(example_page())


def nasty_blocks():
    return (
        Table(NASTY, (Column(NASTY, hint=NASTY),), ((Cell(NASTY, detail=NASTY),),)),
        Scatter(NASTY, NASTY, NASTY, (Point(NASTY, 1.0, 0.5, group=NASTY), Point(NASTY, None, 1.0)), caption=NASTY),
        Lines(NASTY, NASTY, NASTY, (Series(NASTY, (1.0, 2.0), (0.1, 0.2)),), reference=((NASTY, 0.15),)),
        Dots(NASTY, NASTY, (DotRow(NASTY, 1.0),), NASTY),
        FeatureImage(NASTY, np.full((2, 3), 9, np.uint8), ((NASTY, 0, 2),), 0.5, NASTY),
        FeatureImages(NASTY, (FeatureImage(NASTY, np.full((2, 3), 9, np.uint8), ((NASTY, 0, 2),), 0.5, NASTY),), NASTY),
        Voronoi(NASTY, (VoronoiPanel(NASTY, np.eye(2), np.eye(2), np.array([0, 0]), (NASTY,)),), NASTY),
    )


def test_everything_is_escaped():
    page = Page(NASTY, NASTY, (NASTY, NASTY), NASTY, (Section(NASTY, NASTY, nasty_blocks()),), NASTY)
    page = dataclasses.replace(page, facts=((NASTY, NASTY),), notes=(NASTY,))
    text = render(page)
    document = Document(text)
    assert len(document.all("script")) == 1
    assert "alert" not in re.search(r"<script>(.*?)</script>", text, re.DOTALL).group(1)
    assert document.text.count("<script>alert(\"x\")</script> & 'q'") > 20
    assert "\x00" not in text
    text.encode()


def test_table_has_sort_keys_marks_and_bars():
    document = shown(methods_table())
    heads = document.all("th", scope="col")
    assert [head["data-first"] for head in heads] == ["ascending", "descending", "ascending", "ascending", "ascending"]
    assert {head["aria-sort"] for head in heads} == {"none"}
    assert len(document.all("button", _class="sort")) == 5
    assert len(document.all("th", scope="row")) == 11
    missing = document.all("td", _class="number missing")
    assert len(missing) == 2
    assert all("data-key" not in cell for cell in missing)
    [best] = document.all("td", _class="number best")
    assert float(best["data-key"]) == 0.9867
    assert best["title"] == "0.9741 to 0.9942"
    assert len(document.all("svg", _class="bar")) == 11
    assert "not significantly worse than the best" in document.text
    assert "paper 0.9884 (-0.0017)" in document.text


def test_bars_share_the_scale_of_their_column():
    cells = [Cell(f"{v}", v, v - 1, v + 1) for v in (1.0, 2.0, 5.0)]
    document = shown(Table("t", (Column("c", "number"),), tuple((cell,) for cell in cells)))
    at = [float(dot["cx"]) for dot in document.all("circle", _class="dot")[:3]]
    assert at[0] < at[1] < at[2]
    assert (at[2] - at[1]) / (at[1] - at[0]) == pytest.approx(3, rel=0.02)


def test_infinite_and_missing_keys_are_no_sort_keys():
    cells = (Cell("nan", float("nan")), Cell("inf", float("inf"), 0.0, float("nan")), Cell("", 1.0), Cell("x", None))
    document = shown(Table("t", (Column("c", "number"),), tuple((cell,) for cell in cells)))
    assert all("data-key" not in cell for cell in document.all("th", scope="row"))


def test_scatter_names_every_point_in_both_drawings():
    scatter = cost_scatter()
    document = shown(scatter)
    assert len(document.all("div", _class="wide")) == len(document.all("div", _class="narrow")) == 1
    spots = document.all("g", role="img")
    assert len(spots) == 2 * len(scatter.points)
    assert all(spot["tabindex"] == "0" and spot["aria-label"] for spot in spots)
    for point in scatter.points:
        assert document.text.count(point.label) >= 3
    assert "better" in document.text


def test_front_is_what_nothing_beats(rng):
    points = [Point(str(i), *rng.random(2)) for i in range(60)]
    beaten = {p for p in points if any(q.x <= p.x and q.y >= p.y and q is not p for q in points)}
    assert set(pareto_front(points)) == set(points) - beaten
    assert pareto_front([Point("a", 1, 1), Point("b", 1, 2)])[0].label == "b"


def test_points_without_a_figure_are_named_not_drawn():
    points = (Point("good", 1.0, 0.9), Point("no time", None, 0.9), Point("zero", 0.0, 0.9), Point("nan", 1.0, np.nan))
    document = shown(Scatter("s", "t", "a", points))
    assert len(document.all("g", role="img")) == 2
    assert "not drawn: no time, zero, nan." in document.text
    assert len(shown(Scatter("s", "t", "a", points, x_log=False)).all("g", role="img")) == 4


def test_lines_show_bands_references_and_names():
    document = shown(groups_lines())
    assert len(document.all("g", role="img")) == 2 * 18
    assert len(document.painted("path", "band")) == 2 * 3
    assert len(document.all("path", _class="reference")) == 2 * 2
    for words in ("RandLocal, image", "isolation kernel", "raw columns", "RBF kernel SVM", "groups, log scale"):
        assert words in document.text
    ticks = re.findall(
        r">(25|50|100|200|400|800)</text>", render(Page("p", sections=(Section("s", "", (groups_lines(),)),)))
    )
    assert ticks == ["25", "50", "100", "200", "400", "800"] * 2


def test_lines_skip_gaps():
    series = Series("s", (1.0, 2.0, None, 4.0), (0.1, None, 0.3, 0.4), (0.0, 0.0, 0.0, np.nan), (0.2, 0.2, 0.4, 0.5))
    document = shown(Lines("l", "x", "y", (series, Series("nothing", (1.0,), (np.nan,)))))
    assert len(document.all("g", role="img")) == 2 * 2
    assert "not drawn: nothing." in document.text


def test_a_guide_falls_on_log_axes_as_a_straight_dashed_line_without_points():
    x = (64.0, 256.0, 4096.0)
    errors = Series("errors", x, (0.1, 0.05, 0.0), (0.05, 0.0, 0.0), (0.2, 0.1, 0.1))
    falling = Series("1/√m", x, tuple(m**-0.5 for m in x), guide=True)
    document = shown(Lines("l", "m", "error", (errors, falling), x_log=True, y_log=True))
    assert len(document.all("g", role="img")) == 2 * 2  # an error of 0 has no place on a log axis
    assert not document.painted("path", "band")  # nor has an interval that ends there, and one alone is no band
    guides = document.all("path", _class="reference guide")
    assert len(guides) == 2
    places = [tuple(map(float, place.split())) for place in guides[0]["d"][1:].split("L")]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.pairwise(places)]
    assert slopes[0] == pytest.approx(slopes[1], rel=0.01)
    assert slopes[0] > 0  # downwards, in a drawing
    for words in ("1/√m", "m, log scale", "error, log scale"):
        assert words in document.text


def test_lines_over_seconds_say_what_their_points_are():
    series = Series("map", (0.5, 90.0), (0.8, 0.9), names=("64 features", ""))
    document = shown(Lines("l", "time", "accuracy", (series,), x_log=True, x_seconds=True))
    told = [attributes["aria-label"] for attributes in document.all("g", role="img")]
    assert told[:2] == ["map, 64 features: accuracy 0.8, time 500 ms", "map: accuracy 0.9, time 1 min 30 s"]
    with pytest.raises(ValueError, match="2 values of x but 1 of names"):
        Series("map", (0.5, 90.0), (0.8, 0.9), names=("64 features",))


def test_dots_show_the_papers_figure_as_an_open_diamond():
    document = shown(paper_dots())
    rows = len(paper_dots().rows)
    assert len(document.painted("path", "open")) == 2 * rows + 1
    assert "RandLocal: accuracy 0.9778 (0.9634 to 0.9876); the paper: 0.9802" in [
        spot["aria-label"] for spot in document.all("g", role="img")
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_any_number_of_methods(count):
    names = [f"{LONG if i % 4 == 0 else ''}method {i}" for i in range(count)]
    values = [0.5 + 0.01 * (i % 13) for i in range(count)]
    document = shown(
        Scatter("s", "t", "a", tuple(Point(n, 0.1 + v, v, v, v) for n, v in zip(names, values, strict=True))),
        Lines("l", "x", "y", tuple(Series(n, (1.0, 10.0), (v, v)) for n, v in zip(names, values, strict=True))),
        Dots("d", "a", tuple(DotRow(n, v) for n, v in zip(names, values, strict=True))),
        Table("t", (Column("c"),), tuple((Cell(n),) for n in names)),
    )
    assert len(document.all("g", role="img")) == 2 * count * 4
    assert document.text.count("There are no values to draw.") == (0 if count else 3)
    assert ("There are no rows." in document.text) == (count == 0)


def test_empty_sections_are_left_out():
    document = Document(render(Page("p", sections=(Section("nothing here"), Section("words", "only")))))
    assert "nothing here" not in document.text
    assert "words" in document.text
    assert not Document(render(Page("p"))).all("footer")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True) | st.none(), max_size=6), st.booleans())
def test_charts_take_any_number(values, log):
    document = shown(
        Scatter("s", "t", "a", tuple(Point("p", v, v, v, v) for v in values), x_log=log),
        Lines("l", "x", "y", (Series("s", tuple(values), tuple(values), tuple(values), tuple(values)),), x_log=log),
        Lines(
            "m", "x", "y", (Series("s", *[tuple(values)] * 4), Series("g", *[tuple(values)] * 2, guide=True)), y_log=log
        ),
        Dots("d", "a", tuple(DotRow("r", v, v, v, v) for v in values)),
        Table("t", (Column("c", "number"),), tuple((Cell("c", v, v, v),) for v in values)),
    )
    for name in ("path", "text", "circle"):
        for attributes in document.all(name):
            assert not re.search("nan|inf", f"{attributes.get('d')}{attributes.get('x')}{attributes.get('cx')}")


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 200)), max_size=25))
@settings(max_examples=40, deadline=None)
def test_labels_cover_neither_each_other_nor_points(points):
    never = [Box(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    bounds = Box(0, 0, 300, 200)
    boxes = [box for box in place(points, [(60, 14)] * len(points), bounds, never=never) if box]
    assert all(box.within(bounds) for box in boxes)
    assert not any(box.meets(other) for box in boxes for other in never)
    assert not any(a.meets(b) for i, a in enumerate(boxes) for b in boxes[:i])


@given(st.lists(st.floats(0, 100), min_size=1, max_size=10))
def test_spread_keeps_order_gap_and_bounds(places):
    moved = spread(places, 10, 0, 100)
    assert min(moved) >= 0
    assert max(moved) <= 100 + 1e-9
    assert all(b - a >= 10 - 1e-9 for a, b in zip(sorted(moved), sorted(moved)[1:], strict=False))
    assert all(moved[i] <= moved[j] for i in range(len(places)) for j in range(len(places)) if places[i] < places[j])


@given(st.lists(st.floats(1e-5, 1e6), min_size=1, max_size=5), st.booleans(), st.booleans())
def test_ticks_are_few_within_and_different(values, log, seconds):
    scale = scale_of(values, 0, 500, log=log)
    ticks = scale.ticks(6, seconds=seconds and min(values) < max(values))
    assert 1 <= len(ticks) <= 8
    assert all(-1e-6 <= scale(value) <= 500 + 1e-6 for value, _ in ticks)
    assert len({label for _, label in ticks}) == len(ticks)


SIZES = {"d": 86400, "h": 3600, "min": 60, "s": 1, "ms": 1e-3, "µs": 1e-6}


NARROW_TIMES = [(270_473, 273_198), (59.99, 60.01), (1e-3, 1.0004e-3), (0.97, 1.04), (7200, 7203)]


@pytest.mark.parametrize(
    ("values", "log"),
    [*itertools.product(NARROW_TIMES, [False, True]), ((0, 100_000), False), ((0, 9e8), False), ((0.01, 1e5), True)],
)
def test_time_ticks_lie_where_their_labels_say(values, log):
    ticks = scale_of(values, 0, 500, log=log).ticks(6, seconds=True)
    assert len(ticks) >= 2
    assert len({label for _, label in ticks}) == len(ticks)
    for value, label in ticks:
        words = label.replace(",", "").removeprefix("-").split()
        said = sum(float(count) * SIZES[unit] for count, unit in zip(words[::2], words[1::2], strict=True))
        assert said == pytest.approx(abs(value), rel=1e-12)


@pytest.mark.parametrize("values", [(1_230_000, 1_234_000), (5e15, 5.00001e15), (1, 1 + 1e-10), (-2.00001e7, -2e7)])
def test_labels_of_narrow_axes_differ(values):
    ticks = scale_of(values, 0, 500).ticks(6)
    assert len(ticks) >= 2
    assert [float(label.replace(",", "")) for _, label in ticks] == pytest.approx([v for v, _ in ticks], rel=1e-14)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0 s"),
        (2.5e-6, "2.5 µs"),
        (0.9999, "1 s"),
        (59.97, "1 min"),
        (3599.9, "1 h"),
        (86399, "1 d"),
        (-75, "-1 min 15 s"),
        (np.nan, "\N{EN DASH}"),
    ],
)
def test_seconds_as_people_say_them(value, words):
    assert human_seconds(value) == words


def decoded(data):
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += size + 12
    return chunks


def test_png_holds_the_pixels(rng):
    pixels = rng.integers(0, 256, (7, 5)).astype(np.uint8)
    chunks = decoded(png(pixels))
    assert list(chunks) == [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"]
    assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (5, 7)
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(7, 6)
    np.testing.assert_array_equal(lines[:, 1:], pixels)
    alphas = np.frombuffer(chunks[b"tRNS"], np.uint8)
    assert alphas[0] == 0
    assert alphas[1] >= 50
    assert alphas[255] == 255
    assert (np.diff(alphas.astype(int)) >= 0).all()


def test_feature_image_sorts_by_class_and_keeps_what_is_present(rng):
    y = np.array(["b"] * 30 + ["a"] * 3 + ["c"] * 300)
    dense = rng.random((333, 50)) * (rng.random((333, 50)) < 0.2)
    dense[:, 0] = (y == "a") * 1e-9
    image = feature_image(dense, y, title="t", max_rows=60, max_columns=20)
    assert image.pixels.shape == (60, 20)
    assert image.boundaries == (("a", 0, 3), ("b", 3, 31), ("c", 31, 60))
    np.testing.assert_array_equal(image.pixels[:, 0] > 0, np.arange(60) < 3)
    assert image.sparsity == pytest.approx((dense != 0).mean())
    sparse = feature_image(sp.csr_matrix(dense), y, title="t", max_rows=60, max_columns=20)
    np.testing.assert_array_equal(sparse.pixels, image.pixels)
    assert sparse.sparsity == pytest.approx(image.sparsity)
    assert feature_image(dense, y, title="t", sparsity=0.25).sparsity == 0.25


@pytest.mark.parametrize(
    ("features", "y"),
    [
        (np.zeros((4, 3)), [0, 0, 1, 1]),
        (np.array([[np.nan, np.inf, -2.0]]), ["only"]),
        (np.zeros((0, 3)), []),
        (np.ones((500, 2)), np.arange(500)),
        (sp.csr_array((3, 4)), [None, "x", 2.5]),
    ],
)
def test_feature_image_of_degenerate_data(features, y):
    image = feature_image(features, y, title="t", max_rows=100)
    assert image.pixels.shape[0] == min(100, features.shape[0])
    shown(image)


def test_pictures_stand_side_by_side_with_their_names_and_ratios(rng):
    y = rng.integers(0, 3, 40)
    images = [feature_image(rng.uniform(size=(40, 9)) < share, y, title=f"t{share}") for share in (0.2, 0.6)]
    empty = feature_image(np.zeros((0, 4)), [], title="nothing")
    document = shown(FeatureImages("Two of a kind", (*images, empty), "The same rows."))
    assert len(document.all("div", _class="panels")) == 1
    assert len(document.all("div", _class="panel")) == 3
    assert [image["alt"].split(":")[0] for image in document.all("img")] == ["t0.2", "t0.6"]
    assert len(document.all("ul", _class="bands")) == 2
    for words in ("Two of a kind", "The same rows.", f"{images[1].sparsity:.3g}", "no values to draw"):
        assert words in document.text


def test_feature_image_refuses_a_wrong_number_of_classes():
    with pytest.raises(ValueError, match="one class for each of the 3 rows; got the shape"):
        feature_image(np.ones((3, 2)), [0, 1], title="t")


def area(polygon):
    x, y = np.array(polygon).T
    return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2


@pytest.mark.parametrize("kind", ["scattered", "in a row", "one", "outside too"])
def test_cells_fill_the_box_and_hold_what_is_nearest(rng, kind):
    anchors = {
        "scattered": rng.random((40, 2)),
        "in a row": np.c_[np.linspace(0.1, 0.9, 7), np.full(7, 0.5)],
        "one": np.array([[0.3, 0.3]]),
        "outside too": rng.normal(0.5, 3, (40, 2)),
    }[kind]
    cells = clipped_cells(anchors, np.zeros(2), np.ones(2))
    assert sum(area(cell) for cell in cells if len(cell) > 2) == pytest.approx(1)
    for number, cell in enumerate(cells):
        if len(cell) > 2:
            middle = np.mean(cell, axis=0)
            assert np.linalg.norm(anchors - middle, axis=1).argmin() == number


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.arange(5.0)[:, None], [0, 1, 0, 1, 0]),
        (np.ones((20, 3)), np.arange(20) % 2),
        (np.array([[1.0, 2.0]]), ["one"]),
        (np.array([[1.0, np.nan], [np.inf, np.nan], [3.0, np.nan]]), [0, 1, 1]),
        (sp.random(50, 8, density=0.2, format="csr", random_state=0), np.arange(50) % 3),
        (sp.csr_matrix(np.arange(1.0, 7.0)[:, None]), np.arange(6) % 2),
        (np.random.default_rng(0).normal(size=(6000, 4)), np.arange(6000)),
    ],
)
def test_voronoi_of_degenerate_data(X, y):
    block = voronoi_cells(X, y)
    assert all(len(panel.anchors) <= X.shape[0] for panel in block.panels)
    assert all(np.isfinite(panel.points).all() for panel in block.panels)
    document = shown(block)
    assert len(document.all("svg", _class="plane")) == len(block.panels) >= 1


def test_voronoi_names_the_largest_classes_and_the_others_together(rng):
    y = np.repeat(np.arange(37), np.arange(3, 40))
    document = shown(
        voronoi_cells(rng.normal(size=(len(y), 5)), y, class_names=tuple(f"class-{i}!" for i in range(37)))
    )
    assert "27 other classes" in document.text
    assert "class-36!" in document.text
    assert "class-0!" not in document.text


def test_voronoi_is_repeatable(rng):
    X, y = rng.normal(size=(100, 5)), np.arange(100) % 3
    first, again, other = (voronoi_cells(X, y, seed=seed).panels[0].anchors for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Table("t", (Column("a"), Column("b")), ((Cell("x"),),)), "Row 1 of the table 't' has 1 cells for 2"),
        (lambda: Column("a", "date"), "kind must be one of 'text', 'number'; got 'date'"),
        (lambda: Column("a", better="more"), "better must be one of"),
        (lambda: Cell("a", mark="worst"), "mark must be one of"),
        (lambda: Series("s", (1.0,), ()), "1 values of x but 0 of y"),
        (lambda: Series("s", (1.0,), (1.0,), (1.0, 2.0)), "1 values of x but 2 of low"),
        (lambda: FeatureImage("f", np.zeros(3, np.uint8), (), 0.0), "pixels must be a matrix of uint8"),
        (lambda: VoronoiPanel("v", np.ones((3, 1)), np.ones((1, 2)), [0], ("a",)), "anchors must have two columns"),
        (lambda: VoronoiPanel("v", np.ones((3, 2)), np.ones((2, 2)), [0], ("a",)), "2 points but 1 classes"),
        (lambda: VoronoiPanel("v", np.ones((3, 2)), np.ones((1, 2)), [1], ("a",)), "from 0 to 0, one per name"),
        (lambda: voronoi_cells(np.ones((0, 2)), []), "matrix with rows and columns"),
        (lambda: voronoi_cells(np.ones((2, 2)), [0, 1], n_anchors=(0,)), "n_anchors must be a whole number"),
        (lambda: voronoi_cells(np.ones((2, 2)), [0, 1], class_names=("a",)), "2 classes in y but 1 class names"),
    ],
)
def test_bad_input_gets_one_clear_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    write_report(path, Page("first"))
    assert path.read_text(encoding="utf-8") == render(Page("first"))
    with pytest.raises(FileExistsError, match="exists"):
        write_report(path, Page("second"))
    assert "first" in path.read_text(encoding="utf-8")
    write_report(str(path), Page("second \N{PARTY POPPER}"), force=True)
    assert "second \N{PARTY POPPER}" in path.read_text(encoding="utf-8")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="was not written: No space left"):
        write_report(path, Page("third"), force=True)
    assert "second" in path.read_text(encoding="utf-8")
    assert os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_report(tmp_path / "nowhere" / "report.html", Page("p"))
