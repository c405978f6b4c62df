"""Reports in a real browser: Chromium without a window, and without a network."""

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
        "raced": write_report(searches.raced(), folder / "raced.html"),
        "malicious": write_report({EVIL[0]: evil, EVIL[4]: evil}, folder / "malicious.html", **texts),
    }
    return {name: path.as_uri() for name, path in written.items()}


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
    assert len(charts) == 3 * len(all_of(page, ".cards"))
    for chart in charts:
        assert chart.size["width"] > 300
        assert chart.size["height"] > 150
        [mark] = all_of(chart, ".mark.steady")
        assert mark.size["width"] > 5
    assert bool(all_of(page, "thead button")) == scripts


def test_race_is_drawn_whole_on_a_phone_too(visit):
    page = visit("raced", width=360)
    [race] = all_of(page, "svg.chart:has(polyline.view)")
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


@pytest.mark.parametrize("chart", [0, 2])
def test_charts_tell_what_is_pointed_at(visit, tree, chart):
    page = visit("tree")
    figure = all_of(page, "figure[data-read-outs]")[chart]
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
    svg = all_of(page, "svg.chart")[0]
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", svg)
    ActionChains(page).move_to_element(svg).perform()
    assert "text = " in all_of(page, "output")[0].text


def test_page_would_refuse_a_script_that_is_not_its_own(browser, reports):
    browser.get(reports["tree"])
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'document.title = `evil`';"
        "document.body.append(s)"
    )
    assert browser.title == "DecisionTreeRegressor tuned on diabetes"
    [refusal] = browser.get_log("browser")
    assert "Content Security Policy" in refusal["message"]


@pytest.mark.parametrize("name", ["tree", "ridge", "classifier", "malicious"])
def test_no_sideways_scrolling_on_a_phone(visit, name):
    page = visit(name, width=390)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 390
    text = all_of(page, "svg.chart text")[0]
    assert text.size["height"] > 9


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_of_the_scheme_can_be_read(visit, scheme):
    page = visit("tree", scheme=scheme)

    def luminance(color):
        channels = np.array(re.findall(r"[\d.]+", color)[:3], dtype=float) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ (0.2126, 0.7152, 0.0722)

    def contrast(one, other):
        dark, light = sorted((luminance(one), luminance(other)))
        return (light + 0.05) / (dark + 0.05)

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
