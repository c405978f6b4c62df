"use strict";

// Tables sort by a click on a heading, or by the keyboard, as headings become buttons.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const descending = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [sortKey(row.cells[column]), row]);
      rows.sort(([a], [b]) => compare(a, b, descending));
      body.append(...rows.map(([, row]) => row));
    });
  });
}

function sortKey(cell) {
  const text = "v" in cell.dataset ? cell.dataset.v : cell.textContent.trim();
  const number = Number(text);
  return text === "" || Number.isNaN(number) ? text : number;
}

// Numbers before words, and what is not known last, whichever way round.
function compare(a, b, descending) {
  if (a === "" || b === "") return (a === "") - (b === "");
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  const order = typeof a === "number" ? a - b : a.localeCompare(b);
  return descending ? -order : order;
}

// Tables are filtered by words, and by name=value, name<value or name>value for a column.
for (const table of document.querySelectorAll("table.filtered")) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 8) continue;
  const names = [...table.tHead.rows[0].cells].map((cell) => plainName(cell.textContent));
  const label = document.createElement("label");
  label.className = "filter";
  const input = document.createElement("input");
  input.type = "search";
  input.spellcheck = false;
  input.placeholder = table.dataset.example;
  const count = document.createElement("output");
  label.append("Filter", input, count);
  table.parentElement.before(label);
  input.addEventListener("input", () => {
    const asked = input.value.trim().split(/\s+/).filter(Boolean).map((word) => condition(word, names));
    let shown = 0;
    for (const row of rows) {
      row.hidden = !asked.every((holds) => holds(row));
      shown += !row.hidden;
    }
    count.textContent = asked.length ? `${shown} of ${rows.length} rows` : "";
  });
}

function plainName(text) {
  return text.toLowerCase().replaceAll(/\s+/g, "");
}

// What a word asks of a row; a column is named by its name or a part of it that no earlier column has.
function condition(word, names) {
  const [, name, sign, value] = /^([^=<>]+)([=<>])(.+)$/.exec(word) ?? [];
  const part = plainName(name ?? "");
  const exact = names.indexOf(part);
  const column = name === undefined ? -1 : exact >= 0 ? exact : names.findIndex((each) => each.includes(part));
  if (column < 0) {
    const text = plainName(word);
    return (row) => plainName(row.textContent).includes(text);
  }
  const wanted = sortKey({ dataset: {}, textContent: value.replaceAll(/,(?=\d{3})/g, "") });
  return (row) => {
    const found = sortKey(row.cells[column]);
    if (sign === "=") return typeof wanted === "number" ? found === wanted : plainName(String(found)) === plainName(value);
    return typeof found === "number" && typeof wanted === "number" && (sign === "<" ? found < wanted : found > wanted);
  };
}

// Charts tell what is pointed at: by mouse, by finger, or by the arrow keys. What is pointed at in one of them
// is marked in all others that are about the same things, and in their tables.
const charts = [];
const tables = [...document.querySelectorAll("table[data-rows]")];

for (const figure of document.querySelectorAll("figure[data-read-outs]")) {
  const about = figure.dataset.readOuts;
  const texts = JSON.parse(document.getElementById(about).textContent);
  const output = document.createElement("output");
  output.className = "read-out";
  output.textContent = "Point at the picture, or go through it with the arrow keys.";
  figure.querySelector(".legend").before(output);
  for (const svg of figure.querySelectorAll(".chart")) {
    const isMap = "cells" in svg.dataset;
    const targets = isMap ? cellsOf(svg) : dotsOf(svg);
    if (!targets.length) continue;
    const pointer = document.createElementNS(svg.namespaceURI, "rect");
    pointer.setAttribute("class", "pointer");
    const chart = { about, svg, targets, pointer, output, texts, current: -1 };
    charts.push(chart);
    const show = (index) => pointAt(about, targets[index].text);
    svg.addEventListener("pointermove", (event) => show(nearest(targets, placeOf(svg, event))));
    svg.addEventListener("pointerdown", (event) => show(nearest(targets, placeOf(svg, event))));
    svg.tabIndex = 0;
    svg.addEventListener("keydown", (event) => {
      const direction = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
      if (!direction) return;
      event.preventDefault();
      show(chart.current < 0 ? 0 : next(targets, chart.current, direction, isMap));
    });
  }
}

