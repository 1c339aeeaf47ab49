/** What is taken out of the earlier turns of a request. */
export interface Stripping {
  /** The model's name at the target. */
  model: string;
  /** Whether a seal goes, by its text as it stands; '' for a thought without one. */
  takes(seal: string): boolean;
}
