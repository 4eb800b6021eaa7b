// The kernel's source: the current line, the lines of the other warps, and a finding's lines.

const TRIPLE = /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)/.source;
const QUOTED = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/.source;
const KEYWORDS =
  "and|as|break|continue|def|elif|else|False|for|if|in|is|not|None|or|pass|return|True|while";
const TOKENS = new RegExp(
  [
    `(?<string>${TRIPLE}|${QUOTED})`,
    "(?<comment>#[^\\n]*)",
    `(?<keyword>\\b(?:${KEYWORDS})\\b)`,
    "(?<number>\\b\\d[\\w.]*)",
    "(?<decorator>@[\\w.]+)",
  ].join("|"),
  "g",
);

// Lines of Python as lists of [kind, text]; a string over several lines is cut at their ends.
function colourLines(lines) {
  const text = lines.join("\n");
  const coloured = [[]];
  const add = (kind, piece) =>
    piece.split("\n").forEach((part, number) => {
      if (number > 0) coloured.push([]);
      if (part) coloured.at(-1).push([kind, part]);
    });
  let done = 0;
  for (const match of text.matchAll(TOKENS)) {
    add("", text.slice(done, match.index));
    add(
      Object.keys(match.groups).find((kind) => match.groups[kind] !== undefined),
      match[0],
    );
    done = match.index + match[0].length;
  }
  add("", text.slice(done));
  return coloured;
}

class SourceView {
  constructor(player) {
    this.player = player;
    this.list = byId("source");
    this.rows = new Map();
    const { source } = player.recording;
    const coloured = colourLines(source.map(({ text }) => text));
    source.forEach(({ line }, number) => this.#addRow(line, coloured[number]));
    this.list.style.setProperty("--digits", String(Math.max(...this.rows.keys(), 1)).length);
  }

  #addRow(line, pieces) {
    const indent = pieces[0]?.[0] === "" ? pieces[0][1].match(/^\s*/)[0] : "";
    const body = pieces.map(([kind, text], number) => {
      const rest = number === 0 ? text.slice(indent.length) : text;
      return kind ? make("span", { class: kind }, rest) : rest;
    });
    const code = make("code", {}, indent, make("span", { class: "body" }, ...body));
    const button = make(
      "button",
      {
        type: "button",
        class: "line-number",
        tabindex: "-1",
        title: `Go to the next step on line ${line}`,
        "aria-label": `Line ${line}: go to the next step here`,
        onclick: () => this.player.goToLine(line),
      },
      String(line),
    );
    const parts = {
      sides: make("span", { class: "sides" }),
      warps: make("span", { class: "chips" }),
    };
    const row = make("li", {}, button, parts.sides, code, parts.warps);
    this.rows.set(line, { row, ...parts });
    this.list.append(row);
  }

  draw() {
    const { replay, choice } = this.player;
    const now = replay.step?.line;
    const sides = this.player.sides();
    const standing = this.#standing(choice.block);
    for (const [line, { row, ...parts }] of this.rows) {
      mark(row, "aria-current", line === now ? "step" : undefined);
      mark(row, "data-chosen", line === replay.warp(choice.block, choice.warp)?.line);
      const here = sides.filter((side) => side.line === line).map((side) => side.letter);
      mark(row, "data-finding", here.length > 0);
      write(parts.sides, here.join(""));
      mark(parts.sides, "title", here.length ? `Finding: side ${here.join(" and ")}` : "");
      write(parts.warps, this.#chips(standing.get(line) ?? []));
      mark(row, "data-warps", standing.has(line));
    }
  }

  // line -> the warps of the block whose latest step was there
  #standing(block) {
    const lines = new Map();
    for (const warp of this.player.replay.blocks.get(block) ?? []) {
      if (!warp.position || !warp.lanes.some((lane) => lane !== RETURNED && lane !== ABSENT))
        continue;
      lines.set(warp.line, [...(lines.get(warp.line) ?? []), warp.number]);
    }
    return lines;
  }

  #chips(warps) {
    if (warps.length === 0) return "";
    if (warps.length <= 3) return warps.map((number) => `w${number}`).join(" ");
    return plural(warps.length, "warp");
  }

  reveal() {
    const row = this.rows.get(this.player.replay.step?.line)?.row;
    if (!row) return;
    const { offsetTop: top, offsetHeight: height } = row;
    const { scrollTop, clientHeight } = this.list;
    if (top < scrollTop + height || top + 2 * height > scrollTop + clientHeight) {
      this.list.scrollTop = top - clientHeight / 2;
    }
  }
}
