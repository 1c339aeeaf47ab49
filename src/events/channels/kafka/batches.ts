/** Sends items one request after the other: what comes while one is under way goes into the next one together. */
export function inBatches<T>(send: (items: readonly T[]) => Promise<void>): (item: T) => Promise<void> {
  let next: { readonly items: T[]; readonly sent: Promise<void> } | null = null;
  let last: Promise<unknown> = Promise.resolve();
  return (item) => {
    if (next === null) {
      const items: T[] = [];
      const sent = last.then(() => {
        next = null;
        return send(items);
      });
      last = sent.catch(() => {});
      next = { items, sent };
    }
    next.items.push(item);
    return next.sent;
  };
}
