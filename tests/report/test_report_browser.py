"""Reports in a real browser: Chromium without a window, and without a network."""

import base64
import json
import os
import re
import shutil

import numpy as np
import pytest
import searches
from searches import EVIL
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from steadycv import write_report
from steadycv.error_words import ErrorWords
from steadycv.experiments.verdict import verdict
from steadycv.explain import column_importance
from steadycv.report.served import write_served
from steadycv.words import setting

FLAGS = (
    "--headless=new --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip(
            "no browser: `make browser` installs Debian's chromium and chromium-driver as root; "
            "else install a Chromium or Chrome and its chromedriver"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in FLAGS.split():
        options.add_argument(flag)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium has none for root
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    yield chrome
    chrome.quit()


@pytest.fixture(scope="module")
def tree():
    return searches.tree()


@pytest.fixture(scope="module")
def reports(tmp_path_factory, tree):
    """Addresses of reports by name."""
    folder = tmp_path_factory.mktemp("reports")
    evil = searches.malicious()
    texts = {"title": EVIL[0] + EVIL[4], "data_name": EVIL[1], "command": EVIL[2], "notes": EVIL}
    written = {
        "tree": write_report(tree, folder / "tree.html", data_name="diabetes"),
        "ridge": write_report(searches.ridge(), folder / "ridge.html"),
        "classifier": write_report(searches.classifier(), folder / "classifier.html"),
        "two": write_report(
            {"tree": tree, "ridge": searches.ridge(cv=searches.FOLDS)}, folder / "two.html"
        ),
        "explained": write_report(
            searches.classes(),
            folder / "explained.html",
            importance=column_importance(searches.classes(), *searches.CLASSES),
        ),
        "raced": write_report(searches.raced(), folder / "raced.html"),
        "served": served(folder / "served.html"),
        "malicious": write_report({EVIL[0]: evil, EVIL[4]: evil}, folder / "malicious.html", **texts),
    }
    return {name: path.as_uri() for name, path in written.items()}


def served(path):
    """The page of a comparison of two models."""
    noise = np.random.default_rng(0).uniform(1, 2, size=(8, 25))
    names = ("plain choice", "steady choice", "one standard error", "committee")
    keys = [(model, name) for model in ("random-forest", "cart") for name in names]
    errors = dict(zip(keys, noise, strict=True))
    found = verdict(errors, errors, dict.fromkeys(errors, 1.0), 1 / 9, ErrorWords("mean squared error"))
    texts = {"data_name": EVIL[1], "command": EVIL[2], "notes": EVIL}
    return write_served(found, path, how="tuned on some", **texts)


@pytest.fixture
def visit(browser, reports):
    """Open a report as seen on some device; nothing may have gone wrong until the end of the test."""

    def open_report(name, width=1200, scheme="light", *, scripts=True):
        chrome("Emulation.setScriptExecutionDisabled", value=not scripts)
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        chrome("Emulation.setDeviceMetricsOverride", **metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        chrome("Emulation.setEmulatedMedia", features=features)
        browser.get(reports[name])
        return browser

    def chrome(command, **options):
        browser.execute_cdp_cmd(command, options)

    browser.get("about:blank")
    browser.get_log("browser"), browser.get_log("performance")
    yield open_report
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"
    ]
    assert set(asked) <= {*reports.values()}
    assert asked


def all_of(element, selector):
    return element.find_elements(By.CSS_SELECTOR, selector)


@pytest.mark.parametrize("name", ["tree", "ridge", "classifier", "malicious"])
@pytest.mark.parametrize("scripts", [True, False])
def test_charts_draw_with_and_without_scripts(visit, name, scripts):
    page = visit(name, scripts=scripts)
    charts = [chart for chart in all_of(page, "svg.chart") if chart.is_displayed()]
    marked = [chart for chart in charts if all_of(chart, ".mark.steady")]
    assert len(marked) == 3  # of several models one is unfolded
    assert len(charts) >= 5
    for chart in charts:
        assert chart.size["width"] > 300
        assert chart.size["height"] > 100
    for chart in marked:
        [mark] = all_of(chart, ".mark.steady")
        assert mark.size["width"] > 5
    assert bool(all_of(page, "thead button")) == scripts


def test_race_is_drawn_whole_on_a_phone_too(visit):
    page = visit("raced", width=360)
    [race] = all_of(page, "svg.chart.race")
    assert len(all_of(race, "polyline")) == 6
    frame = race.rect
    for line in all_of(race, "polyline"):
        assert line.size["height"] > 20
        assert frame["y"] < line.rect["y"] < frame["y"] + frame["height"]
        assert 0 < line.rect["x"] + line.size["width"] <= 360


def test_tabs_show_one_chart_each(visit):
    page = visit("tree")
    for label in all_of(page, ".tabs label"):
        label.click()
        [chart] = (chart for chart in all_of(page, ".tabs .chart") if chart.is_displayed())
        assert f"of the {label.text}" in chart.get_attribute("aria-label")
    page.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    assert all_of(page, ".tabs input")[1].is_selected()


def column(page, number):
    return page.execute_script(
        "return [...document.querySelectorAll(`.tall tbody td:nth-child(${arguments[0]})`)]"
        ".map((cell) => Number(cell.dataset.v ?? cell.textContent))",
        number,
    )


@pytest.mark.parametrize("by", ["click", "keyboard"])
def test_table_sorts(visit, tree, by):
    page = visit("tree")
    [button] = (b for b in all_of(page, ".tall thead button") if b.text == "CV error")

    def press():
        if by == "click":
            button.click()
        else:
            page.execute_script("arguments[0].focus()", button)
            page.switch_to.active_element.send_keys(Keys.ENTER)

    heading = button.find_element(By.XPATH, "..")
    expected = np.sort(tree.cv_results_["cv_error"])
    press()
    assert heading.get_attribute("aria-sort") == "ascending"
    np.testing.assert_array_equal(column(page, 4), expected)
    press()
    assert heading.get_attribute("aria-sort") == "descending"
    np.testing.assert_array_equal(column(page, 4), expected[::-1])
    all_of(page, ".tall thead button")[2].click()
    assert heading.get_attribute("aria-sort") is None
    np.testing.assert_array_equal(column(page, 3), np.sort(column(page, 3)))


def test_what_is_not_known_is_sorted_last_both_ways(visit):
    page = visit("malicious")
    table = all_of(page, ".tall")[0]
    button = all_of(table, "thead button")[-1]
    for _ in range(2):
        button.click()
        known = [bool(td.get_attribute("data-v")) for td in all_of(table, "tbody td:last-child")]
        assert known == sorted(known, reverse=True)
        assert not all(known)


@pytest.mark.parametrize("chart", [0, 1])
def test_charts_tell_what_is_pointed_at(visit, tree, chart):
    page = visit("tree")
    figure = all_of(page, "figure[data-read-outs=m0-candidates]")[chart]
    [svg, *_] = all_of(figure, "svg.chart")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", svg)
    ActionChains(page).move_to_element(all_of(svg, ".mark.steady")[0]).perform()
    [output] = all_of(figure, "output")
    assert output.text.startswith(setting(tree.best_params_) + ":")
    before = output.text
    page.execute_script("arguments[0].focus()", svg)
    page.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert output.text != before
    assert re.match(r"max_depth = \d+, min_samples_leaf = \d+: CV error", output.text)


def test_what_comes_from_outside_stays_text(visit):
    page = visit("malicious")
    assert page.title == EVIL[0] + EVIL[4]
    assert page.find_element(By.TAG_NAME, "h1").text == EVIL[0] + EVIL[4]
    assert [note.text for note in all_of(page, ".note")] == EVIL
    assert not all_of(page, "img, b")
    figure = all_of(page, "figure[data-read-outs=m0-candidates]")[0]
    [svg] = all_of(figure, "svg.chart")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", svg)
    ActionChains(page).move_to_element(svg).perform()
    assert "text = " in all_of(figure, "output")[0].text


def test_page_would_refuse_a_script_that_is_not_its_own(browser, reports):
    browser.get(reports["tree"])
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'document.title = `evil`';"
        "document.body.append(s)"
    )
    assert browser.title == "DecisionTreeRegressor tuned on diabetes"
    [refusal] = browser.get_log("browser")
    assert "Content Security Policy" in refusal["message"]


