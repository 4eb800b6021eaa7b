// The player: one position, one chosen thread, and the controls that move them.

const SPEEDS = { slow: 1000, normal: 300, fast: 80, fastest: 16 };

class Player {
  constructor(recording) {
    this.recording = { variables: [], findings: [], ...recording };
    this.replay = new Replay(this.recording);
    this.barriers = barrierStops(this.replay.steps);
    this.choice = { block: this.replay.blocks.keys().next().value ?? 0, warp: 0, lane: 0 };
    this.finding = null;
    this.bannerOpen = false;
    this.onlyWarp = false;
    this.follow = true;
    this.timer = null;
    this.jumped = false;
    // The banner first: it takes space from the others.
    this.views = [
      FindingView,
      ControlsView,
      SourceView,
      WarpsView,
      LanesView,
      RegistersView,
      ArraysView,
    ].map((View) => new View(this));
    const first = firstFinding(this.recording.findings);
    if (first === null) this.goTo(0);
    else this.chooseFinding(first);
  }

  draw() {
    const [banner, ...others] = this.views;
    banner.draw();
    for (const view of others) view.reveal?.();
    for (const view of others) view.draw();
    this.jumped = false;
  }

  // Queries of the views.

  threadAt(warp, lane) {
    const thread = warp * this.replay.warpSize + lane;
    const exists = lane >= 0 && lane < this.replay.warpSize && thread < this.replay.threads;
    return exists ? placeName(thread, this.recording.block) : null;
  }

  sides() {
    return this.bannerOpen ? sidesOf(this.recording.findings[this.finding], this.replay) : [];
  }

  // The element of the chosen finding: {array, index}, or null. Of arrays of one name, which
  // blocks have each for themselves, it is that of the finding's own block and thread.
  findingElement() {
    const finding = this.bannerOpen ? this.recording.findings[this.finding] : null;
    if (!finding?.array || !finding.index?.length) return null;
    const [side] = this.sides();
    const isOwn = ({ owner }) =>
      owner === null ||
      owner === undefined ||
      side.block === null ||
      (Array.isArray(owner)
        ? owner[0] === side.block && owner[1] === side.thread
        : owner === side.block);
    const number = this.recording.arrays.findIndex(
      (array) => array.name === finding.array && isOwn(array),
    );
    if (number < 0) return null;
    const { shape } = this.recording.arrays[number];
    const isInside =
      finding.index.length === shape.length &&
      finding.index.every((at, axis) => at >= 0 && at < shape[axis]);
    return isInside ? { array: number, index: ravel(finding.index, shape) } : null;
  }

  // The registers that the shown step sets in the chosen warp: name -> lane -> value.
  freshRegisters() {
    const { step } = this.replay;
    const isChosen = step?.block === this.choice.block && step.warp === this.choice.warp;
    return (isChosen && step.set) || {};
  }

  // The elements of an array that the chosen thread accesses in the shown step.
  chosenTouches(number) {
    const { step } = this.replay;
    if (step?.block !== this.choice.block || step.warp !== this.choice.warp) return new Set();
    const touched = [...(step.reads ?? []), ...(step.writes ?? [])];
    return new Set(
      touched
        .filter(([array, , lane]) => array === number && lane === this.choice.lane)
        .map(([, index]) => index),
    );
  }

  // Actions of the controls.

  choose(choice, byHand = false) {
    Object.assign(this.choice, choice);
    if (this.threadAt(this.choice.warp, this.choice.lane) === null) this.choice.lane = 0;
    const { step } = this.replay;
    const isElsewhere =
      step && (step.block !== this.choice.block || step.warp !== this.choice.warp);
    if (byHand && isElsewhere) this.follow = false;
    this.draw();
  }

  goTo(position, jumped = false) {
    this.replay.seek(position);
    this.jumped = jumped;
    const { step } = this.replay;
    if (this.follow && !this.onlyWarp && step) this.choose({ block: step.block, warp: step.warp });
    else this.draw();
    this.say(sentence(this.replay));
  }

