"""The command `vicinal select`: which columns of a file are worth keeping, when there are no labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ..select import SELECTORS
from ._arguments import Drop, Force, Jobs, OptionalOutput, check_jobs

if TYPE_CHECKING:
    from .._files import Table
    from ._side import SideOptions

    Method = str
else:
    Method = Literal[tuple(SELECTORS)]
Scale = Literal["auto", "none", "standard", "minmax", "matrix", "tfidf"]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal select` takes.

    Parameters
    ----------
    output
        Where the chosen columns go, in their order and the target last: .csv, .tsv, .parquet or .npz. Without it
        nothing is written.
    method
        How columns are ranked. snfs is for many sparse columns such as words; for tables of few columns, some of them
        noise, laplacian-score and spec are safer.
    features
        How many to keep: a number, a share such as 0.1, all, or auto, which snfs and cdma can decide. By default auto
        for these, and half of the columns for other methods. Of views: so many of each, or "text=50,tags=20".
    target
        Column that is never looked at, only carried over; in NPZ files the array (default y).
    scale
        What the method sees of the numbers. auto: sparse counts weighted by TF-IDF, other sparse numbers as they are,
        tables standardised, or scaled to [0, 1] for maximum-variance, since standardised columns all vary alike, for
        rufs, which takes no negative numbers, and for gfs, spop, ppop and mmpop, which ask what rows have in common.
        minmax: every column to [0, 1]. matrix: all divided by one number.
    clusters
        Pseudo classes (mcfs, udfs, ndfs, rufs, rsfs, lufs, mvfs, mvufs).
    views
        Views of the rows, whose columns compete among themselves: names with patterns of their columns' names, such as
        "text:w_*,tags:t_*", or with numbers of columns from 0, target and dropped ones left out, such as
        "text:0-99,tags:100-"; auto for those of an NPZ file, which cdma, mvfs and mvufs take by themselves. Other
        methods rank the columns of each view as if there were no other.
    links
        Links between rows (spop, ppop, mmpop, gfs, lufs): a file with two columns, the two ends of each link, as
        numbers of rows from 0 or as names from --nodes. Separated by commas, tabs or spaces, with or without a header.
    nodes
        Column that names the rows for --links and --side; it is neither ranked nor written.
    side
        Side information about the rows (sidefs): a TOML file that names the tables of relations, as the documentation
        of vicinal.network.from_tables describes; auto for the relations that an NPZ file holds itself.
    metapath
        Meta-path by which rows are similar (sidefs), such as compound-binds-gene-binds-compound; may be repeated. By
        default all of at most four relations.
    aggregation
        Whether meta-paths add up by their numbers of paths, micro, or by the similarities they make, macro (sidefs).
    neighbors
        Nearest rows of each row that are looked at (snfs: all rows by default).
    perplexity
        About how many neighbours each row should keep (snfs).
    penalty
        What each column costs (snfs, cdma): the larger, the fewer columns are kept. auto finds one that keeps as many
        as -k says.
    seed
        Fixes all draws.
    top
        How many of the best columns to show.
    plot
        Write the curve of scores to this file: .svg or .html. Of views: a report with what each contributes, .html. Of
        side information: .html is a report with its relations and meta-paths.
    """

    output: OptionalOutput = None
    method: Annotated[Method, Parameter(name=["--method", "-m"])] = "snfs"
    features: Annotated[str | None, Parameter(name=["--features", "-k"])] = None
    target: str | None = None
    drop: Drop = ()
    scale: Scale = "auto"
    links: Path | None = None
    nodes: str | None = None
    side: str | None = None
    metapath: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    aggregation: Literal["micro", "macro"] | None = None
    views: str | None = None
    clusters: int | None = None
    neighbors: int | None = None
    perplexity: float | None = None
    penalty: float | Literal["auto"] | None = None
    seed: int | None = None
    jobs: Jobs = None
    top: int = 20
    plot: Path | None = None
    force: Force = False


DEFAULTS = Options()


def select(file: Path, /, *, options: Options = DEFAULTS) -> None:
    """Which columns are worth keeping? No labels are needed.

    Ranks the numeric columns of a table, shows the best ones and the curve of all scores, and writes the chosen columns
    as they are in the file.

    Parameters
    ----------
    file
        The table, one row per example.
    """
    from .._files import read_table
    from ._links import read_links
    from ._ranking import PARAMETERS, as_numbers, check_number, make_selector, parse_features, rank, show_ranking
    from ._side import read_side
    from ._terminal import note
    from ._views import check_view_numbers, read_views, with_views

    _check(file, options)
    given = {option: getattr(options, option.removeprefix("--")) for option in PARAMETERS}
    given["--metapath"] = list(options.metapath) or None
    selector = make_selector(options.method, given)
    wanted = parse_features(options.features, options.method)
    if options.penalty == wanted == "auto":
        raise ValueError("To find a penalty, --penalty auto needs the number of columns to keep: say it with -k.")
    drop = options.drop if options.nodes is None else (*options.drop, options.nodes)
    table = read_table(file, target=options.target, drop=drop, whole_target=False)
    X = as_numbers(table, linked=(options.links or options.side) is not None and options.nodes is None)
    views = read_views(options.views, table, options.method)
    if views is None:
        check_number(wanted, X.shape[1], file)
    else:
        check_view_numbers(wanted, views, file)
        selector = with_views(selector, views)
    selector.set_params(n_features_to_select=wanted)
    network = None if options.links is None else read_links(options.links, table, options.nodes, X.shape[0])
    side = read_side(_side_options(options), file, table, X.shape[0])
    inputs = {name: what for name, what in (("adjacency", network), ("side", side)) if what is not None}
    if options.features is None and wanted != "auto":
        note("Half of the columns are kept; say with -k how many you want.")
    seconds, seen = rank(selector, X, scale=options.scale, method=options.method, file=file, inputs=inputs)
    if views is None:
        show_ranking(selector, table.names, options.top)
        remark = "" if network is None else _show_links(selector, seen, network)
        if side is not None:
            _show_side(selector, side)
        _plot(selector, table, file, options, remark, side)
    else:
        _show_views(selector, table, file, options)
    _write(selector, table, options)
    _summarise(X.shape, int(selector.support_.sum()), seconds, options)