def is_inside(page, element, box):
    """Whether no part of an element is cut at the sides of another."""
    return page.execute_script(
        "const [e, b] = [...arguments].map((a) => a.getBoundingClientRect());"
        "return b.left - 1 <= e.left && e.right <= b.right + 1",
        element,
        box,
    )


@pytest.mark.parametrize(
    "name", ["tree", "ridge", "classifier", "malicious", "two", "explained", "served"]
)
def test_nothing_is_cut_on_a_phone(visit, name):
    page = visit(name, width=360)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 360
    text = all_of(page, "svg.chart text")[0]
    assert text.size["height"] > 9
    for chart in (chart for chart in all_of(page, "svg.chart") if chart.is_displayed()):
        for text in all_of(chart, "text"):
            assert is_inside(page, text, chart), text.text


def test_what_is_pointed_at_is_marked_in_all_pictures_and_in_the_table(visit, tree):
    page = visit("tree")
    frontier, grid = all_of(page, "figure[data-read-outs=m0-candidates]")
    [svg] = all_of(frontier, "svg.chart")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", svg)
    ActionChains(page).move_to_element(all_of(svg, ".mark.plain")[0]).perform()
    table, *_ = all_of(page, ".tall")
    [row] = all_of(table, "tr.pointed")
    pointed = int(row.get_attribute("data-i"))  # the plain choice, or one that stands where it does
    for name in ("cv_error", "instability"):
        assert tree.cv_results_[name][pointed] == tree.cv_results_[name][tree.kfold_index_]
    assert table.rect["y"] <= row.rect["y"] <= table.rect["y"] + table.rect["height"]
    texts = [all_of(figure, "output")[0].text for figure in (frontier, grid)]
    assert texts[0] == texts[1]
    assert all_of(grid, ".pointer")[0].size["width"] > 10
    # And the other way round: a row marks its place in the pictures.
    best = all_of(table, "tr.steady")[0]
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", best)
    ActionChains(page).move_to_element(best).perform()
    assert all_of(frontier, "output")[0].text.startswith(setting(tree.best_params_) + ":")
    pointer, mark = (
        all_of(frontier, each)[0].rect for each in (".chart .pointer", ".chart .mark.steady")
    )
    for at, size in (("x", "width"), ("y", "height")):
        assert pointer[at] + pointer[size] / 2 == pytest.approx(mark[at] + mark[size] / 2, abs=1.5)


