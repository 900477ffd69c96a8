"""The command `vicinal links`: links of a network that are not there yet."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ._arguments import Drop, Flag, Force, Jobs, OptionalOutput, Report, check_jobs
from ._link_methods import METHODS, PARAMETERS, chosen, make_model

if TYPE_CHECKING:
    from ..link import LinkPredictor
    from ._link_check import Check
    from ._link_nodes import Nodes, Shown
    from ._recommending import Recommendations

    Method = str
else:
    Method = Literal[tuple(METHODS)]
Scale = Literal["auto", "none", "standard", "minmax", "matrix", "tfidf"]
FOR_FITTING = ("attributes", "nodes", "drop", "scale", "method", "seed", "save_model")  # besides a model's parameters
MOST_WORTH = 10


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal links` takes.

    Parameters
    ----------
    attributes
        A table with one row per node. Nodes that are in one of the two files alone show only links, or only attributes.
    nodes
        Column of the table that names the nodes: by default one called node, id or name, else the first. Rows of NPZ
        files are named by an array "names", or numbered from 0.
    scale
        What becomes of numeric columns. auto: counts of which most are 0 as they are, others to [0, 1]. Categorical
        columns are one-hot encoded, by the values that at least two nodes have.
    method
        nrcl (default with attributes) learns which attributes go with links; link-ranking (default without) puts linked
        nodes before others; deepwalk and line place nodes by walks and by common neighbours; attribute-cosine,
        adamic-adar and katz learn nothing.
    components
        Length of the nodes' vectors (nrcl, link-ranking, deepwalk, line).
    loss
        What it costs to put a node without a link before one with a link (nrcl, link-ranking).
    consensus
        What it costs if links and attributes disagree (nrcl).
    sparsity
        What it costs to use an attribute (nrcl).
    ridge
        What large coefficients of attributes cost (nrcl).
    weight_decay
        What long vectors cost (nrcl, link-ranking).
    negatives
        Nodes that each link is compared with (nrcl, link-ranking, deepwalk, line).
    seed
        Fixes all draws (default 0).
    queries
        Nodes to recommend links for, by name. Default: all that show only attributes; if there are none, all nodes.
    among
        Who may be recommended: all, link-only (nodes that show only links), attribute-only, or a file with one name per
        line.
    top
        How many links for each node.
    output
        Where all recommended links go: .csv, .tsv or .parquet.
    model
        A saved model to ask; nothing is read or fitted then.
    save_model
        Where to save the fitted model (.skops).
    no_check
        Do not hide some links first to see whether they are found again, which takes as long as the fit itself.
    """

    attributes: Path | None = None
    nodes: str | None = None
    drop: Drop = ()
    scale: Scale | None = None
    method: Annotated[Method | None, Parameter(name=["--method", "-m"])] = None
    components: int | None = None
    loss: Literal["huber", "logistic"] | None = None
    consensus: float | None = None
    sparsity: float | None = None
    ridge: float | None = None
    weight_decay: float | None = None
    negatives: int | None = None
    seed: int | None = None
    jobs: Jobs = None
    queries: Annotated[
        tuple[str, ...], Parameter(name="--for", consume_multiple=True, negative=(), show_default=False)
    ] = ()
    among: str = "all"
    top: int = 10
    output: OptionalOutput = None
    report: Report = None
    model: Path | None = None
    save_model: Path | None = None
    no_check: Flag = False
    force: Force = False


DEFAULTS = Options()


def links(edges: Path | None = None, /, *, options: Options = DEFAULTS) -> None:
    """Which nodes of a network should be linked? Also those that show only links, or only attributes.

    Parameters
    ----------
    edges
        The known links: two columns, the two ends of each, as names or numbers. Separated by commas, tabs or spaces,
        with or without a header.
    """
    from ._recommending import asked_for, candidates, recommend

    _check(edges, options)
    start = time.perf_counter()
    nodes = None
    if edges is None:
        model, shown, method = _loaded(options)
    else:
        method = chosen(options.method, attributes=options.attributes is not None)
        model = _made(method, options)
        nodes = _read(edges, method, options)
        shown = nodes.shown
    queries = asked_for(options.queries, shown)
    among = candidates(options.among, shown)
    check = None
    if nodes is not None and not options.no_check:
        check = _checked(model, nodes, options, newcomers=bool(shown.attribute_only[queries].any()))
    if nodes is not None:
        _fit(model, nodes)
    found = recommend(model, queries, among, options.top, None if options.output else _reasons_needed(options))
    title = (edges or options.model or Path("links")).name
    _write(model, found, shown, check, options, title=title, method=method)
    _show(model, found, options)
    _summarise(found, time.perf_counter() - start, options)


def _check(edges: Path | None, options: Options) -> None:
    """Refuses what can be refused before anything is read."""
    from .._files import check_frame_file
    from .._optional import need
    from .._validation import check_count, check_non_negative, check_positive
    from .._writing import check_free
    from ._recommending import check_among

    _check_source(edges, options)
    check_jobs(options.jobs)
    check_count("--top", options.top)
    for option in ("components", "negatives", "seed"):
        if (value := getattr(options, option)) is not None:
            check_count(f"--{option}", value, least=0 if option == "seed" else 1)
    for option, check in (("consensus", check_positive), ("sparsity", check_positive), ("ridge", check_non_negative)):
        if (value := getattr(options, option)) is not None:
            check(f"--{option}", value)
    if options.weight_decay is not None:
        check_non_negative("--weight-decay", options.weight_decay)
    if edges is not None:
        _made(chosen(options.method, attributes=options.attributes is not None), options)
    check_among(options.among)
    if options.output is not None:
        check_frame_file(options.output)
    for path in (options.output, options.report, options.save_model):
        if path is not None:
            check_free(path, force=options.force)
    if options.save_model is not None:
        need("skops.io", "to save models")


