/**
 * A body up to this size is sent to a provider in one write, without an event when the system has taken it: its memory
 * is left to the collector.
 */
export const ONE_WRITE_BYTES = 65_536;

/** From this size on, freeing memory at once costs less than its share of the collections that it would set off. */
const LEAST_BYTES = 16_384;

/** The memory of a body with the number of its users; its first user is who made it. */
export interface BodyMemory {
  retain(): void;
  /** Called once by each user. The last one frees the memory: the pieces of the body are empty from then on. */
  release(): void;
}

/**
 * The memory of a body that was read into buffers of its own, to be freed before the garbage collector would find it: V8 goes
 * through its whole heap each time a few dozen megabytes of buffers were made, however short they were in use. A user that
 * never calls `release` leaves it to the collector.
 *
 * What goes with other memory, such as that of Node's pool, is left to the collector: a piece counts only where it is
 * all of its `ArrayBuffer`.
 * @returns null for a body that is sent in one write, and where nothing is worth it
 */
export function bodyMemory(pieces: readonly Buffer[]): BodyMemory | null {
  if (pieces.reduce((sum, { length }) => sum + length, 0) <= ONE_WRITE_BYTES) return null;
  let owned: ArrayBuffer[] = [];
  for (const { buffer, byteLength } of pieces)
    if (byteLength >= LEAST_BYTES && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer)
      owned.push(buffer);
  if (owned.length === 0) return null;
  let users = 1;
  return {
    retain() {
      users += 1;
    },
    release() {
      users -= 1;
      if (users !== 0) return;
      for (const buffer of owned) buffer.transfer(0);
      owned = [];
    },
  };
}
