// The arrays that the chosen thread can access, those that the launch accesses first, and the
// elements in them that the shown step accesses.

const ORDER = { local: 0, shared: 1, global: 2 };

// The accesses of a step: array number -> flat index -> {bits, lanes}.
function touches(step) {
  const found = new Map();
  const note = (array, index, lane, bit) => {
    if (!found.has(array)) found.set(array, new Map());
    const cell = found.get(array).get(index) ?? { bits: 0, lanes: [] };
    cell.bits |= bit;
    if (!cell.lanes.includes(lane)) cell.lanes.push(lane);
    found.get(array).set(index, cell);
  };
  for (const [array, index, lane] of step?.reads ?? []) note(array, index, lane, READ);
  for (const [array, index, lane, , atomic] of step?.writes ?? []) {
    note(array, index, lane, atomic ? ATOMIC : WRITE);
  }
  return found;
}

class ArraysView {
  constructor(player) {
    this.player = player;
    this.box = byId("arrays");
    this.views = new Map();
    this.used = new Set(player.recording.steps.flatMap((step) => [...touches(step).keys()]));
    this.visible = [];
    new ResizeObserver(() => {
      this.reveal();
      this.draw();
    }).observe(this.box);
  }

  // Global arrays, the chosen block's shared ones, the chosen thread's local ones.
  #visible() {
    const { choice, replay, recording } = this.player;
    const thread = choice.warp * replay.warpSize + choice.lane;
    const isVisible = ({ owner }) =>
      owner === null ||
      owner === undefined ||
      owner === choice.block ||
      (Array.isArray(owner) && owner[0] === choice.block && owner[1] === thread);
    const order = (number) =>
      (this.used.has(number) ? 0 : 4) + (ORDER[recording.arrays[number].space] ?? 3);
    return recording.arrays
      .flatMap((array, number) => (isVisible(array) ? [number] : []))
      .sort((a, b) => order(a) - order(b) || a - b);
  }

  reveal() {
    const visible = this.#visible();
    for (const number of visible) {
      if (!this.views.has(number)) this.views.set(number, new ArrayView(this.player, number));
    }
    if (this.visible.join() !== visible.join()) {
      this.box.replaceChildren(...visible.map((number) => this.views.get(number).box));
    }
    this.visible = visible;
    const touched = touches(this.player.replay.step);
    const width = this.box.clientWidth - 24;
    for (const number of visible) this.views.get(number).reveal(touched.get(number), width);
    const found = this.player.jumped ? this.player.findingElement()?.array : undefined;
    this.#scrollTo(found === undefined ? visible.filter((number) => touched.has(number)) : [found]);
  }

  // Scrolls to the first of these arrays, unless one of them is in sight.
  #scrollTo(numbers) {
    const boxes = numbers
      .map((number) => this.views.get(number)?.box)
      .filter((box) => box?.isConnected);
    const { scrollTop, clientHeight } = this.box;
    const isInSight = (box) => {
      const top = box.offsetTop - scrollTop;
      return top > -50 && top + 80 < clientHeight;
    };
    if (boxes.length && !boxes.some(isInSight)) this.box.scrollTop = boxes[0].offsetTop;
  }

  draw() {
    for (const number of this.visible) this.views.get(number).draw();
  }
}
