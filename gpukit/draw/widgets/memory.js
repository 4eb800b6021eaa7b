// The memory accesses of one request of a warp, counted as gpukit.profile counts them: sectors of
// 32 bytes in global memory, banks of 4-byte words in shared memory.

import { count, facts, make, mount, select, slider, whole } from "./dom.js";

const [LANES, SECTOR, BANKS, WORD] = [32, 32, 32, 4];

// Byte at which the element of each lane begins.
export const offsets = ({ stride, offset, size }) =>
  Array.from({ length: LANES }, (_, lane) => size * (offset + stride * lane));

const parts = (at, size, unit) => {
  const first = Math.floor(at / unit);
  return Array.from(
    { length: Math.floor((at + size - 1) / unit) - first + 1 },
    (_, part) => first + part,
  );
};
const inOrder = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

export const sectors = (state) =>
  inOrder(offsets(state).flatMap((at) => parts(at, state.size, SECTOR)));

// How many distinct bytes the lanes access.
export const asked = (state) => new Set(offsets(state)).size * state.size;

// Which lanes access the banks together: 32 with up to 4 bytes, 16 with 8, 8 with 16.
export function phases({ size }) {
  const together = Math.min(LANES, (LANES * WORD) / size);
  return Array.from({ length: LANES / together }, (_, phase) =>
    Array.from({ length: together }, (_, lane) => phase * together + lane),
  );
}

// For each bank, how many distinct words these lanes access in it.
export function wordsOfBanks(state, lanes) {
  const at = offsets(state);
  const found = new Array(BANKS).fill(0);
  for (const word of inOrder(lanes.flatMap((lane) => parts(at[lane], state.size, WORD))))
    found[word % BANKS] += 1;
  return found;
}

export const passes = (state) =>
  phases(state)
    .map((lanes) => Math.max(...wordsOfBanks(state, lanes)))
    .reduce((sum, most) => sum + most);

const numbers = (first, last) => (first === last ? `${first}` : `${first} to ${last}`);

function sectorList(state, lane) {
  const at = offsets(state);
  return sectors(state).map((sector) => {
    const begin = sector * SECTOR;
    const inside = inOrder(at.filter((byte) => byte >= begin && byte < begin + SECTOR));
    const marks = inside.map((byte) => {
      const from = byte - begin + 1;
      const style = `grid-area: 1 / ${from} / 2 / ${from + state.size}`;
      return make("i", { style, "data-mine": byte === at[lane] ? "" : undefined });
    });
    const bytes = make("div", { class: "bytes" }, ...marks);
    return make("li", {}, bytes, make("span", {}, `from byte ${whole(begin)}`));
  });
}

function bankRows(state, lane) {
  const wanted = parts(offsets(state)[lane], state.size, WORD).map((word) => word % BANKS);
  return phases(state).flatMap((lanes) => {
    const cells = wordsOfBanks(state, lanes).map((words, bank) =>
      make(
        "li",
        {
          "data-words": words || undefined,
          "data-clash": words > 1 ? "" : undefined,
          "data-mine": lanes.includes(lane) && wanted.includes(bank) ? "" : undefined,
        },
        make("small", {}, bank),
        make("b", {}, words || ""),
      ),
    );
    const name = `Lanes ${numbers(lanes[0], lanes.at(-1))}: words accessed in each bank`;
    return [make("span", {}, name), make("ol", { class: "banks", "aria-label": name }, ...cells)];
  });
}

function sentences(state, lane) {
  const at = offsets(state)[lane];
  const moved = SECTOR * sectors(state).length;
  const share = Math.round((100 * asked(state)) / moved);
  const least = phases(state).length;
  const took = passes(state);
  const index = `\`${state.offset} + ${state.stride} * ${lane}\``;
  const bank = parts(at, state.size, WORD).map((word) => word % BANKS);
  return facts([
    [
      "Global memory",
      `${count(sectors(state).length, "sector")}: ${count(moved, "byte")} moved, ` +
        `${whole(asked(state))} of them requested (${share} %)`,
    ],
    [
      "Shared memory",
      `${count(took, "wavefront")}, ${took === least ? "no bank conflict" : `ideal: ${least}`}`,
    ],
    [
      `Lane ${lane}`,
      `element ${index} = ${state.offset + state.stride * lane}, ` +
        `bytes ${numbers(at, at + state.size - 1)}, sector ${Math.floor(at / SECTOR)}, ` +
        `bank ${numbers(bank[0], bank.at(-1))}`,
    ],
  ]);
}

export function memory(host, styles, options) {
  const state = { ...options };
  let lane = 0;
  const list = make("dl");
  const sectorBox = make("ol", { class: "sectors", "aria-label": "Sectors that are touched" });
  const bankBox = make("div");
  const draw = () => {
    list.replaceChildren(...sentences(state, lane));
    sectorBox.replaceChildren(...sectorList(state, lane));
    bankBox.replaceChildren(...bankRows(state, lane));
  };
  const change = (name) => (value) => {
    state[name] = value;
    draw();
  };
  const range = (label, name, most) =>
    slider(label, { most, value: state[name] }, change(name));
  const sizes = [
    [1, "1 byte: int8"],
    [2, "2 bytes: float16"],
    [4, "4 bytes: float32"],
    [8, "8 bytes: float64"],
    [16, "16 bytes: complex128"],
  ];
  const looked = slider("Look at lane", { most: LANES - 1, value: lane }, (value) => {
    lane = value;
    draw();
  });
  mount(
    host,
    styles,
    make("p", { class: "title" }, "32 lanes request ", make("code", {}, "x[offset + stride * lane]")),
    make(
      "div",
      { class: "sliders" },
      range("Stride", "stride", 40),
      range("Offset", "offset", 32),
      select("Element", sizes, state.size, change("size")),
      looked,
    ),
    make("div", { role: "status" }, list),
    make("p", { class: "part" }, "Where x is in global memory: the sectors that are moved"),
    sectorBox,
    make("p", { class: "part" }, "Where x is in shared memory: the banks that are accessed"),
    bankBox,
  );
  draw();
}