for (const table of tables) {
  table.tBodies[0].addEventListener("pointerover", (event) => {
    const row = event.target.closest("tr[data-i]");
    if (row) pointAt(table.dataset.rows, Number(row.dataset.i), table);
  });
}

// Mark one thing wherever it stands; the table that it was pointed at in stays where it is.
function pointAt(about, text, origin) {
  for (const chart of charts.filter((each) => each.about === about)) {
    chart.current = chart.targets.findIndex((target) => target.text === text);
    if (chart.current < 0) {
      chart.pointer.remove();
      continue;
    }
    const { x, y, width, height } = chart.targets[chart.current];
    chart.pointer.setAttribute("x", x - width / 2);
    chart.pointer.setAttribute("y", y - height / 2);
    chart.pointer.setAttribute("width", width);
    chart.pointer.setAttribute("height", height);
    chart.svg.append(chart.pointer);
    chart.output.textContent = chart.texts[text];
  }
  for (const table of tables.filter((each) => each.dataset.rows === about)) {
    for (const row of table.tBodies[0].rows) {
      const isIt = Number(row.dataset.i) === text;
      row.classList.toggle("pointed", isIt);
      if (isIt && table !== origin && !row.hidden) {
        const box = table.parentElement;
        box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
      }
    }
  }
}

// A link to a model opens it, and so does the printer.
addEventListener("hashchange", openLinked);
openLinked();

function openLinked() {
  const folded = location.hash && document.getElementById(location.hash.slice(1))?.querySelector("details.model");
  if (folded) folded.open = true;
}

addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details:not([open])")) {
    folded.open = true;
    addEventListener("afterprint", () => (folded.open = false), { once: true });
  }
});

function dotsOf(svg) {
  return [...svg.querySelectorAll(".dot")]
    .map((dot) => ({
      x: Number(dot.getAttribute("cx")),
      y: Number(dot.getAttribute("cy")),
      width: 10,
      height: 10,
      text: Number(dot.dataset.i),
    }))
    .sort((a, b) => a.x - b.x || b.y - a.y);
}

function cellsOf(svg) {
  const [x, y, candidates] = ["x", "y", "cells"].map((name) => svg.dataset[name].split(" ").map(Number));
  const cells = [];
  for (let i = 0; i + 1 < x.length; i++) {
    for (let j = 0; j + 1 < y.length; j++) {
      const text = candidates[i * (y.length - 1) + j];
      if (text < 0) continue;
      const [width, height] = [x[i + 1] - x[i], y[j] - y[j + 1]];
      cells.push({ x: x[i] + width / 2, y: y[j] - height / 2, width, height, text });
    }
  }
  return cells;
}

function placeOf(svg, event) {
  const box = svg.getBoundingClientRect();
  const scale = svg.viewBox.baseVal.width / box.width;
  return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
}

function nearest(targets, { x, y }) {
  let best = 0;
  let least = Infinity;
  targets.forEach((target, index) => {
    const distance = Math.hypot(target.x - x, target.y - y);
    if (distance < least) [best, least] = [index, distance];
  });
  return best;
}

// The nearest target that lies that way; left and right go through all dots, which are sorted.
function next(targets, current, [dx, dy], isMap) {
  const from = targets[current];
  if (dx && !isMap) {
    return Math.min(Math.max(current + dx, 0), targets.length - 1);
  }
  let best = current;
  let least = Infinity;
  targets.forEach((target, index) => {
    const along = (target.x - from.x) * dx + (target.y - from.y) * dy;
    const aside = Math.abs((target.x - from.x) * dy) + Math.abs((target.y - from.y) * dx);
    const distance = along + 4 * aside;
    if (along > 0.01 && distance < least) [best, least] = [index, distance];
  });
  return best;
}