def test_rows_are_linked_over_their_pictures(visit):
    page = visit("tree")
    predicted, rows = all_of(page, "figure[data-read-outs=m0-rows]")
    [svg] = all_of(predicted, "svg.chart")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", svg)
    ActionChains(page).move_to_element(svg).perform()
    told = [all_of(figure, "output")[0].text for figure in (predicted, rows)]
    assert told[0] == told[1]
    number, actual = re.match(r"row (\d+): actual (\d+), predicted", told[0]).groups()
    assert searches.DATA[1][int(number)] == float(actual)


def shown_rows(page):
    rows = page.execute_script(
        "return [...document.querySelectorAll('table.filtered tbody tr')].filter((r) => !r.hidden)"
        ".map((r) => Number(r.dataset.i))"
    )
    return set(rows)


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ("max_depth=3", lambda p, e: p["max_depth"] == 3),
        ("depth<3 leaf>10", lambda p, e: p["max_depth"] < 3 and p["min_samples_leaf"] > 10),
        ("error<4,200", lambda p, e: e < 4200),
        ("  ", lambda p, e: True),
        ("nonsense", lambda p, e: False),
    ],
)
def test_table_is_filtered(visit, tree, asked, holds):
    page = visit("tree")
    [field] = all_of(page, ".filter input")
    field.send_keys(asked)
    results = tree.cv_results_
    pairs = zip(results["params"], results["cv_error"], strict=True)
    expected = {i for i, (params, error) in enumerate(pairs) if holds(params, error)}
    assert shown_rows(page) == expected
    told = all_of(page, ".filter output")[0].text
    assert told == (f"{len(expected)} of 100 rows" if asked.strip() else "")


