/** A place for objects by their keys, which have letters, digits, `/`, `.`, `_` and `-`. Everything throws when it fails. */
export interface ObjectStore {
  /** The keys that begin so, in the order of their characters. */
  list(prefix: string): Promise<readonly string[]>;
  /** Null when there is none. */
  get(key: string): Promise<Buffer | null>;
  /** Makes an object that is not there yet. Of several that try at the same time, one does. */
  create(key: string, bytes: Buffer): Promise<'created' | 'exists'>;
  put(key: string, bytes: Buffer): Promise<void>;
  remove(key: string): Promise<void>;
  close(): Promise<void>;
}
