/** Idle sockets are kept this long; agents pause for seconds between turns, and a TLS handshake costs more. */
export const KEEP_ALIVE_MS = 30_000;

/** Most bytes of the head of an answer. */
export const MAX_HEAD_BYTES = 131_072;

/** Connections that are kept for further requests, and those that never carried one. */
export type PoolKind = 'reused' | 'fresh';
