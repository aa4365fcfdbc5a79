"use strict";
// Words of marks: by pointer, by touch, and by keys within a chart.
const tip = document.getElementById("tip");
let shown = null;

function show(mark) {
  if (shown) shown.classList.remove("at");
  shown = mark;
  tip.textContent = mark ? mark.dataset.words : ""; // it is read aloud
  if (mark) mark.classList.add("at");
}

for (const chart of document.querySelectorAll(".chart")) {
  const marks = [];
  for (const title of chart.querySelectorAll("title")) {
    const mark = title.parentNode;
    mark.dataset.words = title.textContent;
    title.remove(); // no second tip by the browser
    marks.push(mark);
  }
  const markOf = event => marks.includes(event.target) ? event.target : null;
  chart.addEventListener("pointerover", event => show(markOf(event)));
  chart.addEventListener("pointerleave", () => show(null));
  chart.addEventListener("click", event => show(markOf(event)));
  chart.addEventListener("blur", () => show(null));
  chart.addEventListener("keydown", event => {
    const steps = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1};
    const last = marks.length - 1;
    let at = marks.indexOf(shown);
    if (event.key === "Escape") return show(null);
    if (event.key === "Home") at = 0;
    else if (event.key === "End") at = last;
    else if (event.key in steps) at = at < 0 ? 0 : Math.min(Math.max(at + steps[event.key], 0), last);
    else return;
    event.preventDefault();
    show(marks[at]);
  });
}

// Tables are sorted by a column.
function order(table, column, button) {
  const down = button.parentNode.getAttribute("aria-sort") === "ascending";
  const body = table.tBodies[0];
  const word = row => row.cells[column].textContent;
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  button.parentNode.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...body.rows].sort((a, b) => {
    const x = parseFloat(word(a)), y = parseFloat(word(b));
    const less = isNaN(x) || isNaN(y) ? word(a).localeCompare(word(b), "en", {numeric: true}) : x - y;
    return down ? -less : less;
  });
  body.append(...rows);
}

for (const table of document.querySelectorAll("table")) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = cell.textContent;
    button.title = "sort";
    button.addEventListener("click", () => order(table, column, button));
    cell.replaceChildren(button);
  });
}
