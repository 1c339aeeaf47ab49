/** What is counted for each combination of the values of some labels, which must be few. */
export interface SeriesMap<Series> {
  /** The series of a combination, made when it is first asked for. @param values of the labels, in their order */
  of(values: readonly string[]): Series;
  /** In the order in which they were made. */
  all(): readonly Series[];
}

interface Branch<Series> {
  /** By the value of the next label. */
  readonly next: Map<string, Branch<Series>>;
  series: Series | null;
}

/** Looks one value after the other up: a key made of all of them would be a new text for every request. */
export function createSeriesMap<Series>(make: (values: readonly string[]) => Series): SeriesMap<Series> {
  const root = newBranch<Series>();
  const made: Series[] = [];
  return {
    of(values) {
      let branch = root;
      for (const value of values) {
        let next = branch.next.get(value);
        if (next === undefined) {
          next = newBranch();
          branch.next.set(value, next);
        }
        branch = next;
      }
      if (branch.series === null) {
        branch.series = make(values);
        made.push(branch.series);
      }
      return branch.series;
    },
    all: () => made,
  };
}

function newBranch<Series>(): Branch<Series> {
  return { next: new Map(), series: null };
}
