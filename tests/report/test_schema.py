"""The picture of a schema: all is named, nothing leaves the picture, and related types are near each other."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report.example import compounds_schema
from report.test_report import LONG, NASTY, shown

from vicinal.report import Schema, SchemaRelation, SchemaType
from vicinal.report._charts import NARROW, WIDE
from vicinal.report._schema import layers


def schema(types, relations):
    boxes = tuple(SchemaType(name, 10 * place, highlight=place == 0) for place, name in enumerate(types))
    return Schema("What is known", boxes, tuple(SchemaRelation(*relation, 5) for relation in relations))


COMPOUNDS = compounds_schema()


def test_all_types_and_relations_are_named():
    document = shown(COMPOUNDS)
    labels = [each.get("aria-label") for each in document.all("g", _class="spot")]
    assert len(labels) == 2 * (5 + 7)  # for a desk and for a phone
    assert labels.count("compound: 1,552 nodes, the rows of the table") == 2
    assert labels.count("disease-resembles-disease: 543 links") == 2
    assert labels.count("compound-palliates-disease: 390 links") == 2
    assert len(document.painted("rect", "strong")) == 2
    for words in ("binds 11,571", "resembles 543"):
        assert words in document.text


def test_types_are_in_layers_by_their_distance():
    relations = [(one.source, one.target) for one in COMPOUNDS.relations if one.source != one.target]
    found = layers([kind.name for kind in COMPOUNDS.types], relations)
    assert [sorted(layer) for layer in found] == [["compound"], ["class", "disease", "gene"], ["pathway"]]
    assert abs(found[1].index("gene") - found[1].index("disease")) == 1
    assert layers(["a", "b", "c"], [("b", "c")]) == [["a", "b"], ["c"]]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20))
    )
)
def test_boxes_stay_within_the_picture_and_apart(drawn):
    n_types, ends = drawn
    names = [f"type {place}" for place in range(n_types)]
    document = shown(schema(names, [(names[a], f"r{k}", names[b]) for k, (a, b) in enumerate(ends)]))
    boxes = [[float(each[key]) for key in ("x", "y", "width", "height")] for each in document.painted("rect", "kind")]
    for width, part in ((WIDE, boxes[:n_types]), (NARROW, boxes[n_types:])):
        assert len(part) == n_types
        assert all(x >= 0 and y >= 0 and x + wide <= width + 0.1 for x, y, wide, _ in part)
        for place, (x, y, wide, high) in enumerate(part):
            for other_x, other_y, _, _ in part[:place]:
                assert abs(x - other_x) >= wide - 0.2 or abs(y - other_y) >= high
    paths = [each["d"] for each in document.painted("path", "tie")]
    values = [float(value) for path in paths for value in re.findall(r"-?\d+\.\d", path)]
    assert all(-1 <= value <= 3000 for value in values)


def test_odd_names_do_no_harm():
    document = shown(schema([NASTY, LONG, "b"], [(NASTY, LONG, LONG), (LONG, NASTY, LONG), (NASTY, "x", "b")]))
    assert not document.all("script")[1:]
    assert "…" in document.text


def test_a_type_alone_and_none():
    assert "What is known" in shown(schema(["a"], [])).text
    assert "There are no values to draw." in shown(schema([], [])).text
    with pytest.raises(ValueError, match="has an end 'b', which is none of the types of the schema"):
        schema(["a"], [("a", "to", "b")])
