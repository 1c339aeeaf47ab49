/** Readers of search parameters for `validateSearch`: what does not fit is as if it were not there. */

export type RawSearch = Record<string, unknown>;

export function textParam(search: RawSearch, name: string): string | undefined {
  const value = search[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberParam(search: RawSearch, name: string): number | undefined {
  const value = Number(search[name] ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

export function choiceParam<const Choice extends string>(
  search: RawSearch,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === search[name]);
}

/** Without the members that are undefined, which would stand in the address as `undefined`. */
export function present<T extends object>(search: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
