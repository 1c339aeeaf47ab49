/** What the gateway does itself about the state of one request of the responses format. */
export interface ResponseState {
  keyId: string;
  /** The response that it continues; null for a first one. */
  previousId: string | null;
  /** The items that it brought; null where its body still has these alone. */
  input: readonly unknown[] | null;
  /** What it asks to be compacted by: its path, or an item of its input. */
  compaction: 'endpoint' | 'item' | null;
  /** The gateway makes the compaction, not the provider. */
  compacts: boolean;
  /** For that: every item that it stands for. */
  shown: readonly unknown[];
}
