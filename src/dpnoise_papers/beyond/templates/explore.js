// Sliders step over the points of the grid; texts of numbers were rounded beforehand.
"use strict";
const {axes, sets, colours, points} = JSON.parse(document.getElementById("data").textContent);
const FEW = 3;
const NAMES = ["dimension", "epsilon", "delta"];
const $ = (id) => document.getElementById(id);
const element = (tag, text, more = {}) =>
  Object.assign(document.createElement(tag), {textContent: text}, more);
const chosen = {
  set: "all" in sets ? "all" : Object.keys(sets)[0],
  ...Object.fromEntries(NAMES.map((name) => [name, nearest(name)])),
};

function nearest(name) {  // the front page's example where the grid has it
  const wanted = {dimension: "12", epsilon: "1", delta: "1e-06"}[name];
  return Math.max(0, axes[name].indexOf(wanted));
}

function at(dimension = chosen.dimension, epsilon = chosen.epsilon) {
  const K = axes.dimension[dimension];
  const set = chosen.set === "three" && Number(K) <= FEW ? "all" : chosen.set;
  return points[[set, K, axes.epsilon[epsilon], axes.delta[chosen.delta]].join(" ")];
}

function calls() {
  const [K, epsilon, delta] = NAMES.map((name) => axes[name][chosen[name]]);
  const few = chosen.set === "three" && Number(K) > FEW;
  const set = `${few ? `AtMost(${FEW}` : "LInf(1.0"}, of=${K}, relation="add-remove")`;
  const option = few ? `--at-most ${FEW} --of ${K}` : `--linf 1 --of ${K}`;
  return {
    python: `from dpnoise import ${few ? "AtMost" : "LInf"}, best\n` +
      `found = best(${set}, epsilon=${epsilon}, delta=${delta})\n` +
      `found.noise, found.variance, found.delta, found.floor  # then release(values, found.noise)`,
    shell: `dpnoise best ${option} --epsilon ${epsilon} --delta ${delta} --relation add-remove`,
  };
}

function show() {
  for (const name of NAMES) {
    $(name).value = chosen[name];
    $(name).setAttribute("aria-valuetext", axes[name][chosen[name]]);
    document.querySelector(`output[for=${name}]`).textContent = axes[name][chosen[name]];
  }
  const {floor, rows} = at();
  const [best] = rows;
  $("swatch").style.background = colours[best[0]];
  $("name").textContent = best[0];
  $("std").textContent = best[3];
  $("variance").textContent = best[2];
  $("floor").textContent = floor[1];
  $("certified").textContent = best[4];
  const widest = Math.sqrt(Math.max(...rows.map((row) => row[1])));
  $("others").tBodies[0].replaceChildren(...rows.map((row) => line(row, floor[0], widest)));
  Object.entries(calls()).forEach(([id, text]) => { $(id).textContent = text; });
  showMap();
}

function line([name, value, variance, std, delta], floor, widest) {
  const row = document.createElement("tr");
  const bar = element("span", "", {className: "bar"});
  const filled = element("b", "");
  filled.style.width = `${100 * Math.sqrt(value) / widest}%`;
  filled.style.background = colours[name];
  const mark = element("u", "");
  mark.style.left = `${100 * Math.sqrt(floor) / widest}%`;
  bar.append(filled, mark);
  const deviation = element("td", std);
  deviation.append(bar);
  row.append(element("td", name), deviation, element("td", variance), element("td", delta));
  return row;
}

function showMap() {
  const seen = new Set();
  for (const button of $("map").querySelectorAll("button")) {
    const [dimension, epsilon] = [Number(button.dataset.dimension), Number(button.dataset.epsilon)];
    const name = at(dimension, epsilon).rows[0][0];
    seen.add(name);
    button.style.background = colours[name];
    button.title = `K = ${axes.dimension[dimension]}, epsilon = ${axes.epsilon[epsilon]}: ${name}`;
    button.setAttribute("aria-label", button.title);
    button.setAttribute("aria-pressed",
      dimension === chosen.dimension && epsilon === chosen.epsilon);
  }
  $("key").replaceChildren(...[...seen].sort().map((name) => {
    const entry = element("span", "");
    const swatch = element("i", "");
    swatch.style.background = colours[name];
    entry.append(swatch, name);
    return entry;
  }));
}

function build() {
  for (const name of NAMES) {
    Object.assign($(name), {min: 0, max: axes[name].length - 1, step: 1});
    $(name).addEventListener("input", () => { chosen[name] = Number($(name).value); show(); });
  }
  for (const [name, told] of Object.entries(sets)) {
    const input = element("input", "", {type: "radio", name: "set", value: name});
    input.checked = name === chosen.set;
    input.addEventListener("change", () => { chosen.set = name; show(); });
    const label = element("label", "");
    label.append(input, told);
    $("sets").append(label);
  }
  const rows = axes.epsilon.map((text, epsilon) => {
    const row = document.createElement("tr");
    row.append(element("th", text, {scope: "row"}));
    axes.dimension.forEach((_, dimension) => {
      const button = element("button", "", {type: "button"});
      Object.assign(button.dataset, {dimension, epsilon});
      button.addEventListener("click", () => { Object.assign(chosen, {dimension, epsilon}); show(); });
      const cell = document.createElement("td");
      cell.append(button);
      row.append(cell);
    });
    return row;
  }).reverse();
  const below = document.createElement("tr");
  below.append(element("th", ""), ...axes.dimension.map((K) => element("th", K, {scope: "col"})));
  $("map").tBodies[0].append(...rows, below);
  for (const button of document.querySelectorAll("[data-for]")) {
    button.addEventListener("click", () => {
      const range = document.createRange();
      range.selectNodeContents($(button.dataset.for));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      const told = navigator.clipboard
        ? navigator.clipboard.writeText($(button.dataset.for).textContent)
        : Promise.reject(new Error("no clipboard"));
      told.then(() => { button.textContent = "copied"; }, () => { button.textContent = "selected"; });
    });
  }
}

build();
show();
