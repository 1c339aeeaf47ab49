import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { EngineProcess } from '../endurance/engine-process.ts';
import { createLedger, type Ledger, numbered } from '../endurance/ledger.ts';
import { hasPostgres, startPostgres } from '../support/brokers/postgres.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { delayedPort } from '../support/upstream/delayed-port.ts';

const yaml = (url: string, receiver: string) => `components:
  channels:
    - {unique_id: main, url: "${url}", mq_topic_name: main}
  sources:
    - ref: {unique_id: first, kind: gateway}
    - ref: {unique_id: second, kind: gateway}
  triggers:
    - ref: {unique_id: once, kind: http, name: "${receiver}/once"}
strategy:
  trigger_strategies:
    - {event_trigger_id: once, enable_idempotence: true}
router_rules:
  routers:
    - {source_id: first, trigger_id: once, channel_id: main}
    - {source_id: second, trigger_id: once, channel_id: main}
`;

/** What one engine has with its processor at a time, at most. */
const IN_FLIGHT = 16;

interface Delivered {
  readonly name: string;
  readonly at: number;
}

/**
 * Two engines in processes of their own, on one channel; the first one reaches the server through a port that can be cut off. The
 * receiver holds its answers back while `holding`.
 */
async function pair(t: TestContext) {
  const server = await startPostgres(temporaryFolder(t));
  t.after(() => server.kill());
  const port = await delayedPort(() => server.port);
  t.after(port.close);
  const ledger = createLedger();
  const delivered: Delivered[] = [];
  const gate = { holding: false, open: [] as (() => void)[] };
  const receiver = await startEventReceiver(async (event) => {
    ledger.delivered('once', event);
    delivered.push({ name: `${event.attributes.source} ${event.attributes.id}`, at: performance.now() });
    if (gate.holding) await new Promise<void>((resolve) => gate.open.push(resolve));
    return 204;
  });
  t.after(() => receiver.close());
  const program = new URL('../endurance/engine-process.ts', import.meta.url).pathname;
  const start = async (source: string, url: string): Promise<ChildProcess> => {
    const input: EngineProcess = {
      dataDir: temporaryFolder(t),
      yaml: yaml(url, receiver.url),
      source,
      first: 1,
      perSecond: 50,
      sharedDatabase: url,
    };
    const child = spawn(process.execPath, [program, JSON.stringify(input)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    const started = Promise.withResolvers<void>();
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [word, number] = line.split(' ');
      if (word === 'started') started.resolve();
      if (word === 'accepted') ledger.accepted(numbered(source, Number(number)));
      if (word === 'sent') ledger.sentUpTo(source, Number(number));
    });
    await started.promise;
    return child;
  };
  return {
    ledger,
    delivered,
    hold: () => {
      gate.holding = true;
    },
    /** How many requests wait for their answer. */
    held: () => gate.open.length,
    answer() {
      gate.holding = false;
      for (const open of gate.open.splice(0)) open();
    },
    port,
    engines: await Promise.all([
      start('first', server.url.replace(`:${server.port}`, `:${port.port}`)),
      start('second', server.url),
    ]),
  };
}

type Pair = Awaited<ReturnType<typeof pair>>;

const everything = (ledger: Ledger) =>
  waitFor('every event at the receiver', () => ledger.missing('once').length === 0);

describe('two gateways on one channel', { skip: !hasPostgres, concurrency: true }, () => {
  it('deliver what one of them had in flight when it was killed, and repeat no more than that', async (t) => {
    const { answer, delivered, engines, held, hold, ledger } = await pair(t);
    const [first, second] = engines;
    await waitFor('events of both', () => ledger.report(['once']).delivered >= 100);
    hold();
    await waitFor('both to have their hands full', () => held() === 2 * IN_FLIGHT);
    const before = new Set(delivered.map(({ name }) => name));
    first?.kill('SIGKILL');
    second?.kill('SIGUSR2');
    const killedAt = performance.now();
    answer();
    const repeated = () => delivered.filter(({ at, name }) => at > killedAt && before.has(name));
    await waitFor('what the dead one had in hand', () => repeated().length >= IN_FLIGHT);
    await everything(ledger);
    const { accepted, duplicates, lost } = ledger.report(['once']);
    const takenOverMs = Math.max(...repeated().map(({ at }) => at - killedAt));
    t.diagnostic(JSON.stringify({ accepted, lost, duplicates, takenOverMs }));
    assert.deepEqual({ lost, duplicates }, { lost: 0, duplicates: IN_FLIGHT });
  });

  /** Longer than a lease on an event lasts. */
  const PAUSE_MS = 12_000;
  const oneOf = ({ engines: [first] }: Pair): ChildProcess => {
    assert.ok(first !== undefined);
    return first;
  };
  const interruptions: readonly {
    what: string;
    begin(pair: Pair): void;
    end(pair: Pair): Promise<void>;
  }[] = [
    {
      what: 'was paused',
      begin: (pair) => oneOf(pair).kill('SIGSTOP'),
      async end(pair) {
        oneOf(pair).kill('SIGCONT');
      },
    },
    {
      what: 'was cut off from the database',
      begin({ port }) {
        port.silence();
        port.refuses = true;
      },
      async end({ port }) {
        port.refuses = false;
      },
    },
    {
      what: 'was cut off from the database, and is stopped',
      begin(pair) {
        pair.port.silence();
        pair.port.refuses = true;
        oneOf(pair).kill('SIGTERM');
      },
      async end(pair) {
        const ended = once(oneOf(pair), 'exit');
        pair.port.refuses = false;
        assert.deepEqual(await ended, [0, null]);
      },
    },
  ];
  for (const { begin, end, what } of interruptions)
    it(`deliver once what one of them was delivering when it ${what}`, async (t) => {
      const both = await pair(t);
      const { answer, delivered, engines, held, hold, ledger } = both;
      await waitFor('events of both', () => ledger.report(['once']).delivered >= 100);
      hold();
      await waitFor('both to have their hands full', () => held() === 2 * IN_FLIGHT);
      begin(both);
      const seen = delivered.length;
      answer();
      await delay(PAUSE_MS);
      assert.ok(delivered.length > seen, 'the other one goes on meanwhile');
      await end(both);
      for (const engine of engines) engine.kill('SIGUSR2');
      await everything(ledger);
      const { accepted, duplicates, lost } = ledger.report(['once']);
      t.diagnostic(JSON.stringify({ accepted, lost, duplicates }));
      assert.deepEqual({ lost, duplicates }, { lost: 0, duplicates: 0 });
    });
});
