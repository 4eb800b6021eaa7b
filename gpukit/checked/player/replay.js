// The recorded launch as a state that steps forward and back. Independent of the page.
//
// A position is the number of steps done: 0 is before the first one, and the step shown at
// position p is steps[p - 1]. Forward saves what it overwrites; back restores it.

const ABSENT = 0; // the last warp of a block may have lanes without a thread
const READY = 1; // inactive in its warp's latest step
const ACTIVE = 2;
const WAITING = 3; // at syncthreads
const RETURNED = 4;
const GRID_WAITING = 5; // at grid.sync
const WARP_WAITING = 6; // at syncwarp
const AFTER = {
  barrier: WAITING,
  grid_sync: GRID_WAITING,
  syncwarp: WARP_WAITING,
  return: RETURNED,
};

const product = (sizes) => sizes.reduce((all, size) => all * size, 1);
const inMask = (mask, lane) => ((mask >>> lane) & 1) === 1;

class Replay {
  constructor(recording) {
    this.recording = recording;
    this.steps = recording.steps;
    this.position = 0;
    this.undo = new Array(this.steps.length);
    this.warpSize = recording.warp_size;
    this.threads = product(recording.block);
    this.warpCount = Math.ceil(this.threads / this.warpSize);
    this.arrays = recording.arrays.map((array) => this.#makeArray(array));
    const names = this.steps.flatMap((step) => Object.keys(step.set ?? {}));
    this.variables = [...new Set([...recording.variables, ...names])];
    this.blocks = new Map();
    for (const step of this.steps) {
      if (!this.blocks.has(step.block)) this.blocks.set(step.block, this.#makeWarps(step.block));
    }
  }

  #makeArray(array) {
    const size = array.before.length;
    // The position that last wrote and last read each element; 0 where none has.
    return {
      values: array.before.slice(),
      written: new Int32Array(size),
      read: new Int32Array(size),
    };
  }

  #makeWarps(block) {
    return Array.from({ length: this.warpCount }, (_, number) => {
      const lanes = Uint8Array.from({ length: this.warpSize }, (_, lane) =>
        number * this.warpSize + lane < this.threads ? READY : ABSENT,
      );
      const registers = {};
      for (const name of this.variables) {
        registers[name] = new Array(this.warpSize).fill(null);
      }
      return { block, number, lanes, registers, line: 0, position: 0 };
    });
  }

  get length() {
    return this.steps.length;
  }

  get step() {
    return this.steps[this.position - 1];
  }

  warp(block, number) {
    return this.blocks.get(block)?.[number];
  }

  seek(position) {
    const goal = Math.max(0, Math.min(this.length, position));
    while (this.position < goal) this.#forward();
    while (this.position > goal) this.#back();
  }

