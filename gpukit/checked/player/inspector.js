// The known facts about one element of an array, in words.

function cellSentence(view, index, bits) {
  const marks = [
    bits & READ && "read now",
    bits & WRITE && "written now",
    bits & ATOMIC && "updated atomically now",
    index === view.outlined && "element of the finding",
  ].filter(Boolean);
  const value = view.state.values[index];
  const said = value === null ? "never written" : wholeValue(value);
  return [`${elementName(view.array, index)} = ${said}`, ...marks].join(", ");
}

// The threads that accessed the element in the step that ends at this position.
function whoTouched(view, index, position, list) {
  const { recording } = view.player;
  const step = recording.steps[position - 1];
  const lanes = step[list]
    .filter(([array, at]) => array === view.number && at === index)
    .map(([, , lane]) => lane);
  const names = [...new Set(lanes)].map((lane) => view.player.threadAt(step.warp, lane));
  const threads = names.length > 3 ? [names.length, "threads"] : ["threads", names.join(" and ")];
  if (names.length === 1) threads[0] = "thread";
  return `${threads.join(" ")} of block ${placeName(step.block, recording.grid)}`;
}

// The chosen element's value, with links to the steps that accessed it last.
function inspect(view) {
  const index = view.cursor;
  if (index === null) return;
  const value = view.state.values[index];
  const parts = [make("b", {}, elementName(view.array, index))];
  parts.push(value === null ? " was never written" : ` = ${wholeValue(value)}`);
  const lasts = [
    ["written", view.state.written[index], "writes"],
    ["read", view.state.read[index], "reads"],
  ];
  for (const [verb, position, list] of lasts) {
    if (!position) continue;
    parts.push(` \u00b7 last ${verb} by ${whoTouched(view, index, position, list)} at `);
    const onclick = () => view.player.goTo(position, true);
    const name = `step ${position.toLocaleString("en")}`;
    parts.push(make("button", { type: "button", class: "link", onclick }, name));
  }
  const text = parts.map((part) => part.textContent ?? part).join("");
  if (view.info.textContent !== text) view.info.replaceChildren(...parts);
}
