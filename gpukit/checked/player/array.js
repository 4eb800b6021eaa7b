// One array as a grid of cells. Only the visible cells exist, so long arrays stay fast.

const CELL = { least: 40, most: 58, usual: 50, height: 30, head: 22 };
const READ = 1;
const WRITE = 2;
const ATOMIC = 4;
const LETTERS = ["", "R", "W", "RW", "U", "RU", "UW", "RUW"];

class ArrayView {
  constructor(player, number) {
    Object.assign(this, { player, number, cursor: null, pool: new Map(), touched: new Map() });
    this.array = player.recording.arrays[number];
    this.state = player.replay.arrays[number];
    this.size = this.array.before.length;
    this.columns = 0;
    // As wide as the longest row label.
    const digits =
      this.array.shape.length > 1 ? this.array.shape.slice(0, -1).join() : String(this.size);
    this.label = Math.round(14 + 6.7 * Math.max(2, digits.length));
    this.#build();
  }

  #build() {
    const { name, space, dtype, shape, whole } = this.array;
    const sizes = (all) => all.map((size) => size.toLocaleString("en")).join(" \u00d7 ");
    const length = whole ? `first ${sizes(shape)} of ${sizes(whole)}` : sizes(shape);
    this.counts = make("span", { class: "counts" });
    const kind = make(
      "span",
      { class: "array-kind" },
      [space, dtype, length].filter(Boolean).join(" \u00b7 "),
    );
    const title = make("h3", {}, make("code", {}, name), kind, this.counts);
    this.head = make("div", { class: "columns", "aria-hidden": "true" });
    this.sheet = make("div", { class: "sheet", role: "presentation" }, this.head);
    this.scroller = make(
      "div",
      {
        class: "cells",
        role: "grid",
        tabindex: "0",
        "aria-rowcount": "0",
        "aria-label": `${name}, ${space}: ${plural(this.size, "element")}. Arrow keys choose one.`,
        onscroll: () => this.#scrolled(),
        onkeydown: (event) => this.#key(event),
        onclick: (event) => this.#click(event),
      },
      this.sheet,
    );
    this.info = make("p", { class: "inspector", role: "status" });
    this.box = make(
      "section",
      { class: "array", "data-array": this.number },
      title,
      this.scroller,
      this.info,
    );
  }

  // One-dimensional arrays have as many columns as fit, a power of two; others have their own.
  #layout(width) {
    const { shape } = this.array;
    const available = Math.max(1, width - this.label - 18);
    const fit = 2 ** Math.max(2, Math.min(5, Math.floor(Math.log2(available / CELL.least))));
    const columns = Math.max(1, shape.length > 1 ? shape.at(-1) : Math.min(fit, this.size));
    const cell =
      columns * CELL.least > available ? CELL.usual : Math.min(CELL.most, Math.floor(available / columns));
    if (columns === this.columns && cell === this.width) return;
    Object.assign(this, { columns, width: cell, rows: Math.ceil(this.size / columns) });
    this.sheet.style.setProperty("--label", `${this.label}px`);
    this.sheet.style.setProperty("--cell", `${cell}px`);
    this.sheet.style.width = `${this.label + columns * cell}px`;
    this.sheet.style.height = `${CELL.head + this.rows * CELL.height}px`;
    this.head.dataset.shown = "";
    for (const { row } of this.pool.values()) row.remove();
    this.pool.clear();
    mark(this.scroller, "aria-rowcount", this.rows);
    mark(this.scroller, "aria-colcount", columns);
  }

  // Measures and scrolls; draw then only writes, so that the page is laid out once per step.
  reveal(touched, width) {
    this.#layout(width);
    this.touched = touched ?? new Map();
    if (this.touched.size) this.#reveal([...this.touched.keys()].reduce((a, b) => Math.min(a, b)));
    if (this.touched.size === 0 || this.player.jumped) this.#revealFinding();
    this.#measure();
  }

  #measure() {
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.scroller;
    this.window = {
      firstRow: Math.max(0, Math.floor(scrollTop / CELL.height) - 1),
      lastRow: Math.min(this.rows, Math.ceil((scrollTop + clientHeight) / CELL.height)),
      first: Math.max(0, Math.floor((scrollLeft - this.label) / this.width)),
      last: Math.min(this.columns, Math.ceil((scrollLeft + clientWidth) / this.width)),
    };
  }

  draw() {
    const reads = [...this.touched.values()].filter(({ bits }) => bits & READ).length;
    const writes = [...this.touched.values()].filter(({ bits }) => bits & (WRITE | ATOMIC)).length;
    write(
      this.counts,
      [reads && `${reads} read`, writes && `${writes} written`].filter(Boolean).join(", "),
    );
    mark(this.box, "data-touched", this.touched.size > 0);
    this.#drawCells();
    inspect(this);
  }

  #scrolled() {
    const before = JSON.stringify(this.window);
    this.#measure();
    if (JSON.stringify(this.window) !== before) this.#drawCells();
  }

  // Scrolls only when the element is out of sight.
  #reveal(index) {
    const box = this.scroller;
    const top = Math.floor(index / this.columns) * CELL.height;
    const left = (index % this.columns) * this.width;
    const [height, width] = [
      box.clientHeight - CELL.head - CELL.height,
      box.clientWidth - this.label - this.width,
    ];
    if (top < box.scrollTop || top > box.scrollTop + height)
      box.scrollTop = Math.max(0, top - CELL.height);
    if (left < box.scrollLeft || left > box.scrollLeft + width)
      box.scrollLeft = Math.max(0, left - this.width);
  }

  #revealFinding() {
    const index = this.#findingIndex();
    if (index !== null) this.#reveal(index);
  }

  #findingIndex() {
    const element = this.player.findingElement();
    return element?.array === this.number ? element.index : null;
  }

  #drawCells() {
    const { firstRow, lastRow, first, last } = this.window;
    this.mine = this.player.chosenTouches(this.number);
    this.outlined = this.#findingIndex();
    this.#drawHead(first, last);
    // Rows that left the window are reused for those that entered it; the others stay unchanged.
    const free = [...this.pool.keys()].filter((row) => row < firstRow || row >= lastRow);
    for (let row = firstRow; row < lastRow; row += 1) {
      if (!this.pool.has(row)) this.#takeRow(row, free.pop());
      this.#drawRow(row, first, last);
    }
    for (const row of free) {
      this.pool.get(row).row.remove();
      this.pool.delete(row);
    }
    const isShown = this.cursor !== null && byId(`cell-${this.number}-${this.cursor}`);
    mark(
      this.scroller,
      "aria-activedescendant",
      isShown ? `cell-${this.number}-${this.cursor}` : undefined,
    );
  }

  #drawHead(first, last) {
    const key = `${first} ${last}`;
    if (this.head.dataset.shown === key) return;
    this.head.dataset.shown = key;
    this.head.replaceChildren(
      ...Array.from({ length: last - first }, (_, number) => {
        const label = make("span", {}, String(first + number));
        label.style.left = `${this.label + (first + number) * this.width}px`;
        return label;
      }),
    );
  }

  #takeRow(row, old) {
    const parts = this.pool.get(old) ?? this.#makeRow();
    this.pool.delete(old);
    this.pool.set(row, parts);
    parts.row.style.top = `${CELL.head + row * CELL.height}px`;
    mark(parts.row, "aria-rowindex", row + 1);
    const { shape } = this.array;
    const label =
      shape.length > 1 ? unravel(row, shape.slice(0, -1)).join(",") : row * this.columns;
    write(parts.label, String(label));
  }

  #drawRow(row, first, last) {
    const parts = this.pool.get(row);
    const count = Math.max(0, Math.min(last, this.size - row * this.columns) - first);
    while (parts.cells.length < count) {
      parts.cells.push(make("div", { class: "cell", role: "gridcell" }));
      parts.row.append(parts.cells.at(-1));
    }
    for (const cell of parts.cells.splice(count)) cell.remove();
    parts.cells.forEach((cell, number) => this.#drawCell(cell, row, first + number));
  }

  #makeRow() {
    const label = make("span", { class: "row-label", role: "rowheader" });
    const row = make("div", { class: "cell-row", role: "row" }, label);
    this.sheet.append(row);
    return { row, label, cells: [] };
  }

  #drawCell(cell, row, column) {
    const index = row * this.columns + column;
    const value = this.state.values[index];
    const bits = this.touched.get(index)?.bits ?? 0;
    const flags = [
      this.state.written[index] > 0,
      this.mine.has(index),
      index === this.outlined,
      index === this.cursor,
    ];
    const key = [index, value, bits, this.width, ...flags].join();
    if (cell.key === key) return;
    cell.key = key;
    cell.style.left = `${this.label + column * this.width}px`;
    mark(cell, "id", `cell-${this.number}-${index}`);
    mark(cell, "data-index", index);
    mark(cell, "aria-colindex", column + 1);
    mark(
      cell,
      "data-state",
      value === null ? "blank" : this.state.written[index] ? "written" : "before",
    );
    mark(cell, "data-letters", LETTERS[bits]);
    mark(
      cell,
      "data-now",
      bits & ATOMIC ? "atomic" : bits & WRITE ? "write" : bits & READ ? "read" : "",
    );
    mark(cell, "data-mine", this.mine.has(index));
    mark(cell, "data-finding", index === this.outlined);
    mark(cell, "aria-selected", index === this.cursor ? "true" : undefined);
    mark(cell, "aria-label", cellSentence(this, index, bits));
    const short = shortValue(value);
    mark(cell, "data-long", short.length * 7.3 > this.width - 4);
    write(cell, short);
  }

  #click(event) {
    const cell = event.target.closest(".cell");
    if (cell) this.#point(Number(cell.dataset.index));
  }

  #key(event) {
    if (!ARROWS[event.key] || !isPlainKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
    const [across, down] = ARROWS[event.key];
    const start = this.cursor ?? -across - down * this.columns;
    const goal = start + across + down * this.columns;
    if (goal >= 0 && goal < this.size) this.#point(goal);
  }

  #point(index) {
    this.cursor = index;
    this.#reveal(index);
    this.#measure();
    this.#drawCells();
    inspect(this);
  }
}
