import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { createLedger, type LedgerReport } from './ledger.ts';

/** How the source publishes: it waits for the channel, or has a storage that blocks or drops when it is full. */
export type FullDiskStorage = 'none' | 'block' | 'drop';

export interface FullDiskInput {
  /** Where a small disk is mounted. */
  readonly folder: string;
  readonly storage: FullDiskStorage;
  /** Whether other files take what the engine leaves free. They go when the events are to be delivered. */
  readonly othersFillIt: boolean;
  /** More than the disk has room for. */
  readonly events: number;
  /** Events that are published once the disk has room again. */
  readonly eventsAfter: number;
}

export interface FullDiskReport extends LedgerReport {
  /** What was not accepted, and its publisher was told so: dropped, or refused. */
  readonly notAccepted: number;
  /** How many of them the status of the source counts. */
  readonly counted: number;
  /** Events that were accepted once the others had gone, with nothing else done to the disk. */
  readonly acceptedAgain: number;
}

const EVENT_BYTES = 49_152;
const AT_ONCE = 32;

/** Whether this process may mount a disk of its own. */
export const canMount = process.getuid?.() === 0 && spawnSync('which', ['mount']).status === 0;

/** Mounts a small disk in the memory. @returns what unmounts it */
export function mountSmallDisk(folder: string, mebibytes: number): () => void {
  mkdirSync(folder, { recursive: true });
  const options = ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder];
  const { status, stderr } = spawnSync('mount', options, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mount failed: ${stderr}`);
  return () => void spawnSync('umount', ['-l', folder]);
}

const strategies: Readonly<Record<FullDiskStorage, string>> = {
  none: '',
  block: `source_strategies:
    - {event_source_id: s, async_send: true, fault_tolerant_storage: {persistence_type: LFS, full_strategy: BLOCK}}
  `,
  drop: `source_strategies:
    - {event_source_id: s, async_send: true, fault_tolerant_storage: {persistence_type: LFS, full_strategy: DROP}}
  `,
};

const yaml = (url: string, storage: FullDiskStorage) => `components:
  channels:
    - {unique_id: main, url: "sqlite:", mq_topic_name: main}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${url}/hook"}
strategy:
  ${strategies[storage]}trigger_strategies:
    - event_trigger_id: hook
      enable_idempotence: true
      runtime_strategy: {retry_rule: {retry_max: 100000, back_off_delay: PT0.2S}}
router_rules:
  routers:
    - {source_id: s, trigger_id: hook, channel_id: main}
`;

/**
 * Publishes more than the disk has room for while the receiver takes nothing, then lets the receiver take everything, and publishes
 * again.
 */
export async function runFullDisk(input: FullDiskInput): Promise<FullDiskReport> {
  const { events, eventsAfter, folder, othersFillIt, storage } = input;
  const ledger = createLedger(EVENT_BYTES);
  let takes = false;
  const receiver = await startEventReceiver((event) => {
    if (!takes) return 503;
    ledger.delivered('hook', event);
    return 204;
  });
  const engine = await startEngine(folder, yaml(receiver.url, storage));
  const abandoned = new AbortController();
  let notAccepted = 0;
  let accepted = 0;
  let published = 0;
  const publishOne = async () => {
    published += 1;
    const event = ledger.next('s');
    const result = await engine.publish('s', event);
    if (result?.kind === 'accepted' || result?.kind === 'spooled') {
      ledger.accepted(event);
      accepted += 1;
    } else notAccepted += 1;
  };
  const publishMany = async (most: number) => {
    const until = published + most;
    const publisher = async () => {
      while (published < until && !abandoned.signal.aborted) await publishOne();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, publisher));
  };
  const filler = join(folder, 'other');
  try {
    const publishing = publishMany(events);
    // A storage that blocks lets nobody go on when it is full, and the others say so.
    if (storage === 'block') await standsStill(() => accepted);
    else await publishing;
    if (othersFillIt) fillDisk(filler, folder);
    takes = true;
    if (othersFillIt) {
      await standsStill(() => ledger.report(['hook']).delivered);
      unlinkSync(filler);
    }
    await publishing;
    await waitFor('all accepted events', () => ledger.missing('hook').length === 0);
    const before = accepted;
    await publishMany(eventsAfter);
    await waitFor('the events after that', () => ledger.missing('hook').length === 0);
    const [source] = (await engine.status()).sources;
    const rejected = Object.values(source?.rejected ?? {}).reduce((sum, count) => sum + count, 0);
    const counted = (source?.dropped ?? 0) + rejected;
    return { ...ledger.report(['hook']), notAccepted, counted, acceptedAgain: accepted - before };
  } finally {
    abandoned.abort();
    await engine.close();
    await receiver.close();
  }
}

/** Takes all that is free. */
export function fillDisk(file: string, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}

/** Resolves when a count has not changed for a while, as it does not when nothing goes on any more. */
async function standsStill(count: () => number): Promise<void> {
  let last = count();
  let same = 0;
  await waitFor('a standstill', () => {
    const now = count();
    same = now === last && now > 0 ? same + 1 : 0;
    last = now;
    return same > 50;
  });
}
