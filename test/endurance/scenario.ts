/** A long run of the event engine. */
export interface Scenario {
  readonly name: string;
  /** @returns what was counted. @param folder empty, and removed afterwards */
  run(folder: string, seed: number): Promise<Readonly<Record<string, unknown>>>;
  /** What has to be counted. Anything else is a failure. */
  readonly expected: Readonly<Record<string, unknown>>;
}

/** Of the counts of every run. */
export const nothingLost = { lost: 0, phantoms: 0, corrupt: 0 };
