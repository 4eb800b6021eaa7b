// Numbers, names and sentences.

const plural = (count, one, many = `${one}s`) =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
const triple = (sizes) => `(${sizes.join(", ")})`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
// A clause, which a terminal shows after "What to do:", as a sentence. Code is left unchanged.
const asSentence = (clause) =>
  capital(clause) + (clause === "" || /[.!?]$/.test(clause) ? "" : ".");

// (x, y, z) of a flat number, x being the fast axis, and back.
function spread(number, sizes) {
  const x = number % sizes[0];
  const y = Math.floor(number / sizes[0]) % sizes[1];
  return [x, y, Math.floor(number / (sizes[0] * sizes[1]))];
}
const flatten = ([x, y = 0, z = 0], sizes) => x + sizes[0] * (y + sizes[1] * z);

// 5 when only x is used, (5, 2, 0) when not.
function placeName(number, sizes) {
  return sizes[1] === 1 && sizes[2] === 1 ? String(number) : triple(spread(number, sizes));
}

// The index of an element of an array in C order, the last axis being the fast one.
function unravel(flat, shape) {
  const index = [];
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    index.unshift(flat % shape[axis]);
    flat = Math.floor(flat / shape[axis]);
  }
  return index;
}

function ravel(index, shape) {
  return index.reduce((flat, at, axis) => flat * shape[axis] + at, 0);
}

const elementName = (array, flat) => `${array.name}[${unravel(flat, array.shape).join(", ")}]`;

// The fewest digits that give the same float32: 0.1, not 0.10000000149011612.
function float32Text(value) {
  for (let digits = 1; digits < 9; digits += 1) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return String(shorter);
  }
  return String(Number(value.toPrecision(9)));
}

// A value in full.
function wholeValue(value) {
  if (value === null || value === undefined) return "?";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "number" && !Number.isInteger(value) && Math.fround(value) === value) {
    return float32Text(value);
  }
  return String(value);
}

// A value in at most seven characters: the width of a cell.
function shortValue(value) {
  const whole = wholeValue(value);
  if (whole.length <= 6) return whole;
  if (typeof value !== "number") return `${whole.slice(0, 5)}\u2026`;
  const rounded = String(Number(value.toPrecision(4)));
  return rounded.length <= 7 ? rounded : value.toExponential(1).replace("e+", "e");
}

// "a[0] to a[31]", "a[0], a[4] and a[8]", "12 elements of a".
function elementsName(array, indices) {
  const sorted = [...new Set(indices)].sort((a, b) => a - b);
  const names = (at) => at.map((index) => elementName(array, index));
  const [first, last] = [sorted[0], sorted[sorted.length - 1]];
  if (sorted.length > 2 && last - first === sorted.length - 1) {
    return names([first, last]).join(" to ");
  }
  if (sorted.length > 3) return `${sorted.length} elements of ${array.name}`;
  const [end, ...rest] = names(sorted).reverse();
  return rest.length ? `${rest.reverse().join(", ")} and ${end}` : end;
}

// The elements that a step reads or writes, array by array, as one phrase.
function touchedName(recording, touched) {
  const byArray = new Map();
  for (const [number, index] of touched) {
    byArray.set(number, [...(byArray.get(number) ?? []), index]);
  }
  return [...byArray]
    .map(([number, indices]) => elementsName(recording.arrays[number], indices))
    .join(" and ");
}

const maskLanes = (mask, size) =>
  Array.from({ length: size }, (_, lane) => lane).filter((lane) => inMask(mask, lane));

function lanesName(replay, step) {
  const lanes = maskLanes(step.lanes, replay.warpSize);
  const alive = Math.min(replay.warpSize, replay.threads - step.warp * replay.warpSize);
  if (lanes.length === 1) return `lane ${lanes[0]} alone`;
  return lanes.length === alive ? `all ${alive} lanes` : `${lanes.length} of ${alive} lanes`;
}

// How many of a barrier's running threads have arrived.
function arrivals(warps, state) {
  const lanes = warps.flatMap((warp) => [...warp.lanes]);
  const running = lanes.filter((now) => now !== ABSENT && now !== RETURNED).length;
  return { here: lanes.filter((now) => now === state).length, running };
}

function barrierSentence(replay, step) {
  const wide = step.kind === "grid_sync";
  const warps = wide ? [...replay.blocks.values()].flat() : replay.blocks.get(step.block);
  const { here, running } = arrivals(warps, wide ? GRID_WAITING : WAITING);
  const whose = wide ? "recorded threads of the grid" : "running threads of the block";
  return here === running
    ? `All ${running} ${whose} are there, so it opens.`
    : `${here} of ${running} ${whose} are there.`;
}

// The action of a step of this kind, for one lane and for several.
const DEEDS = {
  barrier: ["waits at the barrier", "wait at the barrier"],
  grid_sync: ["waits at grid.sync", "wait at grid.sync"],
  syncwarp: ["waits at syncwarp", "wait at syncwarp"],
  return: ["ends here", "end here"],
  branch: ["tests the condition", "test the condition"],
};

function deeds(replay, step) {
  const { recording } = replay;
  const one = maskLanes(step.lanes, replay.warpSize).length === 1;
  const verb = (word) => (one ? `${word}s` : word);
  const plain = (step.writes ?? []).filter((write) => !write[4]);
  const atomic = (step.writes ?? []).filter((write) => write[4]);
  const names = Object.keys(step.set ?? {});
  const parts = [];
  if (DEEDS[step.kind]) parts.push(DEEDS[step.kind][one ? 0 : 1]);
  if (step.reads?.length) parts.push(`${verb("read")} ${touchedName(recording, step.reads)}`);
  if (plain.length) parts.push(`${verb("write")} ${touchedName(recording, plain)}`);
  if (atomic.length) parts.push(`${verb("update")} ${touchedName(recording, atomic)} atomically`);
  if (names.length) parts.push(`${one ? "sets" : "set"} ${names.join(", ")}`);
  return parts.join(", ") || verb("run");
}

// The shown step in a sentence or two.
function sentence(replay) {
  const { step, recording } = replay;
  if (!step) return `Before the first step. ${plural(replay.length, "step")} recorded.`;
  const block = placeName(step.block, recording.grid);
  const where = `Block ${block}, warp ${step.warp}, line ${step.line}`;
  const deed = `${where}: ${lanesName(replay, step)} ${deeds(replay, step)}.`;
  const waits = step.kind === "barrier" || step.kind === "grid_sync";
  return waits ? `${deed} ${barrierSentence(replay, step)}` : deed;
}
