/** Where a log keeps its bytes: numbered segments, each of one or more writes. */
export interface Segments {
  /**
   * Takes them over from whoever had them.
   * @param after every new segment gets a higher number than this
   * @returns the numbers of those that are there, in order
   * @throws when that fails
   */
  open(after: number): Promise<readonly number[]>;
  read(segment: number): Promise<Buffer>;
  /**
   * Writes behind what was written before; never into a segment that was there at the start.
   * @returns the segment that it is in, once it is as safe as it gets there
   * @throws NoSpace when there is no room, any other Error when nothing was written, as far as anybody knows
   */
  write(bytes: Buffer): Promise<number>;
  remove(segment: number): Promise<void>;
  /** Keeps damaged bytes for people to look at. */
  setAside(segment: number, bytes: Buffer): Promise<void>;
  /** A small text that says what is done. It may be an old one after a crash. */
  readProgress(): Promise<string | null>;
  writeProgress(text: string): Promise<void>;
  /** How often writing that is worth while, in milliseconds. */
  readonly progressEveryMs: number;
  close(): Promise<void>;
}

/** The disk, or what stands for it, is full. */
export class NoSpace extends Error {}
