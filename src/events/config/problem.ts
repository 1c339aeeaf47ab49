/** Something wrong, or probably not meant, in a configuration of events. */
export interface ConfigProblem {
  readonly severity: 'error' | 'warning';
  /** The field, as the configuration names it: `components.channels[0].url`. Empty: the configuration as a whole. */
  readonly path: string;
  /** What is wrong and what to do. Never has a password in it. */
  readonly message: string;
  /** Where it stands in a file of text, both from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** A path with the schema's own names: `router_rules.routers[0].filter.cesql`. */
export type FieldPath = string;

/** Where checks report. Problems come out in the order in which they were reported. */
export interface Report {
  error(path: FieldPath, message: string): void;
  warning(path: FieldPath, message: string): void;
}
