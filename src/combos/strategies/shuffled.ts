/** The members in any order, each order as likely as any other (Fisher and Yates). */
export function shuffled<T>(members: readonly T[], random: () => number): T[] {
  const mixed = [...members];
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const swapped = mixed[last] as T;
    mixed[last] = mixed[other] as T;
    mixed[other] = swapped;
  }
  return mixed;
}
