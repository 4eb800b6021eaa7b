// A pipeline of equal stages: its schedules and when each operation runs. Times are in forward
// passes. tests/draw/test_pipelines.py compares all of it with gpukit.parallel.

// The operations of each stage: [{ kind: "forward", batch: 0 }, ...].
export function operations({ schedule, stages, batches }, stage) {
  const pass = (kind) => (batch) => ({ kind, batch });
  const all = Array.from({ length: batches }, (_, batch) => batch);
  if (schedule === "gpipe")
    return [...all.map(pass("forward")), ...all.reverse().map(pass("backward"))];
  const first = Math.min(stages - stage, batches);
  const found = all.slice(0, first).map(pass("forward"));
  for (const batch of all) {
    found.push(pass("backward")(batch));
    if (first + batch < batches) found.push(pass("forward")(first + batch));
  }
  return found;
}

// When each stage runs what: rows of { kind, batch, start, end }. A stage waits where the input of
// its next operation has not arrived; a link carries one message at a time in each direction.
export function timeline(state) {
  const { stages, batches, backward, transfer } = state;
  const todo = Array.from({ length: stages }, (_, stage) => operations(state, stage));
  const rows = todo.map(() => []);
  const free = new Array(stages).fill(0);
  const arrival = { forward: todo.map(() => []), backward: todo.map(() => []) };
  arrival.forward[0] = new Array(batches).fill(0);
  arrival.backward[stages - 1] = new Array(batches).fill(0);
  const linkFree = { forward: [...free], backward: [...free] }; // of the link that a stage sends on
  for (let progress = true; progress; ) {
    progress = false;
    for (let stage = 0; stage < stages; stage += 1) {
      while (rows[stage].length < todo[stage].length) {
        const { kind, batch } = todo[stage][rows[stage].length];
        const here = arrival[kind][stage][batch];
        if (here === undefined) break;
        const start = Math.max(free[stage], here);
        const end = start + (kind === "forward" ? 1 : backward);
        free[stage] = end;
        rows[stage].push({ kind, batch, start, end });
        progress = true;
        const to = kind === "forward" ? stage + 1 : stage - 1;
        if (to < 0 || to >= stages) continue;
        linkFree[kind][stage] = Math.max(linkFree[kind][stage], end) + transfer;
        arrival[kind][to][batch] = linkFree[kind][stage];
      }
    }
  }
  return rows;
}

export const duration = (rows) => Math.max(...rows.map((row) => row[row.length - 1].end));

export function idleShare(rows) {
  const busy = rows.flat().reduce((sum, { start, end }) => sum + end - start, 0);
  return 1 - busy / (rows.length * duration(rows));
}

export const bubble = ({ stages, batches }) => (stages - 1) / (batches + stages - 1);

// How many micro-batches' activations a stage holds at most.
export function held(state, stage) {
  let now = 0;
  const counts = operations(state, stage).map(({ kind }) => (now += kind === "forward" ? 1 : -1));
  return Math.max(...counts);
}
