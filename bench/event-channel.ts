/**
 * What the `sqlite:` channel takes: events accepted per second, each on the disk before it counts, and events per second from a
 * source through the channel and a CESQL filter to a trigger in the same process.
 *
 *     node bench/event-channel.ts [FOLDER]
 *
 * The folder is where the database is written; its disk makes a difference.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createSqliteChannel } from '../src/events/channels/sqlite/sqlite-channel.ts';
import type { CloudEvent } from '../src/events/cloudevents/event.ts';
import { decodeConfig } from '../src/events/config/decode.ts';
import { openEventDatabase } from '../src/events/database/event-database.ts';
import { createEngine } from '../src/events/engine/engine.ts';
import { createLog } from '../src/lib/log.ts';

const {
  positionals: [parent = tmpdir()],
} = parseArgs({ allowPositionals: true });

const ROUNDS = 5;
const EVENTS = 60_000;
/** Publishers that each wait for one event to be accepted. */
const PUBLISHERS = 256;

const payload = Buffer.from(JSON.stringify({ text: 'x'.repeat(380) }));
const eventOf = (id: number): CloudEvent => ({
  attributes: {
    specversion: '1.0',
    id: String(id),
    source: '/bench',
    type: 'com.example.bench',
    datacontenttype: 'application/json',
  },
  data: payload,
});

/** Publishes all events, and tells how long each one took, in milliseconds. */
async function publishAll(publish: (event: CloudEvent) => Promise<unknown>): Promise<number[]> {
  const latencies: number[] = [];
  let next = 0;
  const publisher = async () => {
    while (next < EVENTS) {
      next += 1;
      const begun = performance.now();
      await publish(eventOf(next));
      latencies.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: PUBLISHERS }, publisher));
  return latencies.sort((a, b) => a - b);
}

const perSecond = (ms: number) => Math.round((EVENTS * 1_000) / ms);

async function accepting(folder: string): Promise<{ rate: number; p99: number }> {
  const database = openEventDatabase(join(folder, 'accepting.db'));
  const channel = createSqliteChannel(database, 'bench', Date.now);
  await channel.subscribe('reader');
  const begun = performance.now();
  const latencies = await publishAll(channel.publish);
  const rate = perSecond(performance.now() - begun);
  await database.close();
  return { rate, p99: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN };
}

async function endToEnd(folder: string): Promise<number> {
  const decoded = decodeConfig({
    format: 'text',
    text: `components:
  channels: [{unique_id: main, url: "sqlite:", mq_topic_name: main}]
  sources: [{ref: {unique_id: bench, kind: service}}]
  triggers: [{ref: {unique_id: log, kind: log}}]
strategy:
  trigger_strategies: [{event_trigger_id: log, receive_buffer_size: 1024}]
router_rules:
  routers: [{source_id: bench, trigger_id: log, channel_id: main, filter: {cesql: "type LIKE 'com.%' AND EXISTS id"}}]
`,
  });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems));
  const arrived = Promise.withResolvers<void>();
  let left = EVENTS;
  const log = createLog({
    level: 'info',
    pretty: false,
    write: (line) => {
      if (!line.includes('"msg":"an event"')) return;
      left -= 1;
      if (left === 0) arrived.resolve();
    },
  });
  const engine = createEngine({
    dataDir: folder,
    listening: () => null,
    log,
    now: Date.now,
    random: Math.random,
    redis: null,
    variable: () => undefined,
  });
  await engine.apply(decoded.config);
  const begun = performance.now();
  await Promise.all([publishAll(async (event) => engine.publish('bench', event)), arrived.promise]);
  const rate = perSecond(performance.now() - begun);
  await engine.close();
  return rate;
}

for (let round = 1; round <= ROUNDS; round += 1) {
  const folder = mkdtempSync(join(parent, 'bench-events-'));
  try {
    const { p99, rate } = await accepting(folder);
    const through = await endToEnd(folder);
    console.log(
      `round ${round}: ${rate} events/s accepted, p99 ${p99.toFixed(1)} ms; ${through} events/s end to end`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