def test_link_opens_a_folded_model(visit):
    page = visit("two")
    folded = all_of(page, "details.model")
    assert [each.get_attribute("open") is not None for each in folded] == [True, False]
    all_of(page, ".sortable tbody a")[1].click()
    assert all(each.get_attribute("open") is not None for each in all_of(page, "details.model"))


@pytest.mark.parametrize("name", ["tree", "two"])
def test_paper_is_light_and_has_everything(visit, name):
    page = visit(name, scheme="dark")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert all_of(page, "body")[0].value_of_css_property("color") == "rgba(27, 31, 36, 1)"
    for hidden in (".filter", ".read-out"):
        assert not any(each.is_displayed() for each in all_of(page, hidden))
    rows = all_of(all_of(page, ".tall")[0], "tbody tr")
    assert sum(row.is_displayed() for row in rows) == min(30, len(rows))
    paper = page.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    pages = len(re.findall(rb"/Type ?/Page\b", base64.b64decode(paper["data"])))
    assert 3 <= pages <= (7 if name == "tree" else 12)


def test_folds_are_open_while_a_page_is_printed_and_closed_again(visit):
    page = visit("two")
    closed = "return document.querySelectorAll('details:not([open])').length"
    before = page.execute_script(closed)
    assert before >= 2
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert page.execute_script(closed) == 0
    page.execute_script("dispatchEvent(new Event('afterprint'))")
    assert page.execute_script(closed) == before


def luminance(color):
    channels = np.array(re.findall(r"[\d.]+", color)[:3], dtype=float) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_in_cells_can_be_read(visit, scheme):
    page = visit("explained", scheme=scheme)
    [chart] = (c for c in all_of(page, "svg.chart") if "actual classes" in c.get_attribute("aria-label"))
    cells, numbers = all_of(chart, "rect.heat"), all_of(chart, "text.on")
    assert len(cells) == len(numbers) == 4
    for cell, number in zip(cells, numbers, strict=True):
        assert number.value_of_css_property("opacity") == "1"
        colors = (each.value_of_css_property("fill") for each in (cell, number))
        assert contrast(*colors) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_of_the_scheme_can_be_read(visit, scheme):
    page = visit("tree", scheme=scheme)

    def css(selector, name):
        return all_of(page, selector)[0].value_of_css_property(name)

    background, card = css("body", "background-color"), css(".card", "background-color")
    assert (luminance(background) < 0.1) == (scheme == "dark")
    for selector in ("h1", ".facts", "figcaption", "caption", ".tall td"):
        assert contrast(css(selector, "color"), background) >= 4.5, selector
    for selector in (".card h2", ".card p", ".read-out"):
        assert contrast(css(selector, "color"), card) >= 4.5, selector
    assert contrast(css(".chart text", "fill"), background) >= 4.5
    assert contrast(css("tr.steady td", "color"), css("tr.steady td", "background-color")) >= 4.5
    for selector, name in ((".mark.plain", "stroke"), (".chart .mark.steady", "fill")):
        assert contrast(css(selector, name), background) >= 3, selector
    best, worst = (css(f".chart .heat{level}", "fill") for level in (0, 8))
    assert contrast(best, background) > contrast(worst, background)
