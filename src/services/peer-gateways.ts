import { z } from 'zod';
import { type HealthHint, healthHint } from '../health/hints.ts';
import { openRedisChannel } from '../lib/redis/redis-channel.ts';
import type { Schedule } from '../lib/time/schedule.ts';

/** What the gateways of one database tell each other by Redis. All of it may be lost: nothing depends on it. */
export interface PeerGateways {
  /** The settings have this revision now. */
  settingsChanged(revision: number): void;
  /** A request has ended. Costs nothing without watchers at another gateway. */
  requestEnded(row: () => object): void;
  accountChanged(hint: HealthHint): void;
  close(): Promise<void>;
}

export interface PeerGatewaysInput {
  url: string;
  /** What this gateway is called among the others. */
  node: string;
  /** What the gateways of one database have in common, and no others. */
  group: string;
  schedule: Pick<Schedule, 'every'>;
  /** Whether there are watchers of requests here. */
  watching(): boolean;
  /** Called with a revision, and null when something may have been missed. */
  onSettings(revision: number | null): void;
  onRequest(row: object): void;
  onAccount(hint: HealthHint): void;
  /** Milliseconds of a monotonic clock. */
  steady(): number;
}

/** How often a gateway says that it has watchers, and for how long that counts. */
const WATCHING_MS = 2_000;
const WATCHED_MS = 3 * WATCHING_MS;
/** Requests and accounts sent in a second, each; more are left out. */
const MOST_IN_A_SECOND = 200;
const LONGEST_MESSAGE = 16_384;

const message = z.intersection(
  z.object({ from: z.string() }),
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('settings'), revision: z.int() }),
    z.object({ kind: z.literal('watching') }),
    z.object({ kind: z.literal('request'), row: z.record(z.string(), z.unknown()) }),
    z.object({ kind: z.literal('account'), hint: healthHint }),
  ]),
);

/** Joins the gateways that share a database and a Redis. Does not fail when Redis is away. */
export async function openPeerGateways(input: PeerGatewaysInput): Promise<PeerGateways> {
  const { node, onAccount, onRequest, onSettings, steady, watching } = input;
  let watchedUntil = Number.NEGATIVE_INFINITY;
  const admitsRequest = limitOf(MOST_IN_A_SECOND, steady);
  const admitsAccount = limitOf(MOST_IN_A_SECOND, steady);
  const channel = await openRedisChannel({
    url: input.url,
    channel: `{modelgate}:neighbours:${input.group}`,
    onListening: () => onSettings(null),
    onMessage(text) {
      const read = messageIn(text);
      if (read === null || read.from === node) return;
      switch (read.kind) {
        case 'settings':
          return onSettings(read.revision);
        case 'watching':
          watchedUntil = steady() + WATCHED_MS;
          return;
        case 'request':
          return onRequest({ ...read.row, node: read.from });
        case 'account':
          return onAccount(read.hint);
      }
    },
  });
  const tell = (what: object) => {
    const text = JSON.stringify({ from: node, ...what });
    if (text.length <= LONGEST_MESSAGE) channel.send(text);
  };
  const stop = input.schedule.every({
    name: 'watchers of other gateways',
    everyMs: WATCHING_MS,
    run() {
      if (watching()) tell({ kind: 'watching' });
    },
  });
  return {
    settingsChanged: (revision) => tell({ kind: 'settings', revision }),
    requestEnded(row) {
      if (steady() < watchedUntil && admitsRequest()) tell({ kind: 'request', row: row() });
    },
    accountChanged(hint) {
      if (admitsAccount()) tell({ kind: 'account', hint });
    },
    async close() {
      stop();
      await channel.close();
    },
  };
}

/** Null for what another version, or another program, has sent. */
function messageIn(text: string): z.infer<typeof message> | null {
  if (text.length > LONGEST_MESSAGE) return null;
  try {
    return message.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** True for the first `most` calls in a second. */
function limitOf(most: number, steady: () => number): () => boolean {
  let [second, count] = [Number.NEGATIVE_INFINITY, 0];
  return () => {
    const now = Math.floor(steady() / 1_000);
    count = now === second ? count + 1 : 1;
    second = now;
    return count <= most;
  };
}
