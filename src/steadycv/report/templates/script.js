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

// Charts tell what is pointed at: by mouse, by finger, or by the arrow keys.
for (const figure of document.querySelectorAll("figure[data-read-outs]")) {
  const texts = JSON.parse(document.getElementById(figure.dataset.readOuts).textContent);
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
    let current = -1;
    const show = (index) => {
      current = index;
      const { x, y, width, height, text } = targets[index];
      pointer.setAttribute("x", x - width / 2);
      pointer.setAttribute("y", y - height / 2);
      pointer.setAttribute("width", width);
      pointer.setAttribute("height", height);
      svg.append(pointer);
      output.textContent = texts[text];
    };
    svg.addEventListener("pointermove", (event) => show(nearest(targets, placeOf(svg, event))));
    svg.addEventListener("pointerdown", (event) => show(nearest(targets, placeOf(svg, event))));
    svg.tabIndex = 0;
    svg.addEventListener("keydown", (event) => {
      const direction = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
      if (!direction) return;
      event.preventDefault();
      show(current < 0 ? 0 : next(targets, current, direction, isMap));
    });
  }
}

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
