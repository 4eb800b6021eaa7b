// Small helpers for building the page. Text is always inserted as text, never as HTML.

const byId = (id) => document.getElementById(id);

// make("td", {class: "value", role: "cell"}, "3.5", child ...)
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// Sets an attribute, or removes it when the value is empty. Unchanged nodes stay untouched.
function mark(node, name, value) {
  const text = value === true ? "" : String(value);
  if (value === undefined || value === false || value === "") {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Sets a text in which `code` is between backticks. Unchanged nodes stay untouched.
function writeProse(node, text) {
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  const parts = text.split(/`([^`]+)`/);
  node.replaceChildren(...parts.map((part, at) => (at % 2 ? make("code", {}, part) : part)));
}

// Buttons stay focusable when they are disabled, so that the keyboard focus is not lost.
function allow(button, allowed) {
  mark(button, "aria-disabled", allowed ? undefined : "true");
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const isPlainKey = (event) => !event.ctrlKey && !event.altKey && !event.metaKey;