def _check(file: Path, options: Options) -> None:
    """Refuses what can be refused before the file is read."""
    from .._files import check_table_file
    from .._validation import check_count
    from .._writing import check_free
    from ..report import check_plot_file
    from ._links import check_links
    from ._side import check_side
    from ._views import check_views

    check_jobs(options.jobs)
    check_side(options.method, file, _side_options(options))
    check_links(options.method, options.links, options.nodes, side=options.side)
    check_views(options.method, options.views, options.plot, linked=options.links is not None)
    counts = (("--clusters", options.clusters, 1), ("--neighbors", options.neighbors, 1), ("--seed", options.seed, 0))
    for option, value, least in counts:
        if value is not None:
            check_count(option, value, least=least)
    check_count("--top", options.top, least=0)
    for path, check_ending in ((options.output, check_table_file), (options.plot, check_plot_file)):
        if path is not None:
            check_ending(path)
            check_free(path, force=options.force)


def _side_options(options: Options) -> SideOptions:
    from ._side import SideOptions

    names = ("side", "metapath", "aggregation", "nodes", "links", "views")
    return SideOptions(**{name: getattr(options, name) for name in names})


def _show_links(selector: Any, X: Any, network: Any) -> str:
    """Shows how well the best columns tell linked rows from others; the same in words, for the plot."""
    from ._links import auc_table, auc_words, kept_auc
    from ._terminal import show

    n_kept = int(selector.support_.sum())
    kept = kept_auc(X, network, selector.ranking_.argsort(), n_kept)
    show(auc_table(kept, n_kept))
    return auc_words(kept)


def _show_views(selector: Any, table: Table, file: Path, options: Options) -> None:
    """Shows what each view contributes, and writes the same as a report where a plot is asked for."""
    from ..report import write_report
    from ._terminal import say, show
    from ._views import SHARES_HINT, contributions, has_shares, view_page, view_table

    made = contributions(selector, table.names)
    show(view_table(made, options.top))
    if has_shares(made):
        say(SHARES_HINT)
    if options.plot is not None:
        threads = f"{options.jobs or 'all'} threads"
        page = view_page(made, f"{file.name}: columns of {len(made)} views by {options.method}", options.top, threads)
        write_report(options.plot, page, force=options.force)


def _show_side(selector: Any, side: Any) -> None:
    """Shows the meta-paths that make rows similar."""
    from ._side import path_table, path_uses
    from ._terminal import show, width

    show(path_table(path_uses(selector, len(side)), width()))


def _plot(selector: Any, table: Table, file: Path, options: Options, remark: str, side: Any) -> None:
    """The curve of scores, where it is asked for; with side information, a report as .html."""
    from ..report import write_report, write_score_curve
    from ._ranking import own_number, ranked
    from ._side import side_page

    if options.plot is None:
        return
    scores, best = ranked(selector, table.names)
    if side is not None and options.plot.suffix.lower() == ".html":
        title, threads = f"{file.name}: columns by {options.method}", f"{options.jobs or 'all'} threads"
        page = side_page(selector, side, best, scores, title=title, top=options.top, threads=threads)
        write_report(options.plot, page, force=options.force)
    else:
        title = f"{file.name}: scores of {len(scores):,} columns by {options.method}"
        n_kept, n_auto = int(selector.support_.sum()), own_number(selector)
        write_score_curve(options.plot, scores, best, n_kept, n_auto, title=title, remark=remark, force=options.force)


def _write(selector: Any, table: Table, options: Options) -> None:
    """The chosen columns, where they are asked for."""
    from .._files import write_columns

    if options.output is not None:
        if not selector.support_.any():
            raise ValueError(f"No column is kept, so {options.output} is not written; say with -k how many you want.")
        write_columns(options.output, table, selector.support_, force=options.force)


def _summarise(shape: tuple[int, int], n_kept: int, seconds: float, options: Options) -> None:
    from ._terminal import say

    places = ", ".join(str(path) for path in (options.output, options.plot) if path is not None)
    summary = f"{shape[0]:,} rows; {n_kept:,} of {shape[1]:,} columns kept, ranked in {seconds:.1f} s"
    say(f"{summary}: {places}" if places else f"{summary}.", wrap=False)
