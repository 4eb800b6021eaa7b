// The banner of the chosen finding: what is wrong, which threads, what to do.

const SEVERITY_ORDER = { error: 0, warning: 1, info: 2 };
const stepOf = (finding) => (Number.isInteger(finding.step) ? finding.step + 1 : null);

// The finding that is shown first: the most severe, and of those the earliest with a step.
function firstFinding(findings) {
  const key = (finding) => [
    stepOf(finding) === null,
    SEVERITY_ORDER[finding.severity] ?? 3,
    stepOf(finding) ?? 0,
  ];
  const order = findings.map((finding, number) => ({ number, key: key(finding) }));
  order.sort((a, b) => a.key[0] - b.key[0] || a.key[1] - b.key[1] || a.key[2] - b.key[2]);
  return order[0]?.number ?? null;
}

// Both sides of a finding, A being the access that was caught, as block, warp, lane and line.
function sidesOf(finding, replay) {
  if (!finding) return [];
  const { grid, block } = replay.recording;
  const count = finding.threads?.length ?? 0;
  const lines = [finding.line, finding.other_line || finding.line];
  return Array.from({ length: Math.max(1, Math.min(count, 2)) }, (_, side) => {
    const thread = finding.threads?.[side] ? flatten(finding.threads[side], block) : null;
    const at = finding.blocks?.[side] ?? finding.blocks?.[0];
    return {
      letter: "AB"[side],
      line: lines[side],
      thread,
      source: side === 0 ? finding.source : finding.other_source || finding.source,
      block: at ? flatten(at, grid) : null,
      warp: thread === null ? null : Math.floor(thread / replay.warpSize),
      lane: thread === null ? null : thread % replay.warpSize,
    };
  });
}

class FindingView {
  constructor(player) {
    this.player = player;
    this.box = byId("finding");
    byId("finding-close").addEventListener("click", () => this.#close());
    byId("finding-go").addEventListener("click", () => player.chooseFinding(player.finding));
    byId("finding-previous").addEventListener("click", () => this.#turn(-1));
    byId("finding-next").addEventListener("click", () => this.#turn(1));
    byId("finding-open").addEventListener("click", () => this.#open());
  }

  #close() {
    this.player.bannerOpen = false;
    this.player.draw();
    byId("finding-open").focus();
  }

  #open() {
    this.player.bannerOpen = true;
    this.player.draw();
    byId("finding-close").focus();
  }

  #turn(by) {
    const { length } = this.player.recording.findings;
    this.player.chooseFinding((this.player.finding + by + length) % length);
  }

  draw() {
    const { finding, bannerOpen, recording, replay } = this.player;
    const { findings } = recording;
    const shown = findings[finding];
    this.box.hidden = !shown || !bannerOpen;
    const open = byId("finding-open");
    open.hidden = !shown || bannerOpen;
    if (!shown) return;
    write(open, plural(findings.length, "finding"));
    mark(this.box, "data-severity", shown.severity);
    write(byId("finding-severity"), shown.severity);
    writeProse(byId("finding-title"), capital(shown.title ?? shown.kind));
    write(byId("finding-count"), findings.length > 1 ? `${finding + 1} of ${findings.length}` : "");
    writeProse(byId("finding-message"), shown.message);
    writeProse(byId("finding-fix"), asSentence(shown.fix ?? ""));
    byId("finding-previous").hidden = byId("finding-next").hidden = findings.length < 2;
    this.#drawSides(this.player.sides());
    const go = byId("finding-go");
    const position = stepOf(shown);
    go.hidden = position === null || position === replay.position;
    write(go, `Go to step ${position?.toLocaleString("en")}`);
  }

  #drawSides(sides) {
    const { grid, block } = this.player.recording;
    const items = sides.map(({ letter, line, source, thread, ...at }) => {
      const who =
        thread === null
          ? ""
          : ` \u00b7 block ${placeName(at.block, grid)}, thread ${placeName(thread, block)}`;
      const name = make("span", { class: "side-where" }, `line ${line}${who}`);
      const button = make(
        "button",
        {
          type: "button",
          class: "side",
          title: thread === null ? `Line ${line}` : "Choose this thread",
          onclick: () =>
            thread !== null &&
            this.player.choose({ block: at.block, warp: at.warp, lane: at.lane }, true),
        },
        make("span", { class: "letter" }, letter),
        name,
        make("code", {}, (source ?? "").trim()),
      );
      return make("li", {}, button);
    });
    const key = JSON.stringify(sides);
    if (byId("finding-sides").dataset.shown === key) return;
    byId("finding-sides").dataset.shown = key;
    byId("finding-sides").replaceChildren(...items);
  }
}
