/**
 * What it costs a running engine to find where an event goes, with many routers: events of the gateway itself, which none of
 * them selects, so that nothing else is measured.
 *
 *     node bench/event-routing.ts [ROUTERS]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CloudEvent } from '../src/events/cloudevents/event.ts';
import { startEngine } from '../test/support/events/event-engine.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const ROUTERS = Number(positionals[0] ?? 1_000);
const EVENTS = 2_000;
const ROUNDS = 7;

/** Each kind of filter that people write. */
const filterOf = (index: number): string =>
  [
    `type = 'com.example.type${index}'`,
    `source LIKE '/services/${index}/%'`,
    `type = 'com.example.order.created' AND subject = 'customer-${index}'`,
    `EXISTS tenant AND tenant = 't${index}'`,
  ][index % 4] ?? '';

const routers = Array.from(
  { length: ROUTERS },
  (_, index) =>
    `    - {source_id: s, trigger_id: t, channel_id: main, filter: {cesql: "${filterOf(index)}"}}`,
);
const yaml = `components:
  channels:
    - {unique_id: main, url: "memory:", mq_topic_name: main}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: t, kind: log}
router_rules:
  routers:
${routers.join('\n')}
`;

const eventOf = (index: number): CloudEvent => ({
  attributes: {
    specversion: '1.0',
    id: String(index),
    source: `/services/none/${index % 100}`,
    type: index % 2 === 0 ? 'com.example.order.created' : 'com.example.other',
    subject: `nobody-${index % 50}`,
  },
  data: null,
});

const folder = mkdtempSync(join(tmpdir(), 'gateway-routing-'));
const engine = await startEngine(folder, yaml);
try {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = process.cpuUsage();
    for (let index = 0; index < EVENTS; index += 1) await engine.publish('s', eventOf(index));
    const { system, user } = process.cpuUsage(begun);
    rounds.push((system + user) / EVENTS);
  }
  const median = rounds.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  console.log(`${ROUTERS} routers: ${median.toFixed(1)} µs of CPU for each event`);
} finally {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
}
