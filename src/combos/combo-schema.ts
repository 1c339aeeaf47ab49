/** How a combo orders its targets. Each is a file in `strategies/`. */
export const strategyNames = [
  'priority',
  'weighted',
  'round-robin',
  'random',
  'p2c',
  'least-used',
  'lowest-latency',
  'lowest-cost',
  'headroom',
  'fill-first',
] as const;

export type StrategyName = (typeof strategyNames)[number];

/** What a combo does beside ordering. Times in milliseconds. */
export interface ComboOptions {
  /** How long a request may wait for the first of the accounts to be ready again, when none is; 0 fails at once. */
  waitMs: number;
  /** Whether another target continues an answer that broke off after its first words. */
  continueStream: boolean;
  /** Whether a session stays with the target that answered it before. */
  affinity: boolean;
  /** How many attempts one request may take. */
  maxAttempts: number;
  /** After how long no further attempt is begun. */
  maxElapsedMs: number;
  /** Whether answers may be kept and given again. */
  cache: boolean;
  /** For how long one may be given again; null for as long as any. */
  cacheTtlMs: number | null;
  /** Whether translated requests get marks for the vendor's prompt cache where the client set none. */
  cacheMarks: boolean;
}

/** What holds for models that are asked for without a combo, and for a combo that says nothing else. */
export const defaultOptions: ComboOptions = {
  waitMs: 0,
  continueStream: false,
  affinity: true,
  maxAttempts: 10,
  maxElapsedMs: 120_000,
  cache: false,
  cacheTtlMs: null,
  cacheMarks: true,
};

/** `connection/model`, `provider/model` or a combo's name, and its share where the strategy goes by shares. */
export interface ComboTarget {
  target: string;
  weight: number;
}

/** A named routing set. Times in milliseconds since the epoch. */
export interface ComboRecord {
  id: string;
  name: string;
  strategy: StrategyName;
  /** In the order in which they are preferred. */
  targets: readonly ComboTarget[];
  options: ComboOptions;
  /** The one that `auto` means. At most one is. */
  active: boolean;
  createdAt: number;
  updatedAt: number;
}
