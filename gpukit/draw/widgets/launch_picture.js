// The positions and looks of elements and threads in the picture of a launch.

import { owner, extent } from "./launch_rules.js";

const FILLS = [
  "#56b4e9", "#e69f00", "#66c5ab", "#f0e442", "#cc79a7", "#e58e5a", "#c0c0c0", "#b7a6e8",
];
const [LARGEST, TALLEST, GAP, NAME] = [22, 460, 14, 18];

// One dimension is wrapped like text, three are planes beside one another.
export function layout(state, width) {
  const [wide, high, deep] = extent(state);
  if (state.dims === 1) {
    const across = wide <= 1024 ? 32 : wide <= 4096 ? 64 : 128;
    const cell = Math.min(LARGEST, (width - 4) / across);
    return { cell, across, perRow: 1, head: 0, height: Math.ceil(wide / across) * cell + 4 };
  }
  const head = state.dims === 3 ? NAME : 0; // planes are named
  let cell = LARGEST;
  const perRow = () => Math.max(1, Math.floor((width - 4 + GAP) / (wide * cell + GAP)));
  const height = () => Math.ceil(deep / perRow()) * (head + high * cell + GAP) - GAP + 4;
  while (cell > 1 && (height() > TALLEST || wide * cell > width - 4)) cell -= 0.5;
  cell = Math.min(cell, (width - 4) / wide);
  return { cell, across: wide, perRow: Math.min(perRow(), deep), head, height: height() };
}

// The left and the top of a cell.
export function cornerOf(state, { cell, across, perRow, head }, [x, y, z]) {
  const [wide, high] = extent(state);
  if (state.dims === 1) return [2 + (x % across) * cell, 2 + Math.floor(x / across) * cell];
  const [column, row] = [z % perRow, Math.floor(z / perRow)];
  return [
    2 + column * (wide * cell + GAP) + x * cell,
    2 + row * (head + high * cell + GAP) + head + y * cell,
  ];
}

// The cell at a point; null outside the picture.
export function placeAt(state, plan, left, top) {
  const { cell, across, perRow, head } = plan;
  const [wide, high, deep] = extent(state);
  const [u, v] = [left - 2, top - 2];
  if (state.dims === 1) {
    const x = Math.floor(v / cell) * across + Math.floor(u / cell);
    return u >= 0 && v >= 0 && u < across * cell && x < wide ? [x, 0, 0] : null;
  }
  const [planeWide, planeHigh] = [wide * cell + GAP, head + high * cell + GAP];
  const [column, row] = [Math.floor(u / planeWide), Math.floor(v / planeHigh)];
  const place = [
    Math.floor((u - column * planeWide) / cell),
    Math.floor((v - head - row * planeHigh) / cell),
    row * perRow + column,
  ];
  const isInside = place.every((at, axis) => at >= 0 && at < [wide, high, deep][axis]);
  return isInside && column >= 0 && column < perRow ? place : null;
}

export function paint(pen, width, colour, state, looked) {
  const plan = layout(state, width);
  const { cell } = plan;
  const chosen = owner(state, looked);
  const [wide, high, deep] = extent(state);
  const edge = colour("edge");
  pen.font = "13px system-ui, sans-serif";
  pen.fillStyle = colour("quiet");
  for (let z = 0; plan.head && z < deep; z += 1) {
    const [left, top] = cornerOf(state, plan, [0, 0, z]);
    pen.fillText(`z = ${z}`, left, top - 5);
  }
  for (let z = 0; z < deep; z += 1)
    for (let y = 0; y < high; y += 1)
      for (let x = 0; x < wide; x += 1) {
        const who = owner(state, [x, y, z]);
        const [left, top] = cornerOf(state, plan, [x, y, z]);
        fillCell(pen, colour, who, left, top, cell);
        if (who.thread && isSameWarp(who, chosen)) dot(pen, who.hasElement ? "#111111" : edge, left, top, cell);
        lines(pen, edge, state, [x, y, z], left, top, cell);
      }
  const [left, top] = cornerOf(state, plan, looked);
  pen.lineWidth = 3;
  pen.strokeStyle = edge;
  pen.strokeRect(left - 0.5, top - 0.5, cell + 1, cell + 1);
  pen.lineWidth = 1.5;
  pen.strokeStyle = colour("strong");
  pen.strokeRect(left - 0.5, top - 0.5, cell + 1, cell + 1);
}

const isSameWarp = (one, other) =>
  other.thread && one.warp === other.warp && one.blockAt.join() === other.blockAt.join();

function fillCell(pen, colour, { hasElement, thread, blockAt }, left, top, cell) {
  const size = cell >= 5 ? cell - 1 : cell;
  if (thread && hasElement) {
    pen.fillStyle = FILLS[(blockAt[0] + 3 * blockAt[1] + 5 * blockAt[2]) % FILLS.length];
    return pen.fillRect(left, top, size, size);
  }
  if (!thread && !hasElement) return undefined;
  pen.fillStyle = colour(thread ? "idle" : "missed");
  pen.fillRect(left, top, size, size);
  pen.lineWidth = 1;
  pen.strokeStyle = colour(thread ? "hatch" : "wrong");
  pen.beginPath();
  pen.moveTo(left, top + size);
  pen.lineTo(left + size, top);
  if (!thread) {
    pen.moveTo(left, top);
    pen.lineTo(left + size, top + size);
  }
  return pen.stroke();
}

function dot(pen, fill, left, top, cell) {
  pen.fillStyle = fill;
  pen.beginPath();
  pen.arc(left + cell / 2, top + cell / 2, Math.max(1, cell / 6), 0, 7);
  pen.fill();
}

// A thin line where a block ends, a thick one where the data end.
function lines(pen, edge, { dims, shape, grid, block }, place, left, top, cell) {
  const isThread = place.every((at, axis) => at < grid[axis] * block[axis]);
  const isData = place.every((at, axis) => at < shape[axis]);
  pen.fillStyle = edge;
  for (const axis of dims === 1 ? [0] : [0, 1]) {
    const line = (thick) =>
      axis
        ? pen.fillRect(left, top + cell - thick / 2 - 0.5, cell, thick)
        : pen.fillRect(left + cell - thick / 2 - 0.5, top, thick, cell);
    if (isData && place[axis] + 1 === shape[axis]) line(3);
    else if (isThread && (place[axis] + 1) % block[axis] === 0) line(1);
  }
}
