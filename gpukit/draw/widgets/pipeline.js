// Who computes and who waits in a pipeline, for any number of stages and micro-batches.

import { count, drawing, facts, make, mount, select, slider } from "./dom.js";
import { bubble, duration, held, idleShare, timeline } from "./pipeline_rules.js";

const NAMES = { gpipe: "GPipe", "1f1b": "1F1B" };
const percent = (share) => `${(100 * share).toLocaleString("en-GB", { maximumFractionDigits: 1 })} %`;
const short = (time) => time.toLocaleString("en-GB", { maximumFractionDigits: 2 });

const batches = (number) => count(number, "micro-batch", "micro-batches");

const rowHeight = (stages) => Math.max(16, Math.min(30, Math.floor(300 / stages)));

function paint(pen, width, colour, rows) {
  const high = rowHeight(rows.length);
  const left = 26; // for the number of the stage
  const unit = (width - left) / duration(rows);
  const font = getComputedStyle(pen.canvas).fontFamily;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  pen.font = `12px ${font}`;
  rows.forEach((row, stage) => {
    const top = stage * high;
    pen.fillStyle = colour("ink");
    pen.fillText(stage, 10, top + high / 2);
    pen.fillStyle = colour("idle");
    pen.fillRect(left, top, width - left, high - 2);
    for (const { kind, batch, start, end } of row) {
      const [x, wide] = [left + start * unit, (end - start) * unit];
      pen.fillStyle = colour(kind);
      pen.fillRect(x, top, wide - (wide > 3 ? 1 : 0), high - 2);
      if (wide < 15) continue;
      pen.fillStyle = colour("label");
      pen.fillText(batch, x + wide / 2, top + high / 2);
    }
  });
}

const heldInWords = (state) => {
  const counts = Array.from({ length: state.stages }, (_, stage) => held(state, stage));
  const [first, last] = [counts[0], counts[state.stages - 1]];
  const words = batches(first);
  if (first === last) return `${words} in every stage`;
  return `${words} in stage 0, ${last} in stage ${state.stages - 1}`;
};

export function pipeline(host, styles, options) {
  const state = { ...options };
  let rows = timeline(state);
  const list = make("dl");
  const canvas = drawing(
    () => rowHeight(state.stages) * state.stages,
    (pen, width, colour) => paint(pen, width, colour, rows),
  );
  const draw = () => {
    rows = timeline(state);
    const [p, m] = [state.stages, state.batches];
    const idle = percent(idleShare(rows));
    canvas.setAttribute(
      "aria-label",
      `Time line of ${count(p, "stage")} with ${batches(m)}, ` +
        `${NAMES[state.schedule]}: ${idle} of it idle.`,
    );
    list.replaceChildren(
      ...facts([
        ["Idle in this picture", `${idle} of ${short(duration(rows))} forward passes`],
        [
          "Bubble",
          `\`(p - 1) / (m + p - 1) = ${p - 1} / ${m + p - 1}\` = ${percent(bubble(state))} for p ` +
            "stages and m micro-batches, without messages",
        ],
        ["Activations held", heldInWords(state)],
      ]),
    );
    canvas.paint();
  };
  const change = (name) => (value) => {
    state[name] = value;
    draw();
  };
  const key = (name, words) =>
    make("li", {}, make("i", { style: `background: var(--${name})` }), words);
  const tenths = { least: 0, most: 20, show: (value) => short(value / 10) };
  const card = mount(
    host,
    styles,
    make("p", { class: "title" }, "Which stage computes, which waits?"),
    make(
      "div",
      { class: "sliders" },
      slider("Stages", { least: 1, most: 16, value: state.stages }, change("stages")),
      slider("Micro-batches", { least: 1, most: 64, value: state.batches }, change("batches")),
      slider(
        "Backward pass",
        { least: 10, most: 30, show: tenths.show, value: 10 * state.backward },
        (value) => change("backward")(value / 10),
      ),
      slider("Message", { ...tenths, value: 10 * state.transfer }, (value) =>
        change("transfer")(value / 10),
      ),
      select("Schedule", Object.entries(NAMES), state.schedule, change("schedule")),
    ),
    canvas,
    make(
      "ul",
      { class: "keys" },
      key("forward", "forward pass of the micro-batch with this number"),
      key("backward", "backward pass"),
      key("idle", "waits"),
      make("li", {}, "A row per stage, time to the right; times are in forward passes."),
    ),
    make("div", { role: "status" }, list),
  );
  new MutationObserver(() => canvas.paint()).observe(card, { attributeFilter: ["data-scheme"] });
  draw();
}
