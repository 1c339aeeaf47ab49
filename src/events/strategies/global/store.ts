/** What gateways share to hold limits together. Every function may fail, and does when nobody answers in time. */
export interface LimitStore {
  /** Whether there is a connection. */
  ready(): boolean;
  /** Counts a call, if there were fewer than `threshold` in the last period. */
  takeCall(limit: string, id: string, threshold: number, periodMs: number): Promise<CallAnswer>;
  forgetCall(limit: string, id: string): Promise<void>;
  /** Takes one of `max` permits, for `ttlMs`. */
  takePermit(limit: string, id: string, max: number, ttlMs: number): Promise<PermitAnswer>;
  renewPermits(limit: string, ids: readonly string[], ttlMs: number): Promise<void>;
  returnPermit(limit: string, id: string): Promise<void>;
}

export interface CallAnswer {
  readonly taken: boolean;
  /** Milliseconds until a call may pass. */
  readonly roomIn: number;
  /** How many gateways have asked lately, this one included. */
  readonly gateways: number;
}

export interface PermitAnswer {
  readonly taken: boolean;
  readonly gateways: number;
}
