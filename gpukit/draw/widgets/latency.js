// One warp scheduler, cycle by cycle. It issues one instruction of one warp per cycle. A warp
// issues a load (1 cycle), waits `latency` cycles for it, computes for `work` cycles, and repeats.

import { count, drawing, facts, make, mount, slider } from "./dom.js";

const SHOWN = 1200;
export const [WAIT, READY, COMPUTE, ASK] = [0, 1, 2, 3];

// What each warp does in each cycle: an array of cycles per warp. The scheduler stays with
// its warp while that is ready, else it selects the one that has been ready for longest.
export function timeline({ warps, latency, work }, cycles) {
  const rows = Array.from({ length: warps }, () => new Uint8Array(cycles));
  const ready = new Array(warps).fill(0); // the cycle from which each is ready
  const left = new Array(warps).fill(0); // cycles of arithmetic before its next load
  let current = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    if (ready[current] > cycle) current = ready.indexOf(Math.min(...ready));
    for (let warp = 0; warp < warps; warp += 1)
      rows[warp][cycle] = ready[warp] <= cycle ? READY : WAIT;
    if (ready[current] > cycle) continue;
    rows[current][cycle] = left[current] ? COMPUTE : ASK;
    if (left[current]) left[current] -= 1;
    else [ready[current], left[current]] = [cycle + 1 + latency, work];
  }
  return rows;
}

// The number of these cycles in which an instruction was issued.
export function busyCycles(rows, from, to) {
  let busy = 0;
  for (let cycle = from; cycle < to; cycle += 1) busy += rows.some((row) => row[cycle] >= COMPUTE);
  return busy;
}

// The fraction in the long run: the model.
export const busyShare = ({ warps, latency, work }) =>
  Math.min(1, (warps * (work + 1)) / (latency + work + 1));

const percent = (share) => `${(100 * share).toLocaleString("en-GB", { maximumFractionDigits: 1 })} %`;

function formula({ warps, latency, work }) {
  const share = percent(busyShare({ warps, latency, work }));
  const turn = `(${latency} + ${work} + 1)`;
  return `\`min(1, ${warps} * (${work} + 1) / ${turn})\` = ${share} of all cycles`;
}

function paint(pen, width, colour, rows) {
  const high = rowHeight(rows.length);
  const colours = ["wait", "stand", "compute", "ask"].map(colour);
  const cycle = width / SHOWN;
  const run = (from, to, top, tall, fill) => {
    pen.fillStyle = fill;
    pen.fillRect(from * cycle, top, Math.max(1, (to - from) * cycle), tall);
  };
  const runs = (top, tall, kindAt) => {
    for (let from = 0, at = 1; at <= SHOWN; at += 1) {
      if (at < SHOWN && kindAt(at) === kindAt(from)) continue;
      run(from, at, top, tall, colours[kindAt(from)]);
      from = at;
    }
  };
  rows.forEach((row, number) => {
    runs(number * high, high - 1, (at) => row[at]);
    // One cycle is less than a pixel: drawn over the rest, wide enough to be seen.
    row.forEach((kind, at) => kind === ASK && run(at, at + 2 / cycle, number * high, high - 1, colours[ASK]));
  });
  const busy = Uint8Array.from({ length: SHOWN }, (_, at) =>
    rows.some((row) => row[at] >= COMPUTE) ? COMPUTE : WAIT,
  );
  runs(rows.length * high + 8, 16, (at) => busy[at]);
}

const rowHeight = (warps) => Math.max(5, Math.min(18, Math.floor(300 / warps)));

export function latency(host, styles, options) {
  const state = { ...options };
  let rows = timeline(state, SHOWN);
  const list = make("dl");
  const canvas = drawing(
    () => rowHeight(rows.length) * rows.length + 26,
    (pen, width, colour) => paint(pen, width, colour, rows),
  );
  const draw = () => {
    rows = timeline(state, SHOWN);
    const words = count(busyCycles(rows, 0, SHOWN), "cycle");
    canvas.setAttribute(
      "aria-label",
      `Time line of ${count(state.warps, "warp")} over ${count(SHOWN, "cycle")}, below them the ` +
        `scheduler: it issues an instruction in ${words}.`,
    );
    list.replaceChildren(
      ...facts([
        ["Shown", `${count(SHOWN, "cycle")}, an instruction issued in ${words}`],
        ["Busy in the long run", formula(state)],
      ]),
    );
    canvas.paint();
  };
  const range = (label, name, least, most) =>
    slider(label, { least, most, value: state[name] }, (value) => {
      state[name] = value;
      draw();
    });
  const key = (name, words) =>
    make("li", {}, make("i", { style: `background: var(--${name})` }), words);
  const card = mount(
    host,
    styles,
    make("p", { class: "title" }, "Which warp waits, which computes?"),
    make(
      "div",
      { class: "sliders" },
      range("Warps", "warps", 1, 64),
      range("Latency, cycles", "latency", 10, 800),
      range("Arithmetic per load", "work", 0, 100),
    ),
    canvas,
    make(
      "ul",
      { class: "keys" },
      key("ask", "issues a load"),
      key("wait", "waits for its data"),
      key("compute", "computes"),
      key("stand", "ready, but another warp is selected"),
      make("li", {}, "A row for each warp; the thick row below: is the scheduler busy?"),
    ),
    make("div", { role: "status" }, list),
  );
  new MutationObserver(() => canvas.paint()).observe(card, { attributeFilter: ["data-scheme"] });
  draw();
}
