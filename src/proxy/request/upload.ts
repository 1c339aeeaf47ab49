/** A form on its way from a client: its model is known, the rest is passed on as it comes. */
export interface Upload {
  /** The model as the client named it. */
  model: string;
  /** True once bytes of it were asked for: they come only once, so nothing can be tried again. */
  readonly isConsumed: boolean;
  /** Bytes of the whole form with another model in the place of its own; null when the client did not say. */
  length(model: string): number | null;
  /** The form with `model` in the place of its own, at the reader's pace. */
  body(model: string): AsyncIterable<Buffer>;
}