  // Goes to a stop in a sorted list, or says why it cannot.
  #goToStop(position, refusal) {
    if (position === undefined) this.say(refusal);
    else this.goTo(position, true);
  }

  move(by) {
    const { position, steps, length } = this.replay;
    if (!this.onlyWarp) return this.goTo(Math.max(0, Math.min(length, position + by)));
    const stops = warpStops(steps, this.choice.block, this.choice.warp);
    const goal =
      by > 0
        ? nextStop(stops, position)
        : (previousStop(stops, position) ?? (position ? 0 : undefined));
    return this.#goToStop(
      goal,
      `Warp ${this.choice.warp} takes no ${by > 0 ? "later" : "earlier"} step.`,
    );
  }

  moveToBarrier(by) {
    const { steps, position } = this.replay;
    const { block, warp } = this.choice;
    const own = warpStops(steps, block, warp).filter((stop) =>
      ["barrier", "grid_sync"].includes(steps[stop - 1].kind),
    );
    const stops = this.onlyWarp ? own : this.barriers;
    const goal = by > 0 ? nextStop(stops, position) : previousStop(stops, position);
    this.#goToStop(goal, `There is no ${by > 0 ? "later" : "earlier"} barrier.`);
  }

  // Findings in the order of their steps. Two at one step are both visited.
  moveToFinding(by) {
    const rank = ({ step, number }) => step * this.recording.findings.length + number;
    const order = this.recording.findings
      .map((finding, number) => ({ step: stepOf(finding), number }))
      .filter(({ step }) => step !== null)
      .sort((a, b) => rank(a) - rank(b));
    const { position } = this.replay;
    const chosen = this.recording.findings[this.finding];
    const isAtIt = this.bannerOpen && chosen && stepOf(chosen) === position;
    const now = rank({ step: position, number: isAtIt ? this.finding : by > 0 ? -1 : 0 });
    const goal =
      by > 0 ? order.find((at) => rank(at) > now) : order.findLast((at) => rank(at) < now);
    if (goal) this.chooseFinding(goal.number);
    else this.say(`There is no ${by > 0 ? "later" : "earlier"} finding.`);
  }

  goToLine(line) {
    const { steps, position } = this.replay;
    const isHere = (step) =>
      step.line === line &&
      (!this.onlyWarp || (step.block === this.choice.block && step.warp === this.choice.warp));
    const later = steps.findIndex((step, number) => number >= position && isHere(step));
    this.#goToStop(later < 0 ? undefined : later + 1, `No later step runs line ${line}.`);
  }

  chooseFinding(number) {
    this.finding = number;
    this.bannerOpen = true;
    const finding = this.recording.findings[number];
    const [side] = this.sides();
    this.goTo(stepOf(finding) ?? this.replay.position, true);
    const isRecorded = side?.thread !== null && this.replay.blocks.has(side?.block);
    if (isRecorded) this.choose({ block: side.block, warp: side.warp, lane: side.lane });
    this.say(`${capital(finding.severity)}: ${finding.message} ${finding.fix ?? ""}`);
  }

  get isPlaying() {
    return this.timer !== null;
  }

  play() {
    if (this.isPlaying) return this.pause();
    if (this.replay.position === this.replay.length) this.replay.seek(0);
    this.#tick();
    return this.draw();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.draw();
    this.say(sentence(this.replay));
  }

  // Plays until the end, or until a finding.
  #tick() {
    this.timer = setTimeout(() => {
      const before = this.replay.position;
      this.move(1);
      const { position, length } = this.replay;
      const found = this.recording.findings.findIndex((finding) => stepOf(finding) === position);
      if (found >= 0 && position !== before) {
        this.pause();
        this.chooseFinding(found);
      } else if (position === length || position === before) this.pause();
      else this.#tick();
    }, SPEEDS[byId("speed").value]);
  }

  // Read out by screen readers. While playing there would be too much to say.
  say(text) {
    if (!this.isPlaying) write(byId("said"), text.replaceAll("`", ""));
  }
}
