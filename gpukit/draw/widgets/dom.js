// What the widgets build their elements with. Text always goes in as text, never as HTML.

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

// The styles of the notebook stay outside the shadow root, and what stands in the host for pages
// without scripts is no longer shown.
export function mount(host, styles, ...children) {
  const card = make("div", { class: "card" }, ...children);
  // JupyterLab would take digits typed here for its own shortcuts.
  host.dataset.lmSuppressShortcuts = "true";
  host.attachShadow({ mode: "open" }).append(make("style", {}, styles), card);
  followScheme(host, (scheme) => (card.dataset.scheme = scheme));
  return card;
}
