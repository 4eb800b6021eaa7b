// Builds the elements of the widgets. Text is always inserted as text, never as HTML.

import { followScheme } from "./scheme.js";

// make("td", {class: "value"}, "3.5", child ...)
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// Text in which `names` stand between backticks, as nodes.
export const rich = (text) =>
  text.split("`").map((part, number) => (number % 2 ? make("code", {}, part) : part));

// The notebook's styles stay outside the shadow root, and the host's initial content, for pages
// without scripts, is no longer shown.
export function mount(host, styles, ...children) {
  const card = make("div", { class: "card" }, ...children);
  // JupyterLab would take digits typed here for its own shortcuts.
  host.dataset.lmSuppressShortcuts = "true";
  host.attachShadow({ mode: "open" }).append(make("style", {}, styles), card);
  followScheme(host, (scheme) => (card.dataset.scheme = scheme));
  return card;
}

export const whole = (number) => number.toLocaleString("en-GB");

// A labelled range with its value beside it; `show` formats the value.
export function slider(label, { least = 0, most, value, show = whole }, tell) {
  const output = make("output", {}, show(value));
  const input = make("input", {
    type: "range",
    "aria-label": label,
    min: least,
    max: most,
    value,
  });
  const change = () => {
    output.textContent = show(input.valueAsNumber);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    change();
    tell(input.valueAsNumber);
  });
  change();
  const box = make("label", { class: "slider" }, make("span", {}, label), input, output);
  // Sets value and limits without a notification.
  box.set = (value, most = input.max) => {
    input.max = most;
    input.value = value;
    change();
  };
  return box;
}

export function select(label, choices, value, tell) {
  const options = choices.map(([name, words]) =>
    make("option", { value: name, ...(name === value && { selected: "" }) }, words),
  );
  const box = make("select", { onchange: () => tell(choices[box.selectedIndex][0]) }, ...options);
  return make("label", { class: "slider" }, make("span", {}, label), box);
}

export const count = (number, one, many = `${one}s`) =>
  `${whole(number)} ${number === 1 ? one : many}`;

// Rows of a name and its value: [["threads", "1,024"], ...]
export const facts = (rows) =>
  rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, ...rich(value))]);

// A canvas as wide as its container and sharp on any screen; `paint` gets pen, width and colours.
export function drawing(height, paint) {
  const canvas = make("canvas", { role: "img" });
  let width = 0;
  canvas.paint = () => {
    if (!width) return;
    const scale = globalThis.devicePixelRatio || 1;
    const high = height(width);
    canvas.style.height = `${high}px`;
    [canvas.width, canvas.height] = [width * scale, high * scale];
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const style = getComputedStyle(canvas);
    paint(pen, width, (name) => style.getPropertyValue(`--${name}`).trim());
  };
  new ResizeObserver(([entry]) => {
    width = Math.floor(entry.contentRect.width);
    canvas.paint();
  }).observe(canvas);
  return canvas;
}
