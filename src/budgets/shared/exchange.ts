/** A new version of a tally, for the place of the one that it was made from. */
export interface TallyProposal {
  /** Whose tally it is. */
  key: string;
  /** The version that it was made from; null where there was none. */
  wasVersion: string | null;
  version: string;
  /** The tally as text. */
  tally: string;
  /** After how long without a new version it may be forgotten, in milliseconds. */
  ttlMs: number;
}

export interface TallyExchangeRequest {
  /** The gateway's epoch; null for none. Nothing is accepted in another one. */
  epoch: string | null;
  /** The name for a new epoch, where one begins. */
  newEpoch: string;
  /** Whether a new epoch is to begin, because something was lost. */
  renew: boolean;
  proposals: readonly TallyProposal[];
}

export interface TallyExchangeReply {
  /** Milliseconds since the epoch, by Redis's clock. */
  now: number;
  epoch: string;
  epochAgeMs: number;
  /** For each proposal null when it was accepted, else what is there. */
  conflicts: readonly (null | { version: string | null; tally: string })[];
}

/** Puts new versions of tallies where all gateways find them. @throws Error when no answer came */
export type TallyExchange = (request: TallyExchangeRequest) => Promise<TallyExchangeReply>;
