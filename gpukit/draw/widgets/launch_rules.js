// A launch over an array of 1, 2 or 3 dimensions: which thread is where, and the totals. Sizes
// and positions are [x, y, z]; missing dimensions have size 1 and position 0.

export const [MOST_THREADS, MOST_Z, WARP] = [1024, 64, 32];
export const AXES = ["x", "y", "z"];

const product = (sizes) => sizes.reduce((all, size) => all * size, 1);

// As large as every element and every thread.
export const extent = ({ shape, grid, block }) =>
  shape.map((size, axis) => Math.max(size, grid[axis] * block[axis]));

export const justEnough = ({ shape, block }) =>
  shape.map((size, axis) => Math.ceil(size / block[axis]));

export function refusal({ block }) {
  const threads = product(block);
  if (threads > MOST_THREADS)
    return (
      `A GPU refuses this launch: ${threads.toLocaleString("en-GB")} threads per block, ` +
      `at most ${MOST_THREADS.toLocaleString("en-GB")} are allowed.`
    );
  if (block[2] > MOST_Z) return `A GPU refuses this launch: at most ${MOST_Z} threads along z.`;
  return "";
}

// The block, thread, warp and lane at this position; null outside the grid.
export function owner({ shape, grid, block }, place) {
  const blockAt = place.map((at, axis) => Math.floor(at / block[axis]));
  const hasElement = place.every((at, axis) => at < shape[axis]);
  if (blockAt.some((at, axis) => at >= grid[axis])) return { hasElement, thread: null };
  const thread = place.map((at, axis) => at % block[axis]);
  const number = thread[0] + block[0] * (thread[1] + block[1] * thread[2]);
  const [warp, lane] = [Math.floor(number / WARP), number % WARP];
  return { hasElement, blockAt, thread, number, warp, lane };
}

export function totals({ shape, grid, block }) {
  const [blocks, perBlock, elements] = [product(grid), product(block), product(shape)];
  const working = product(shape.map((size, axis) => Math.min(size, grid[axis] * block[axis])));
  const threads = blocks * perBlock;
  const warps = blocks * Math.ceil(perBlock / WARP);
  return {
    blocks,
    perBlock,
    threads,
    warps,
    emptyLanes: warps * WARP - threads,
    idle: threads - working,
    elements,
    missed: elements - working,
  };
}
