// The warps of a block, the lanes of a warp, and the registers of a thread.

const STATE_NAMES = [
  "no thread",
  "sits this step out",
  "active",
  "waits at the barrier",
  "returned",
  "waits at grid.sync",
  "waits at syncwarp",
];
const STATE_KEYS = ["absent", "ready", "active", "waiting", "returned", "waiting", "waiting"];

// The state that best describes a warp as a whole.
function warpState(warp, isRunning) {
  const present = [...warp.lanes].filter((state) => state !== ABSENT);
  if (present.every((state) => state === RETURNED)) return "returned";
  if (!warp.position) return "not started";
  const waiting = present.filter((state) => STATE_KEYS[state] === "waiting").length;
  if (waiting === present.length)
    return STATE_NAMES[warp.lanes.find((state) => STATE_KEYS[state] === "waiting")];
  if (waiting) return `${waiting} of ${present.length} wait`;
  const active = present.filter((state) => state === ACTIVE).length;
  if (!isRunning) return "ready";
  return active < present.length ? `${active} of ${present.length} active` : "active";
}

class WarpsView {
  constructor(player) {
    this.player = player;
    this.box = byId("warps");
    this.rows = Array.from({ length: player.replay.warpCount }, (_, number) =>
      this.#makeRow(number),
    );
    this.box.append(...this.rows.map(({ row }) => row));
    this.#makeBlocks();
  }

  #makeRow(number) {
    const strip = make("span", { class: "strip", "aria-hidden": "true" });
    for (let lane = 0; lane < this.player.replay.warpSize; lane += 1) strip.append(make("i"));
    const [line, state, sides] = ["line", "state", "sides"].map((name) =>
      make("span", { class: `warp-${name}` }),
    );
    const name = make("span", { class: "warp-name" }, `warp ${number}`);
    const row = make(
      "button",
      {
        type: "button",
        class: "warp",
        onclick: () => this.player.choose({ warp: number }, true),
      },
      name,
      sides,
      strip,
      line,
      state,
    );
    return { row, strip, line, state, sides, drawn: "" };
  }

  #makeBlocks() {
    const { replay, recording } = this.player;
    this.blocks = byId("block");
    for (const block of [...replay.blocks.keys()].sort((a, b) => a - b)) {
      this.blocks.append(
        make("option", { value: block }, `block ${placeName(block, recording.grid)}`),
      );
    }
    this.blocks.addEventListener("change", () =>
      this.player.choose({ block: Number(this.blocks.value) }, true),
    );
  }

  draw() {
    const { replay, choice } = this.player;
    this.blocks.value = String(choice.block);
    for (const warp of replay.blocks.get(choice.block) ?? [])
      this.#drawRow(this.rows[warp.number], warp);
  }

  #drawRow(parts, warp) {
    const { replay, choice } = this.player;
    const running = replay.step?.block === warp.block && replay.step.warp === warp.number;
    mark(parts.row, "aria-pressed", String(warp.number === choice.warp));
    mark(parts.row, "data-running", running);
    mark(
      parts.row,
      "data-waits",
      warp.lanes.includes(WAITING) || warp.lanes.includes(GRID_WAITING),
    );
    write(parts.line, warp.position ? `line ${warp.line}` : "");
    write(parts.state, warpState(warp, running));
    const sides = this.player
      .sides()
      .filter((side) => side.block === warp.block && side.warp === warp.number);
    write(parts.sides, sides.map((side) => side.letter).join(""));
    const now = warp.lanes.join("");
    if (parts.drawn === now) return;
    parts.drawn = now;
    warp.lanes.forEach((state, lane) =>
      mark(parts.strip.children[lane], "data-state", STATE_KEYS[state]),
    );
  }
}

