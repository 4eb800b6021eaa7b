// The launch explorer: which thread has which element.

import { count, drawing, facts, make, mount, select, slider, whole } from "./dom.js";
import { layout, paint, placeAt } from "./launch_picture.js";
import { AXES, justEnough, owner, refusal, extent, totals } from "./launch_rules.js";

// The limits of the sliders, per number of dimensions.
const MOST = {
  1: { shape: [2000], grid: [16], block: [1024] },
  2: { shape: [64, 64], grid: [8, 8], block: [32, 32] },
  3: { shape: [16, 16, 8], grid: [4, 4, 4], block: [8, 8, 8] },
};
const WORDS = { shape: "Elements", grid: "Blocks", block: "Threads per block" };
const START = {
  1: { shape: [100, 1, 1], block: [32, 1, 1] },
  2: { shape: [13, 10, 1], block: [8, 4, 1] },
  3: { shape: [6, 5, 3], block: [4, 4, 2] },
};

const tuple = (sizes) => (sizes.length === 1 ? `${sizes[0]}` : `(${sizes.join(", ")})`);

export function describe(state, place) {
  const who = owner(state, place);
  const axes = AXES.slice(0, state.dims);
  const at = tuple(place.slice(0, state.dims));
  if (!who.thread) {
    const nobody = who.hasElement ? "an element that no thread reaches" : "outside data and grid";
    return [["Place", `${at}: ${nobody}`]];
  }
  const index = axes.map((axis, number) => [
    `Index ${axis}`,
    `\`blockIdx.${axis} * blockDim.${axis} + threadIdx.${axis}\` = ` +
      `\`${who.blockAt[number]} * ${state.block[number]} + ${who.thread[number]}\` = ` +
      `${place[number]}`,
  ]);
  const short = (sizes) => tuple(sizes.slice(0, state.dims));
  const does = who.hasElement ? `has element ${at}` : `idle: there is no element ${at}`;
  return [
    ["Thread", `${short(who.thread)} of block ${short(who.blockAt)}: ${does}`],
    ["In its block", `number ${who.number}: warp ${who.warp}, lane ${who.lane}`],
    ...index,
  ];
}

export function amounts(state) {
  const all = totals(state);
  const share = Math.round((100 * all.idle) / all.threads);
  return [
    ["Launch", `\`kernel[${tuple(state.grid.slice(0, state.dims))}, ` +
      `${tuple(state.block.slice(0, state.dims))}]\``],
    ["Threads", `${whole(all.threads)} in ${count(all.blocks, "block")} of ${whole(all.perBlock)}`],
    ["Warps", `${whole(all.warps)}, with ${count(all.emptyLanes, "lane")} that have no thread`],
    ["Idle threads", `${whole(all.idle)} (${share} %)`],
    ["Elements", `${whole(all.elements)}, ${whole(all.missed)} of them without a thread`],
  ];
}

class Explorer {
  constructor(host, styles, options) {
    this.state = options;
    this.looked = [0, 0, 0];
    this.sliders = make("div", { class: "sliders" });
    this.refused = make("p", { class: "refused", role: "alert" });
    this.list = make("dl");
    this.total = make("dl");
    this.canvas = drawing(
      (width) => layout(this.state, width).height,
      (pen, width, colour) => paint(pen, width, colour, this.state, this.looked),
    );
    const card = mount(host, styles, ...this.#parts());
    for (const event of ["pointermove", "pointerdown"])
      this.canvas.addEventListener(event, (at) => this.#point(at));
    const schemes = new MutationObserver(() => this.canvas.paint());
    schemes.observe(card, { attributeFilter: ["data-scheme"] });
    this.#build();
  }

  #parts() {
    const dims = [1, 2, 3].map((number) => [number, count(number, "dimension")]);
    const key = (name, words) => make("li", {}, make("i", { class: name }), words);
    this.auto = make("input", { type: "checkbox", onchange: () => this.#draw() });
    this.auto.checked = this.state.auto;
    return [
      make("p", { class: "title" }, "Which thread has which element?"),
      make(
        "div",
        { class: "sliders" },
        select("Array and grid", dims, this.state.dims, (number) => this.#turn(number)),
        make("label", { class: "check" }, this.auto, "just enough blocks"),
      ),
      this.sliders,
      this.refused,
      make("div", { role: "status" }, this.list),
      this.canvas,
      make(
        "ul",
        { class: "keys" },
        key("blocks", "a colour: a block"),
        key("data", "thick line: the end of the data"),
        key("warp", "the warp of the thread you look at"),
        key("idle", "thread without an element"),
        key("missed", "element without a thread"),
      ),
      make("div", { role: "status" }, this.total),
    ];
  }

  // Another number of dimensions begins with an example of its own.
  #turn(dims) {
    Object.assign(this.state, structuredClone(START[dims]), { dims, grid: [1, 1, 1] });
    this.auto.checked = true;
    this.looked = [0, 0, 0];
    this.#build();
  }

  #build() {
    const { dims } = this.state;
    const most = MOST[dims];
    this.grids = [];
    this.looks = [];
    const axes = AXES.slice(0, dims);
    const name = (words, axis) => (dims === 1 ? words : `${words}, ${axis}`);
    const rows = ["shape", "block", "grid"].flatMap((kind) =>
      axes.map((axis, number) => {
        const value = this.state[kind][number];
        const limits = { least: 1, most: Math.max(most[kind][number], value), value };
        const box = slider(name(WORDS[kind], axis), limits, (now) => {
          this.state[kind][number] = now;
          if (kind === "grid") this.auto.checked = false;
          this.#draw();
        });
        if (kind === "grid") this.grids.push(box);
        return box;
      }),
    );
    this.looks = axes.map((axis, number) =>
      slider(name("Look at", axis), { most: 1, value: 0 }, (value) => {
        this.looked[number] = value;
        this.#draw();
      }),
    );
    this.sliders.replaceChildren(...rows, ...this.looks);
    this.#draw();
  }

  #point({ offsetX, offsetY, currentTarget }) {
    const plan = layout(this.state, currentTarget.clientWidth);
    const place = refusal(this.state) ? null : placeAt(this.state, plan, offsetX, offsetY);
    if (!place || place.join() === this.looked.join()) return;
    this.looked = place;
    this.#draw();
  }

  #draw() {
    const { state } = this;
    if (this.auto.checked) {
      state.grid = justEnough(state);
      this.grids.forEach((box, axis) =>
        box.set(state.grid[axis], Math.max(MOST[state.dims].grid[axis], state.grid[axis])),
      );
    }
    const sizes = extent(state);
    this.looked = this.looked.map((at, axis) => Math.min(at, sizes[axis] - 1));
    this.looks.forEach((box, axis) => box.set(this.looked[axis], sizes[axis] - 1));
    const refused = refusal(state);
    this.refused.textContent = refused;
    for (const part of [this.canvas, this.list, this.total]) part.hidden = refused !== "";
    if (refused) return;
    this.list.replaceChildren(...facts(describe(state, this.looked)));
    this.total.replaceChildren(...facts(amounts(state)));
    const all = totals(state);
    this.canvas.setAttribute(
      "aria-label",
      `${count(all.elements, "element")} and ${count(all.threads, "thread")}, block by block.`,
    );
    this.canvas.paint();
  }
}

export function launch(host, styles, options) {
  return new Explorer(host, styles, options);
}
