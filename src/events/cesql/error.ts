/** The kinds of errors of CESQL 1.0, section 3.3, named as the language's conformance tests name them. */
export type ErrorKind =
  | 'parse'
  | 'math'
  | 'cast'
  | 'missingAttribute'
  | 'missingFunction'
  | 'functionEvaluation'
  | 'generic';

/** A place in the text of an expression. Offsets and columns count UTF-16 units, as editors do. */
export interface Position {
  /** From 0. */
  offset: number;
  /** The offset behind the last unit of what is meant. */
  end: number;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
}

/** Something that went wrong, as a value: expressions are total, so nothing is thrown. */
export interface CesqlError {
  kind: ErrorKind;
  message: string;
  position: Position;
}

/** A stretch of an expression's text, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Finds places in one text. */
export type Locate = (span: Span) => Position;

/** Makes a function that finds line and column by halving: thousands of errors of one text stay cheap. */
export function locator(text: string): Locate {
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  return ({ start, end }) => {
    let low = 0;
    let high = lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((lineStarts[middle] ?? 0) <= start) low = middle;
      else high = middle - 1;
    }
    return { offset: start, end, line: low + 1, column: start - (lineStarts[low] ?? 0) + 1 };
  };
}

/** What went wrong during one evaluation. */
export interface Failures {
  readonly errors: CesqlError[];
  /** True: go on after an error, to find all of them. False: stop at the first. */
  readonly complete: boolean;
  readonly locate: Locate;
}

/** Adds an error. @returns undefined, the mark of a failed evaluation */
export function fail(failures: Failures, kind: ErrorKind, span: Span, message: string): undefined {
  failures.errors.push({ kind, message, position: failures.locate(span) });
  return undefined;
}

/** A value for a message: quoted, without control characters, and short. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : String(value);
  const short = text.length > 40 ? `${text.slice(0, 40).toWellFormed()}…` : text;
  return typeof value === 'string' ? JSON.stringify(short) : short;
}