class LanesView {
  constructor(player) {
    this.player = player;
    this.box = byId("lanes");
    this.variable = byId("variable");
    this.cells = Array.from({ length: player.replay.warpSize }, (_, lane) => this.#makeCell(lane));
    this.box.append(...this.cells.map(({ cell }) => cell));
    this.box.addEventListener("keydown", (event) => this.#key(event));
    for (const name of player.replay.variables)
      this.variable.append(make("option", { value: name }, name));
    this.variable.addEventListener("change", () => player.draw());
  }

  #makeCell(lane) {
    const [number, value, sides] = ["number", "value", "sides"].map((name) =>
      make("span", { class: `lane-${name}` }),
    );
    const cell = make(
      "button",
      {
        type: "button",
        role: "radio",
        class: "lane",
        onclick: () => this.player.choose({ lane }),
      },
      number,
      sides,
      value,
    );
    number.textContent = String(lane);
    return { cell, value, sides };
  }

  // Arrow keys choose a lane while the focus is in the grid; its columns depend on the width.
  #key(event) {
    if (!ARROWS[event.key] || !isPlainKey(event)) return;
    const columns = getComputedStyle(this.box).gridTemplateColumns.split(" ").length;
    const [across, down] = ARROWS[event.key];
    const lane = this.player.choice.lane + across + down * columns;
    event.preventDefault();
    event.stopPropagation();
    if (!this.player.threadAt(this.player.choice.warp, lane)) return;
    this.player.choose({ lane });
    this.cells[lane].cell.focus();
  }

  draw() {
    const { replay, choice } = this.player;
    const warp = replay.warp(choice.block, choice.warp);
    write(byId("lanes-title"), `Lanes of warp ${choice.warp}`);
    if (!warp) return;
    const sides = this.player
      .sides()
      .filter((side) => side.block === warp.block && side.warp === warp.number);
    const name = this.variable.value;
    const fresh = this.player.freshRegisters()[name] ?? {};
    this.cells.forEach((parts, lane) => {
      const value = warp.registers[name]?.[lane] ?? null;
      const here = sides
        .filter((side) => side.lane === lane)
        .map((side) => side.letter)
        .join("");
      const thread = this.player.threadAt(choice.warp, lane);
      const state = STATE_NAMES[warp.lanes[lane]];
      mark(parts.cell, "data-state", STATE_KEYS[warp.lanes[lane]]);
      mark(parts.cell, "aria-checked", String(lane === choice.lane));
      mark(parts.cell, "tabindex", lane === choice.lane ? "0" : "-1");
      mark(parts.cell, "aria-disabled", thread ? undefined : "true");
      mark(parts.cell, "data-fresh", lane in fresh);
      write(parts.value, value === null ? "" : shortValue(value));
      write(parts.sides, here);
      const said = value === null ? "" : `, ${name} = ${wholeValue(value)}`;
      const who = thread ? `Lane ${lane}, thread ${thread}` : `Lane ${lane}`;
      const label = `${who}, ${state}${said}${here && `, side ${here} of the finding`}`;
      mark(parts.cell, "aria-label", label);
      mark(parts.cell, "title", label);
    });
  }
}

class RegistersView {
  constructor(player) {
    this.player = player;
    this.rows = player.replay.variables.map((name) => {
      const [value, note] = [make("td", { class: "value" }), make("td", { class: "note" })];
      const row = make("tr", {}, make("th", { scope: "row" }, name), value, note);
      byId("registers").append(row);
      return { name, row, value, note };
    });
  }

  draw() {
    const { replay, choice } = this.player;
    const warp = replay.warp(choice.block, choice.warp);
    const thread = this.player.threadAt(choice.warp, choice.lane) ?? "none";
    const block = placeName(choice.block, this.player.recording.grid);
    write(byId("thread-title"), `Registers of thread ${thread}, block ${block}`);
    const fresh = this.player.freshRegisters();
    for (const { name, row, value, note } of this.rows) {
      const now = warp?.registers[name]?.[choice.lane] ?? null;
      const isFresh = choice.lane in (fresh[name] ?? {});
      write(value, now === null ? "not set yet" : wholeValue(now));
      mark(value, "data-empty", now === null);
      mark(row, "data-fresh", isFresh);
      write(note, isFresh ? "\u25c0 set now" : "");
    }
  }
}
