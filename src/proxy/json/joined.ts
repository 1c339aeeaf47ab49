/** One buffer of the pieces, without a copy when there is only one. */
export function joined(pieces: readonly Buffer[]): Buffer {
  const only = pieces[0];
  if (only === undefined) return Buffer.alloc(0);
  return pieces.length === 1 ? only : Buffer.concat(pieces);
}
