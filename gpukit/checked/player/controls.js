// The header, the timeline, the buttons and the keyboard.

const SCHEMES = ["auto", "light", "dark"];

class ControlsView {
  constructor(player) {
    this.player = player;
    this.slider = byId("slider");
    this.slider.max = player.replay.length;
    this.actions = {
      first: () => player.goTo(0, true),
      back: () => player.move(-1),
      play: () => player.play(),
      forward: () => player.move(1),
      last: () => player.goTo(player.replay.length, true),
      "barrier-previous": () => player.moveToBarrier(-1),
      "barrier-next": () => player.moveToBarrier(1),
      "jump-previous": () => player.moveToFinding(-1),
      "jump-next": () => player.moveToFinding(1),
      "all-warps": () => this.#limit(false),
      "one-warp": () => this.#limit(!player.onlyWarp),
      follow: () => this.#follow(),
      help: () => byId("help-text").showModal(),
      // A form with method="dialog" is blocked in a notebook's frame, which is sandboxed.
      "close-help": () => byId("help-text").close(),
      scheme: () => this.#turnScheme(),
      full: () => this.#turnFullScreen(),
    };
    for (const [id, action] of Object.entries(this.actions))
      byId(id).addEventListener("click", action);
    this.slider.addEventListener("input", () => player.goTo(Number(this.slider.value), true));
    document.addEventListener("keydown", (event) => this.#key(event));
    this.system = matchMedia("(prefers-color-scheme: dark)");
    this.system.addEventListener("change", () => this.#paint());
    byId("full").hidden = !document.fullscreenEnabled;
    document.addEventListener("fullscreenchange", () => {
      const isFull = document.fullscreenElement !== null;
      mark(byId("full"), "aria-pressed", String(isFull));
      player.draw();
    });
    this.around = null;
    addEventListener("message", (event) => this.#hear(event));
    if (parent !== globalThis) parent.postMessage("gpukit: which colours?", "*");
    new ResizeObserver(() => this.#drawTimeline()).observe(byId("timeline"));
    this.scheme = "auto";
    this.#fillHeader();
    this.#paint();
  }

  #fillHeader() {
    const { recording, replay } = this.player;
    const sizes = (all) =>
      all
        .filter((size, axis) => axis === 0 || size > 1 || (all[2] > 1 && axis === 1))
        .join(" \u00d7 ");
    write(byId("kernel"), recording.kernel);
    const warps = `${plural(replay.warpCount, "warp")} per block`;
    const launch = [`grid ${sizes(recording.grid)}`, `block ${sizes(recording.block)}`, warps];
    write(byId("launch"), launch.join(" \u00b7 "));
    write(
      byId("file"),
      String(recording.file ?? "")
        .split(/[\\/]/)
        .at(-1),
    );
    mark(byId("file"), "title", recording.file ?? "");
    write(byId("truncated"), recording.truncated ? `Not shown: ${recording.truncated}` : "");
    byId("truncated").hidden = !recording.truncated;
    const withSteps = recording.findings.some((finding) => stepOf(finding) !== null);
    byId("jumps").hidden = !withSteps;
    const { style } = document.documentElement;
    style.setProperty("--lines", recording.source.length);
    style.setProperty("--registers", replay.variables.length);
    document.body.classList.toggle("no-registers", replay.variables.length === 0);
  }

  #limit(onlyWarp) {
    this.player.onlyWarp = onlyWarp;
    this.player.draw();
    const { warp, block } = this.player.choice;
    this.player.say(
      onlyWarp ? `Steps of warp ${warp} of block ${block} only.` : "Steps of every warp.",
    );
  }

  #follow() {
    this.player.follow = !this.player.follow;
    this.player.say(
      this.player.follow ? "Following the warp that runs." : "Staying with the chosen warp.",
    );
    const { step } = this.player.replay;
    this.player.choose(this.player.follow && step ? { block: step.block, warp: step.warp } : {});
  }

  // A notebook passes its theme, light or dark (Player._repr_html_); the system's may differ.
  #hear({ source, data }) {
    if (source !== parent || !["light", "dark"].includes(data?.gpukitScheme)) return;
    this.around = data.gpukitScheme;
    this.#paint();
  }

