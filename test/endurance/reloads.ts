import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventConfig } from '../../src/events/config/config.ts';
import { decodeConfig } from '../../src/events/config/decode.ts';
import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { createLedger, type LedgerReport, seeded } from './ledger.ts';

export interface ReloadsInput {
  readonly dataDir: string;
  readonly reloads: number;
  readonly everyMs: number;
  readonly perSecond: number;
  readonly seed: number;
}

export interface ReloadsReport extends LedgerReport {
  readonly rejected: number;
  /** The longest time between two deliveries to the trigger that never changes, in milliseconds. */
  readonly longestPauseMs: number;
  /** The same on this machine while nothing is changed, in at most as long a time: what is not of the reloads. */
  readonly longestPauseBeforeMs: number;
  /** The most processor time that reading and applying a configuration took, with what was delivered meanwhile, in milliseconds. */
  readonly longestApplyCpuMs: number;
}

/** Triggers that never change, change with each version, and come and go. */
const always = ['steady', 'changing'];
const TICK_MS = 10;
const MOST_BEFORE_MS = 30_000;

/**
 * Another configuration again and again while events come: triggers, filters, limits and channels are added, changed and removed,
 * and some configurations cannot be run. At the end everybody has everything.
 */
export async function runReloads(input: ReloadsInput): Promise<ReloadsReport> {
  const random = seeded(input.seed);
  const ledger = createLedger();
  let lastAt = performance.now();
  let longestPauseMs = 0;
  const receiver = await startEventReceiver(async (event, path) => {
    if (path === '/steady') {
      longestPauseMs = Math.max(longestPauseMs, performance.now() - lastAt);
      lastAt = performance.now();
    }
    ledger.delivered(path.slice(1), event);
    return 204;
  });
  const engine = await startEngine(input.dataDir, yamlOf(receiver.url, 0, true, false));
  let publishing = true;
  const publisher = (async () => {
    while (publishing) {
      const events = Array.from({ length: Math.ceil((input.perSecond * TICK_MS) / 1_000) }, () =>
        ledger.next('publisher'),
      );
      const sent = events.map(async (event) => {
        const result = await engine.publish('gw', event);
        if (result?.kind === 'accepted') ledger.accepted(event);
      });
      await Promise.all([...sent, delay(TICK_MS)]);
    }
  })();
  let rejected = 0;
  let longestApplyCpuMs = 0;
  try {
    await delay(Math.min(input.reloads * input.everyMs, MOST_BEFORE_MS));
    const longestPauseBeforeMs = longestPauseMs;
    longestPauseMs = 0;
    for (let version = 1; version <= input.reloads; version += 1) {
      const broken = random() < 0.2;
      const yaml = yamlOf(receiver.url, version, random() < 0.5, broken);
      const cpuMs = threadCpuMs();
      await engine.apply(configOf(yaml)).catch((error: unknown) => {
        assert.ok(broken, String(error));
        rejected += 1;
      });
      longestApplyCpuMs = Math.max(longestApplyCpuMs, threadCpuMs() - cpuMs);
      await delay(input.everyMs);
    }
    publishing = false;
    await publisher;
    await engine.apply(configOf(yamlOf(receiver.url, 0, true, false)));
    const all = [...always, 'coming'];
    await waitFor('all events at all triggers', () => all.every((id) => ledger.missing(id).length === 0));
    return {
      ...ledger.report(all),
      rejected,
      longestPauseMs: Math.round(longestPauseMs),
      longestPauseBeforeMs: Math.round(longestPauseBeforeMs),
      longestApplyCpuMs: Math.round(longestApplyCpuMs),
    };
  } finally {
    publishing = false;
    await engine.close();
    await receiver.close();
  }
}

/** Of this thread, in user and kernel mode: the same however busy the machine is. */
function threadCpuMs(): number {
  const { system, user } = process.threadCpuUsage();
  return (system + user) / 1_000;
}

function configOf(text: string): EventConfig {
  const decoded = decodeConfig({ format: 'text', text });
  assert.ok(decoded.ok, decoded.ok ? '' : JSON.stringify(decoded.problems));
  return decoded.config;
}

/** @param broken names a variable that is not set, which is seen only when the configuration is to be run */
function yamlOf(url: string, version: number, coming: boolean, broken: boolean): string {
  const triggers = [...always, ...(coming ? ['coming'] : []), ...(broken ? ['broken'] : [])];
  const hook = (id: string) => (id === 'broken' ? `${url}/\${NOT_SET}` : `${url}/${id}`);
  // All events fit each of them.
  const filter = `LENGTH(id) > 0 AND ${version} >= 0`;
  return `components:
  channels:
    - {unique_id: main, url: "sqlite:", mq_topic_name: main}
    - {unique_id: extra, url: "memory:", mq_topic_name: "extra${version}"}
  sources:
    - ref: {unique_id: gw, kind: gateway}
  triggers:
${triggers.map((id) => `    - ref: {unique_id: ${id}, kind: http, name: "${hook(id)}"}`).join('\n')}
strategy:
  trigger_strategies:
    - event_trigger_id: steady
      runtime_strategy: {retry_rule: {retry_max: 3}}
    - event_trigger_id: changing
      receive_buffer_size: ${16 + (version % 3)}
      runtime_strategy: {concurrency_limit_strateg: {max_concurrency: ${8 + (version % 2)}}}
router_rules:
  routers:
${triggers.map((id) => `    - {source_id: gw, trigger_id: ${id}, channel_id: main, filter: {cesql: "${filter}"}}`).join('\n')}
`;
}
