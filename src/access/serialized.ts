/** A function whose runs never overlap: each waits for the one before, whether that succeeded or failed. */
export function serialized(run: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.catch(() => {}).then(run);
    return last;
  };
}