def _check_source(edges: Path | None, options: Options) -> None:
    """Either files to learn from, or a model, and what goes with them."""
    if (edges is None) == (options.model is None):
        what = "a saved model is asked without them" if edges else "or a model that was saved before, with --model"
        raise ValueError(f"Give {'either a file of links or --model: ' if edges else 'a file of links, '}{what}.")
    if options.model is not None:
        given = [name for name in FOR_FITTING if getattr(options, name) not in (None, ())]
        given += [option for option in PARAMETERS if _value(options, option) is not None]
        if given:
            option = f"--{given[0].removeprefix('--').replace('_', '-')}"
            raise ValueError(f"A saved model is asked as it is, and {option} would change nothing: leave it out.")
    if options.attributes is None:
        for name in ("nodes", "drop", "scale"):
            if getattr(options, name) not in (None, ()):
                raise ValueError(f"--{name} is about the table of --attributes; give that, too.")
    for path in (edges, options.attributes):
        if path is not None and not path.exists():
            raise FileNotFoundError(f"There is no file {path}.")


def _value(options: Options, option: str) -> Any:
    return getattr(options, option.removeprefix("--").replace("-", "_"))


def _made(method: str, options: Options) -> LinkPredictor:
    given = {option: _value(options, option) for option in PARAMETERS}
    return make_model(method, given, seed=options.seed or 0, jobs=options.jobs)


def _loaded(options: Options) -> tuple[LinkPredictor, Shown, str]:
    from .._models import load_link_model
    from ._link_nodes import Shown

    assert options.model is not None
    model: Any = load_link_model(options.model)
    model.n_jobs = options.jobs
    return model, Shown(model.names_, model.linked_, model.attributed_), type(model).__name__


def _read(edges: Path, method: str, options: Options) -> Nodes:
    from ._link_nodes import read_nodes

    scale = options.scale or "auto"
    return read_nodes(edges, options.attributes, nodes=options.nodes, drop=options.drop, scale=scale, method=method)


def _checked(model: LinkPredictor, nodes: Nodes, options: Options, *, newcomers: bool) -> Check | None:
    from ._link_check import POOR, check_by_hidden_links
    from ._terminal import note, say, warn

    check = check_by_hidden_links(model, nodes, seed=options.seed or 0, newcomers=newcomers)
    if check is None:
        note("There are too few links to hide some and see whether they are found again.")
    else:
        say(f"Check: {check.sentence()}")
    if check is not None and check.least < POOR:
        warn(check.verdict())
    return check


def _fit(model: Any, nodes: Nodes) -> None:
    import numpy as np

    from .._calls import watching
    from ._terminal import Steps, telling_warnings

    with telling_warnings(), Steps(total=None, doing="learning from links") as progress, watching(progress.share):
        model.fit(nodes.X, adjacency=nodes.network)
    if nodes.X is not None:
        model.feature_names_in_ = np.array(nodes.attributes, dtype=object)  # also where the matrix is sparse


def _reasons_needed(options: Options) -> int:
    """Of how many links reasons are shown where no file is written."""
    from ._link_page import MOST_ROWS
    from ._link_tables import MOST_NODES

    return max(MOST_ROWS if options.report else 0, MOST_NODES * options.top)


def _show(model: LinkPredictor, found: Recommendations, options: Options) -> None:
    from ._link_tables import left_out, link_table, worth_table
    from ._recommending import worth_most
    from ._terminal import say, show

    if len(found):
        show(link_table(found))
    if more := left_out(found, output=options.output is not None):
        say(more)
    if worth := worth_most(model, MOST_WORTH):
        show(worth_table(worth))


def _write(
    model: Any,
    found: Recommendations,
    shown: Shown,
    check: Check | None,
    options: Options,
    *,
    title: str,
    method: str,
) -> None:
    """The model, the links and the report, where they are asked for."""
    from .._calls import n_threads
    from .._files import write_frame
    from .._models import save_model
    from .._words import counted
    from ..report import write_report
    from ._link_page import MOST_ATTRIBUTES, link_page
    from ._recommending import worth_most
    from ._terminal import command_line, facts

    if options.save_model is not None:
        model.n_jobs = None
        save_model(options.save_model, model, force=options.force)
    if options.output is not None:
        write_frame(options.output, found.columns(), force=options.force)
    if options.report is not None:
        threads = counted(n_threads(options.jobs), "thread")
        worth = worth_most(model, MOST_ATTRIBUTES)
        page = link_page(title, method, found, shown, worth, check, command=command_line(), facts=facts(threads))
        write_report(options.report, page, force=options.force)


def _summarise(found: Recommendations, seconds: float, options: Options) -> None:
    from ._terminal import say

    places = ", ".join(str(path) for path in (options.output, options.report, options.save_model) if path is not None)
    summary = f"{found.sentence()}, in {seconds:.1f} s"
    say(f"{summary}: {places}" if places else f"{summary}.", wrap=False)
