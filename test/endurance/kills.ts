import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import type { EngineProcess } from './engine-process.ts';
import { createLedger, type LedgerReport, numbered, seeded } from './ledger.ts';

/** What ends an engine, and when. */
export interface KillsInput {
  readonly dataDir: string;
  /** The address of the channel. */
  readonly channel: string;
  readonly signal: 'SIGKILL' | 'SIGTERM';
  readonly times: number;
  readonly perSecond: number;
  /** How many events are accepted, or delivered, before the next signal, at most. */
  readonly atMost: number;
  readonly seed: number;
}

export interface KillsReport extends LedgerReport {
  readonly seed: number;
  /** Deliveries that were under way at the signals. */
  readonly underWay: number;
  /** What the longest end took, in milliseconds. */
  readonly longestEndMs: number;
}

const SOURCE = 's';

const yaml = (url: string, channel: string) => `components:
  channels:
    - {unique_id: main, url: "${channel}", mq_topic_name: main}
  sources:
    - ref: {unique_id: ${SOURCE}, kind: gateway}
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${url}/hook"}
strategy:
  trigger_strategies:
    - event_trigger_id: hook
      enable_idempotence: true
      runtime_strategy: {retry_rule: {retry_max: 1000, back_off_delay: PT0.05S}}
      dead_letter_strategy: {enable: true}
router_rules:
  routers:
    - {source_id: ${SOURCE}, trigger_id: hook, channel_id: main}
`;

/** What the signal comes after: so many accepted events, or a receiver that has an event and did not answer, or has answered. */
const moments = ['accepted', 'delivering', 'answered'] as const;

/** Ends an engine that publishes and delivers, again and again, at random moments, and lets the last one finish. */
export async function runKills(input: KillsInput): Promise<KillsReport> {
  const { atMost, channel, dataDir, perSecond, seed, signal, times } = input;
  const random = seeded(seed);
  const ledger = createLedger();
  let now = 0;
  let underWay = 0;
  let deliveries = 0;
  /** What is to be done at a delivery, once. */
  let atDelivery: { readonly nth: number; readonly moment: (typeof moments)[number]; act(): void } | null =
    null;
  const receiver = await startEventReceiver(async (event) => {
    now += 1;
    deliveries += 1;
    const due = atDelivery !== null && deliveries >= atDelivery.nth ? atDelivery : null;
    if (due !== null) atDelivery = null;
    if (due?.moment === 'delivering') due.act();
    await new Promise((resolve) => setImmediate(resolve));
    ledger.delivered('hook', event);
    now -= 1;
    if (due?.moment === 'answered') setImmediate(due.act);
    return 204;
  });
  const running: { child: ChildProcess | null } = { child: null };
  let first = 1;
  let accepted = 0;
  let longestEndMs = 0;
  const start = async (rate: number) => {
    const program: EngineProcess = {
      dataDir,
      yaml: yaml(receiver.url, channel),
      source: SOURCE,
      first,
      perSecond: rate,
    };
    ledger.sentUpTo(SOURCE, first + 200);
    const child = spawn(
      process.execPath,
      [`${import.meta.dirname}/engine-process.ts`, JSON.stringify(program)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    running.child = child;
    let rest = '';
    let started = false;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [word, value] = line.split(' ');
        if (word === 'started') started = true;
        if (word === 'sent') ledger.sentUpTo(SOURCE, Number(value));
        if (word !== 'accepted') continue;
        accepted += 1;
        first = Math.max(first, Number(value) + 1);
        ledger.accepted(numbered(SOURCE, Number(value)));
      }
    });
    await waitFor('the engine', () => started || child.exitCode !== null);
    assert.equal(child.exitCode, null, 'the engine started');
  };
  const end = async (how: NodeJS.Signals, begin: (send: () => void) => Promise<void>) => {
    const { child } = running;
    if (child === null) return;
    const exited = once(child, 'close');
    let begun = 0;
    await begin(() => {
      begun = performance.now();
      child.kill(how);
      underWay += now;
    });
    await exited;
    longestEndMs = Math.max(longestEndMs, performance.now() - begun);
    running.child = null;
    // Beyond all that may have been sent without being accepted.
    first += 400;
  };
  try {
    for (let time = 0; time < times; time += 1) {
      await start(perSecond);
      const count = 1 + Math.floor(random() * atMost);
      const moment = moments[Math.floor(random() * moments.length)] ?? 'accepted';
      const until = accepted + count;
      await end(signal, async (send) => {
        if (moment === 'accepted') {
          await waitFor('accepted events', () => accepted >= until);
          return send();
        }
        const sent = Promise.withResolvers<void>();
        const act = () => {
          send();
          sent.resolve();
        };
        atDelivery = { nth: deliveries + count, moment, act };
        await sent.promise;
      });
    }
    await start(0);
    await waitFor('all accepted events', () => ledger.missing('hook').length === 0);
    await end('SIGTERM', async (send) => send());
    return { ...ledger.report(['hook']), seed, underWay, longestEndMs: Math.round(longestEndMs) };
  } finally {
    running.child?.kill('SIGKILL');
    await receiver.close();
  }
}
