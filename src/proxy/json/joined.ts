/** One buffer of the pieces, without a copy when there is only one. */
export function joined(pieces: readonly Buffer[]): Buffer {
  const only = pieces[0];
  if (only === undefined) return Buffer.alloc(0);
  return pieces.length === 1 ? only : Buffer.concat(pieces);
}

/** Bytes that are kept for `joinedBriefly`: more than nearly all requests have. */
const SCRATCH_BYTES = 1_048_576;

let scratch: Buffer | null = null;

/**
 * As `joined`, for a reader that is done with the bytes before anything else runs, and keeps no part of them: the next call writes
 * over them. Memory that is had anew for each request costs more than the copy.
 */
export function joinedBriefly(pieces: readonly Buffer[]): Buffer {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (pieces.length === 1 || length > SCRATCH_BYTES) return joined(pieces);
  scratch ??= Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  let end = 0;
  for (const piece of pieces) end += piece.copy(scratch, end);
  return scratch.subarray(0, end);
}