  #forward() {
    const step = this.steps[this.position];
    // The last three are flat: groups of three or four entries. Long recordings need that.
    const record = { warps: new Map(), reads: [], writes: [], registers: [] };
    this.undo[this.position] = record;
    this.position += 1;
    this.#openBarriers(step, record);
    this.#moveLanes(step, record);
    for (const [array, index] of step.reads ?? []) {
      const { read } = this.arrays[array];
      record.reads.push(array, index, read[index]);
      read[index] = this.position;
    }
    for (const [array, index, , value] of step.writes ?? []) {
      const { values, written } = this.arrays[array];
      record.writes.push(array, index, values[index], written[index]);
      values[index] = value;
      written[index] = this.position;
    }
    this.#setRegisters(step, record);
  }

  // A waiting lane that runs again shows that its barrier has opened, for all that waited there.
  #openBarriers(step, record) {
    const { lanes } = this.warp(step.block, step.warp);
    const waits = (state) => lanes.some((now, lane) => now === state && inMask(step.lanes, lane));
    if (waits(WAITING)) this.#release(this.blocks.get(step.block), WAITING, record);
    if (waits(GRID_WAITING)) {
      for (const warps of this.blocks.values()) this.#release(warps, GRID_WAITING, record);
    }
  }

  #release(warps, state, record) {
    for (const warp of warps) {
      this.#keep(warp, record);
      warp.lanes.forEach((now, lane) => {
        if (now === state) warp.lanes[lane] = READY;
      });
    }
  }

  #moveLanes(step, record) {
    const warp = this.warp(step.block, step.warp);
    this.#keep(warp, record);
    warp.lanes.forEach((now, lane) => {
      if (inMask(step.lanes, lane)) warp.lanes[lane] = AFTER[step.kind] ?? ACTIVE;
      else if (now === ACTIVE || now === WARP_WAITING) warp.lanes[lane] = READY;
    });
    warp.line = step.line;
    warp.position = this.position;
  }

  #keep(warp, record) {
    if (record.warps.has(warp)) return;
    record.warps.set(warp, { lanes: warp.lanes.slice(), line: warp.line, position: warp.position });
  }

  #setRegisters(step, record) {
    const { registers } = this.warp(step.block, step.warp);
    for (const [name, lanes] of Object.entries(step.set ?? {})) {
      for (const [lane, value] of Object.entries(lanes)) {
        record.registers.push(registers[name], lane, registers[name][lane]);
        registers[name][lane] = value;
      }
    }
  }

  // Several lanes may have accessed one element, and the oldest saved value counts: latest first.
  #back() {
    this.position -= 1;
    const { warps, reads, writes, registers } = this.undo[this.position];
    this.undo[this.position] = undefined;
    for (let at = registers.length - 3; at >= 0; at -= 3) {
      registers[at][registers[at + 1]] = registers[at + 2];
    }
    for (let at = writes.length - 4; at >= 0; at -= 4) {
      const { values, written } = this.arrays[writes[at]];
      values[writes[at + 1]] = writes[at + 2];
      written[writes[at + 1]] = writes[at + 3];
    }
    for (let at = reads.length - 3; at >= 0; at -= 3) {
      this.arrays[reads[at]].read[reads[at + 1]] = reads[at + 2];
    }
    for (const [warp, old] of warps) Object.assign(warp, old);
  }

  // The whole mutable state, as plain data: for tests.
  snapshot() {
    const plain = ({ block, number, lanes, registers, line, position }) => ({
      block,
      warp: number,
      lanes: Array.from(lanes),
      registers,
      line,
      position,
    });
    return structuredClone({
      position: this.position,
      arrays: this.arrays.map(({ values, written, read }) => ({
        values,
        written: Array.from(written),
        read: Array.from(read),
      })),
      warps: [...this.blocks.values()].flat().map(plain),
    });
  }
}

// The positions of stops, sorted.

function warpStops(steps, block, warp) {
  const taken = steps.map((step, number) =>
    step.block === block && step.warp === warp ? number + 1 : 0,
  );
  return taken.filter(Boolean);
}

// For each barrier the arrival of its last warp. Arrivals belong together until a lane that has
// arrived runs again; grid.sync counts over all blocks.
function barrierStops(steps) {
  const stops = new Set();
  const open = new Map(); // block, or "grid" -> {last, lanes: warp -> mask}
  for (const [number, step] of steps.entries()) {
    for (const place of [step.block, "grid"]) {
      const arrived = open.get(place)?.lanes.get(`${step.block}.${step.warp}`) ?? 0;
      if ((arrived & step.lanes) !== 0) {
        stops.add(open.get(place).last);
        open.delete(place);
      }
    }
    if (step.kind !== "barrier" && step.kind !== "grid_sync") continue;
    const place = step.kind === "barrier" ? step.block : "grid";
    const group = open.get(place) ?? { last: 0, lanes: new Map() };
    const key = `${step.block}.${step.warp}`;
    group.lanes.set(key, (group.lanes.get(key) ?? 0) | step.lanes);
    group.last = number + 1;
    open.set(place, group);
  }
  for (const group of open.values()) stops.add(group.last);
  return [...stops].sort((a, b) => a - b);
}

const nextStop = (stops, position) => stops.find((stop) => stop > position);
const previousStop = (stops, position) => stops.findLast((stop) => stop < position);
