"""The report in a real browser: sorting, keyboard, dark and light, a phone, and no complaint in the console."""

import shutil
import time

import pytest
from report.example import example_page
from report.results import results_of

from vicinal.experiments import experiment_names, experiment_page, load_experiment, summarise
from vicinal.report import Cell, Column, Page, Point, Scatter, Section, Table, write_report

selenium = pytest.importorskip("selenium", reason="selenium is not installed: this test needs a browser")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--window-size=1200,900",
)

pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason="Chromium or chromedriver is not installed")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options, webdriver.ChromeService(DRIVER)) as driver:
        yield driver


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, example_page())
    return path.as_uri()


@pytest.fixture
def page(driver, url):
    """The example, at a desk, in light colours, with nothing remembered."""
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    resize(driver, 1200)
    prefer(driver, "light")
    driver.get(url)
    driver.execute_script("localStorage.clear()")
    driver.get(url)
    driver.get_log("browser")
    yield driver
    assert driver.get_log("browser") == []


def resize(driver, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(driver, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def column(driver, place):
    script = (
        "return Array.from(document.querySelector('table').tBodies[0].rows, row => row.cells[arguments[0]].dataset.key)"
    )
    return driver.execute_script(script, place)


def sort_buttons(driver):
    return driver.find_elements("css selector", "table:first-of-type th[scope=col] button")[:5]


def sort_states(driver):
    return driver.execute_script(
        "return Array.from(document.querySelectorAll('table')[0].tHead.rows[0].cells, head => head.ariaSort)"
    )


def test_opens_without_complaint_or_network(driver, url):
    driver.get(url)
    assert driver.get_log("browser") == []
    loaded = driver.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in loaded if not name.startswith("data:")] == []


def test_table_sorts_by_click(page):
    accuracy = sort_buttons(page)[1]
    accuracy.click()
    values = [float(value) for value in column(page, 1)]
    assert values == sorted(values, reverse=True)
    assert sort_states(page) == ["none", "descending", "none", "none", "none"]
    accuracy.click()
    values = [float(value) for value in column(page, 1)]
    assert values == sorted(values)
    assert sort_states(page) == ["none", "ascending", "none", "none", "none"]
    assert page.find_element("id", "announcement").get_attribute("textContent") == "Sorted by accuracy, ascending."
    sort_buttons(page)[0].click()
    names = column(page, 0)
    assert names == sorted(names, key=str.lower)
    assert sort_states(page)[:2] == ["ascending", "none"]


def test_table_sorts_by_keyboard_with_missing_values_last(page):
    seconds = sort_buttons(page)[2]
    for key, order in ((Keys.ENTER, 1), (Keys.SPACE, -1)):
        seconds.send_keys(key)
        keys = column(page, 2)
        assert keys[-2:] == [None, None]
        values = [float(value) for value in keys[:-2]]
        assert values == sorted(values, key=lambda value: order * value)
        assert sort_states(page)[2] == {1: "ascending", -1: "descending"}[order]
        assert page.switch_to.active_element == seconds


@pytest.mark.parametrize("width", [375, 768, 1200])
def test_every_picture_has_a_size(page, width):
    resize(page, width)
    sizes = page.execute_script("""
        const isShown = (element) => !element.closest(innerWidth <= 720 ? ".wide" : ".narrow");
        const pictures = Array.from(document.querySelectorAll("svg, img")).filter(isShown);
        return pictures.map((each) => [each.getBoundingClientRect().width, each.getBoundingClientRect().height,
                                       each.complete ?? true, each.naturalWidth ?? 1]);
    """)
    assert len(sizes) > 20
    assert all(across > 0 and down > 0 and complete and pixels for across, down, complete, pixels in sizes)


@pytest.mark.parametrize("width", [375, 768, 1200])
def test_text_of_charts_stays_legible_and_inside(page, width):
    resize(page, width)
    texts = page.execute_script("""
        const shown = Array.from(document.querySelectorAll("svg.chart text")).filter((each) => each.checkVisibility());
        return shown.map((each) => {
          const box = each.getBoundingClientRect(), chart = each.closest("figure").getBoundingClientRect();
          const scale = each.ownerSVGElement.getScreenCTM().a;
          return [each.textContent, parseFloat(getComputedStyle(each).fontSize) * scale,
                  chart.left - box.left, box.right - chart.right];
        });
    """)
    assert len(texts) > 40
    assert min(size for _, size, _, _ in texts) >= 10
    assert [words for words, _, left, right in texts if left > 0 or right > 0] == []


def test_names_in_the_scatter_do_not_overlap(page):
    for width in (375, 1200):
        resize(page, width)
        boxes = page.execute_script("""
            const chart = Array.from(document.querySelectorAll("svg.chart")).find((each) => each.checkVisibility());
            return Array.from(chart.querySelectorAll(".name"), (each) => {
              const box = each.getBoundingClientRect();
              return [each.textContent, box.left, box.top + 3, box.right, box.bottom - 3];
            });
        """)
        assert len(boxes) == 11
        for i, (name, left, top, right, bottom) in enumerate(boxes):
            for other, left_, top_, right_, bottom_ in boxes[:i]:
                apart = right <= left_ or right_ <= left or bottom <= top_ or bottom_ <= top
                assert apart, (width, name, other)


def test_phone_scrolls_tables_not_the_page(driver, page, tmp_path):
    odd = Page(
        "unbreakable" * 20,
        "&" * 200,
        ("x" * 300,),
        "y" * 300,
        (
            Section(
                "z" * 100,
                "q" * 300,
                (
                    Table(
                        "t" * 90, tuple(Column("c" * 30) for _ in range(9)), ((*(Cell("v" * 60) for _ in range(9)),),)
                    ),
                    Scatter("s" * 90, "x" * 90, "y" * 90, (Point("p" * 90, 1.0, 1.0, group="g" * 90),)),
                ),
            ),
        ),
        "command " * 60,
        (("fact" * 30, "value" * 60),),
        ("note" * 90,),
    )
    write_report(tmp_path / "odd.html", odd)
    resize(page, 375)
    for address in (page.current_url, (tmp_path / "odd.html").as_uri()):
        driver.get(address)
        across, room = driver.execute_script(
            "const root = document.documentElement; return [root.scrollWidth, root.clientWidth]"
        )
        assert across <= room
        inner, outer = driver.execute_script(
            "const box = document.querySelector('.scroll'); return [box.scrollWidth, box.clientWidth]"
        )
        assert inner > outer


CONTRAST = """
  const luminance = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const linear = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (!colour.endsWith(", 0)") && colour !== "transparent") return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = {};
  for (const selector of arguments[0]) {
    const element = Array.from(document.querySelectorAll(selector)).find((each) => each.checkVisibility());
    const style = getComputedStyle(element);
    const words = luminance(element.ownerSVGElement ? style.fill : style.color), back = luminance(ground(element));
    found[selector] = (Math.max(words, back) + 0.05) / (Math.min(words, back) + 0.05);
  }
  return found;
"""
TEXTS = ["body", "h1", ".subtitle", ".warning", ".headline", ".lead", "nav a", "td", ".detail", ".key", ".caption"]
TEXTS += ["thead small", ".copy", ".theme", "dt", "pre", ".notes", ".chart .tick", ".chart .name", ".chart .strong"]


def background(driver):
    return driver.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_dark_and_light_follow_the_system_and_are_legible(page):
    light = background(page)
    contrasts = page.execute_script(CONTRAST, TEXTS)
    prefer(page, "dark")
    assert background(page) != light
    for each in (contrasts, page.execute_script(CONTRAST, TEXTS)):
        assert {name: ratio for name, ratio in each.items() if ratio < 4.5} == {}


def test_markers_stand_out_on_both_grounds(page):
    for scheme in ("light", "dark"):
        prefer(page, scheme)
        selectors = [f".swatch .marker.k{colour}" for colour in range(7)]
        ratios = page.execute_script(CONTRAST, selectors)
        assert {name: ratio for name, ratio in ratios.items() if ratio < 3} == {}


def test_theme_button_is_remembered(page):
    light = background(page)
    button = page.find_element("css selector", "button.theme")
    assert button.accessible_name == "Switch to dark colours"
    button.click()
    dark = background(page)
    assert dark != light

    def is_remembered(driver):
        """On a busy machine, the browser may store a choice a little after it has been made, or lose it to a reload."""
        driver.refresh()
        if background(driver) == dark:
            return True
        driver.find_element("css selector", "button.theme").click()
        time.sleep(1)
        return False

    WebDriverWait(page, 20).until(is_remembered)
    button = page.find_element("css selector", "button.theme")
    assert button.accessible_name == "Switch to light colours"
    button.click()
    prefer(page, "dark")
    assert background(page) == light


def test_points_are_walked_by_arrow_keys_and_tell_their_figures(page):
    spots = [spot for spot in page.find_elements("css selector", "svg.chart .spot") if spot.is_displayed()][:11]
    page.execute_script("arguments[0].focus()", spots[0])
    told = []
    for _ in spots:
        active = page.switch_to.active_element
        tip = page.find_element("css selector", ".tip")
        assert tip.is_displayed()
        assert tip.text == active.get_attribute("aria-label")
        told.append(tip.text)
        active.send_keys(Keys.ARROW_RIGHT)
    assert len(set(told)) == 11
    assert page.switch_to.active_element == spots[0]
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not page.find_element("css selector", ".tip").is_displayed()


def test_tab_reaches_everything_and_starts_with_the_skip_link(page):
    reached = []
    page.find_element("css selector", "body").send_keys(Keys.TAB)
    for _ in range(60):
        active = page.switch_to.active_element
        if active.tag_name == "body":
            break
        outline = page.execute_script(
            "const style = getComputedStyle(arguments[0]), ring = arguments[0].querySelector('.target');"
            "return style.outlineStyle !== 'none' || (ring && getComputedStyle(ring).stroke !== 'none')",
            active,
        )
        assert outline, active.get_attribute("outerHTML")
        reached.append(active.get_attribute("class"))
        active.send_keys(Keys.TAB)
    assert reached[:2] == ["skip", "theme"]
    assert reached.count("sort") == 5
    assert reached.count("spot") == 4
    assert {"scroll", "copy"} <= set(reached)


def test_command_is_copied(page):
    page.find_element("css selector", "button.copy").click()
    label = lambda driver: driver.find_element("css selector", "button.copy").text  # noqa: E731
    WebDriverWait(page, 5).until(lambda driver: label(driver) == "Copied")
    WebDriverWait(page, 5).until(lambda driver: label(driver) == "Copy")


def test_page_is_complete_without_script(page, url):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page.get(url)
    shown = page.find_element("css selector", "body").text
    for words in (*example_page().verdict, "RBF kernel SVM", "Run it again", example_page().command):
        assert words in shown
    assert not page.find_element("css selector", "button.theme").is_displayed()
    assert not page.find_element("css selector", "button.copy").is_displayed()
    assert not any(button.is_enabled() for button in sort_buttons(page))
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_print_is_light_and_fits(page):
    prefer(page, "dark")
    dark = background(page)
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    resize(page, 718)
    assert background(page) != dark
    assert page.execute_script(CONTRAST, ["h1", "td", ".detail"])["td"] >= 4.5
    assert page.execute_script("const root = document.documentElement; return root.scrollWidth <= root.clientWidth")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("name", experiment_names())
def test_pages_of_experiments(driver, tmp_path, name):
    experiment = load_experiment(name)
    summaries = summarise(experiment, results_of(experiment))
    write_report(tmp_path / "report.html", experiment_page(experiment, summaries, command="again", facts=()))
    for width in (1200, 375):
        resize(driver, width)
        driver.get((tmp_path / "report.html").as_uri())
        assert driver.get_log("browser") == []
        assert driver.execute_script(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    assert driver.find_elements("css selector", "table")
    shown = driver.execute_script(
        "return Array.from(document.querySelectorAll('svg.chart')).map(chart => chart.getBoundingClientRect())"
        ".filter(box => box.width > 0 && box.height > 0).length"
    )
    only_tables = experiment.shown or experiment.only or experiment.task.name == "images"
    assert shown > 0 or only_tables