  #turnScheme() {
    this.scheme = SCHEMES[(SCHEMES.indexOf(this.scheme) + 1) % SCHEMES.length];
    this.player.say(`Colours: ${this.scheme}.`);
    this.#paint();
  }

  #turnFullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else
      document.documentElement
        .requestFullscreen()
        .catch(() => this.player.say("This page may not fill the screen here."));
  }

  #paint() {
    const given = this.around ?? (this.system.matches ? "dark" : "light");
    document.documentElement.dataset.scheme = this.scheme === "auto" ? given : this.scheme;
    write(byId("scheme-name"), this.scheme);
    this.#drawTimeline();
  }

  draw() {
    const { replay, onlyWarp, follow, isPlaying, choice } = this.player;
    const { position, length } = replay;
    const said = sentence(replay);
    this.slider.value = position;
    mark(this.slider, "aria-valuetext", `Step ${position} of ${length}. ${said}`);
    write(byId("count"), `step ${position.toLocaleString("en")} of ${length.toLocaleString("en")}`);
    write(byId("sentence"), said);
    byId("progress").style.setProperty("--done", length ? position / length : 0);
    for (const id of ["first", "back"]) allow(byId(id), position > 0);
    for (const id of ["last", "forward"]) allow(byId(id), position < length);
    mark(byId("all-warps"), "aria-pressed", String(!onlyWarp));
    mark(byId("one-warp"), "aria-pressed", String(onlyWarp));
    write(byId("one-warp"), `warp ${choice.warp} only`);
    mark(byId("follow"), "aria-pressed", String(follow));
    byId("follow").hidden = onlyWarp;
    mark(byId("play"), "aria-label", isPlaying ? "Pause" : "Play");
    mark(byId("play"), "title", isPlaying ? "Pause (space)" : "Play (space)");
    mark(byId("play"), "data-playing", isPlaying);
  }

  // Ticks for barriers and, taller, for findings, along the track of the slider's thumb.
  #drawTimeline() {
    const canvas = byId("timeline");
    const { clientWidth: width, clientHeight: height } = canvas;
    const scale = globalThis.devicePixelRatio || 1;
    canvas.width = Math.max(1, width * scale);
    canvas.height = Math.max(1, height * scale);
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
    const at = (position) => 8 + ((width - 16) * position) / Math.max(1, this.player.replay.length);
    pen.fillStyle = colour("--tick");
    for (const position of this.player.barriers)
      pen.fillRect(at(position) - 0.75, height - 6, 1.5, 6);
    for (const finding of this.player.recording.findings) {
      if (stepOf(finding) === null) continue;
      const x = at(stepOf(finding));
      pen.fillStyle = colour(`--${finding.severity}`);
      pen.beginPath();
      pen.moveTo(x, height);
      pen.lineTo(x - 5, height - 9);
      pen.lineTo(x + 5, height - 9);
      pen.fill();
    }
  }

  #key(event) {
    if (!isPlainKey(event) || byId("help-text").open) return;
    const { target } = event;
    const isField = target.closest?.("select, textarea, input:not([type=range])");
    const isButton = target.closest?.("button, summary");
    if (isField || (isButton && event.key === " ")) return;
    const action = {
      ArrowRight: "forward",
      ArrowLeft: "back",
      Home: "first",
      End: "last",
      " ": "play",
      b: "barrier-next",
      B: "barrier-previous",
      f: "jump-next",
      F: "jump-previous",
      w: "one-warp",
      z: "full",
      "?": "help",
    }[event.key];
    if (!action) return;
    event.preventDefault();
    this.actions[action]();
  }
}

// A long recording is compressed: gzip in base64.
async function readRecording() {
  const node = byId("recording");
  if (node.dataset.form !== "gzip") return JSON.parse(node.textContent);
  const bytes = Uint8Array.from(atob(node.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

readRecording().then((recording) => {
  globalThis.gpukitPlayer = new Player(recording);
  document.documentElement.dataset.ready = "";
});
