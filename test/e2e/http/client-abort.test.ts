import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { OpenReply, RawClient } from '../../support/clients/client.ts';
import { chat, type Format, formats } from '../../support/formats/formats.ts';
import { bearer, type LedgerLine, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { socketsOf } from '../../support/gateway/workers.ts';
import { kernelSockets, readByPeer } from '../../support/machine/kernel.ts';
import { chunk, flood, hang, head, json, open, type Step } from '../../support/upstream/steps.ts';
import type { SeenRequest } from '../../support/upstream/upstream.ts';

const tries = 5;

/** The same piece again and again, slowly, until the peer is gone. */
function untilItLeaves(piece: string): Step {
  const send = chunk(piece);
  return async (turn) => {
    while ((await send(turn)) !== false) await delay(2);
  };
}

/** How a client leaves: an orderly close, a reset, or only its sending half. */
const departures: Record<string, (client: RawClient) => void> = {
  'closes its connection': (client) => client.destroy(),
  'resets its connection': (client) => client.socket.resetAndDestroy(),
  'sends its FIN': (client) => client.socket.end(),
};

interface Moment {
  streamed: boolean;
  /** What the upstream does before it hangs. */
  steps(format: Format): Step[];
  /** Waits until that is the state of things at the client. */
  reached?(client: RawClient, format: Format): Promise<OpenReply>;
}

const seesContent = async (client: RawClient, format: Format): Promise<OpenReply> => {
  const reply = await client.open();
  await reply.until(format.stream().content[0] ?? '');
  return reply;
};

const moments: Record<string, Moment> = {
  'before the upstream sent headers': { streamed: true, steps: () => [] },
  'between headers and first byte': { streamed: true, steps: () => [open()] },
  'before the first content': {
    streamed: true,
    steps: (format) => [open(), chunk(format.stream().preamble)],
  },
  'in mid-stream': {
    streamed: true,
    steps: (format) => [open(), chunk(format.stream().preamble + format.stream().content[0])],
    reached: seesContent,
  },
  'in mid-stream while it is being sent': {
    streamed: true,
    steps: (format) => [
      open(),
      chunk(format.stream().preamble),
      untilItLeaves(format.stream().content[0] ?? ''),
    ],
    reached: seesContent,
  },
  'in mid-stream of a compressed answer': {
    streamed: true,
    steps: (format) => [
      open({ 'content-encoding': 'gzip' }),
      // Whole as gzip, unfinished as a stream: the answer stays open.
      chunk(gzipSync(format.stream().preamble + format.stream().content[0])),
    ],
    reached: seesContent,
  },
  'while it waits for a whole answer': { streamed: false, steps: () => [] },
  'half-way through a whole answer': {
    streamed: false,
    steps: (format) => {
      const text = JSON.stringify(format.answer());
      return [
        head(200, { 'content-type': 'application/json', 'content-length': String(text.length) }),
        ({ write }) => write(text.slice(0, 40)),
      ];
    },
  },
};

/** How many times as long as a request to the upstream its end may take on a machine that is busy with others. */
const SLOWNESS = 20;

describe('a client that leaves', () => {
  const s = setting();

  /** How long the slowest request took to the upstream so far: on a busy machine, its end takes its time as well. */
  let slowestMs = 0;
  /** The bounds that the project promises, for the usual case and for the worst. */
  const assertSwift = (delays: readonly number[]): void => {
    const sorted = [...delays].sort((a, b) => a - b);
    const shown = `${sorted.map((ms) => ms.toFixed(1)).join(', ')} ms, and ${slowestMs} ms to the upstream`;
    const bound = (ms: number) => Math.max(ms, SLOWNESS * slowestMs);
    assert.ok((sorted[sorted.length >> 1] ?? Number.NaN) < bound(100), `median of ${shown}`);
    assert.ok((sorted.at(-1) ?? Number.NaN) < bound(1000), `worst of ${shown}`);
  };

  /** A request that is recognised in the ledger by its user agent, brought to the given moment. */
  const begin = async (format: Format, moment: Moment, agent: string) => {
    s.upstream.script([...moment.steps(format), hang()]);
    const client = await s.gateway.client();
    client.socket.on('error', () => {});
    const body = JSON.stringify(format.request(moment.streamed ? { stream: true } : {}));
    const headers = {
      'content-type': 'application/json',
      'user-agent': agent,
      ...bearer(s.gateway.key),
    };
    const sentAt = performance.now();
    await client.send({ path: format.path, headers, body });
    const request = await s.upstream.request();
    await request.whole;
    slowestMs = Math.max(slowestMs, performance.now() - sentAt);
    const reply = (await moment.reached?.(client, format)) ?? null;
    // Its rejection, when the answer is cut, is what the test brought about.
    reply?.whole.catch(() => {});
    return { client, request, reply };
  };

  /** The rows of all requests whose user agent begins so, once there are `count`. */
  const rowsOf = async (agent: string, count = 1): Promise<LedgerLine[]> => {
    let rows: LedgerLine[] = [];
    await waitFor(`${count} ledger entries of ${agent}`, async () => {
      rows = (await s.gateway.entries()).filter((row) => row.user_agent?.startsWith(agent));
      return rows.length >= count;
    });
    assert.equal(rows.length, count, 'a request is recorded once');
    return rows;
  };

  for (const [name, moment] of Object.entries(moments)) {
    for (const format of formats) {
      it(`ends the upstream request at once when it leaves ${name} (${format.name})`, async () => {
        const agent = `${format.name} ${name}`;
        const ways = Object.values(departures);
        const delays: number[] = [];
        for (let number = 0; number < tries; number += 1) {
          const { client, request } = await begin(format, moment, `${agent} ${number}`);
          const left = performance.now();
          ways[number % ways.length]?.(client);
          delays.push(await closedAfter(request, left));
          client.destroy();
        }
        assertSwift(delays);
        for (const row of await rowsOf(`${agent} `, tries)) {
          assert.equal(row.outcome, 'aborted');
          assert.equal(row.status, 499);
          assert.equal(row.error?.code, 'client_closed');
          assert.equal(row.attempts, 1);
          assert.equal(row.format, format.ledger);
          assert.equal(row.connection, format.model.split('/')[0]);
        }
      });
    }
  }

  for (const format of formats) {
    it(`pays for what had come until then (${format.name})`, async () => {
      const agent = `usage ${format.name}`;
      const { client } = await begin(format, moment('in mid-stream'), agent);
      client.destroy();
      const [row] = await rowsOf(agent);
      assert.ok(row?.usage);
      assert.equal(row.streamed, true);
      assert.equal(row.estimated, true, 'no upstream reports the usage of half a stream');
      assert.ok((row.usage['input'] ?? 0) > 0, JSON.stringify(row.usage));
      assert.ok((row.usage['output'] ?? 0) > 0, JSON.stringify(row.usage));
      assert.ok((row.usage['output'] ?? 0) < 100, JSON.stringify(row.usage));
      assert.notEqual(row.ttft_ms, null);
    });

    it(`pays for the request alone when nothing but a preamble had come (${format.name})`, async () => {
      const agent = `preamble ${format.name}`;
      const { client, request } = await begin(format, moment('before the first content'), agent);
      await readByPeer(request.socket);
      client.destroy();
      await request.closed;
      const [row] = await rowsOf(agent);
      assert.ok(row);
      assert.equal(row.ttft_ms, null);
      assert.ok((row.usage?.['input'] ?? 0) > 0, JSON.stringify(row.usage));
    });

    it(`does not count as aborted once the stream had its terminal event (${format.name})`, async () => {
      const agent = `finished ${format.name}`;
      const whole: Moment = {
        streamed: true,
        steps: () => [open(), chunk(format.stream().text)],
        async reached(client) {
          const reply = await client.open();
          await reply.until(format.terminal);
          return reply;
        },
      };
      const { client, request } = await begin(format, whole, agent);
      client.destroy();
      await request.closed;
      const [row] = await rowsOf(agent);
      assert.equal(row?.outcome, 'ok');
      assert.equal(row.status, 200);
      assert.equal(row.estimated, false);
      assert.equal(row.usage?.['output'], 5);
    });
  }

  it('is recorded, and reaches no upstream, when it leaves half-way through its own request', async () => {
    s.upstream.always(json(200, chat.answer()));
    const client = await s.gateway.client();
    const headers = { 'content-length': '5000', 'user-agent': 'half a request', ...bearer(s.gateway.key) };
    await client.send({ path: chat.path, headers, body: '{"model":"up/m-1","messages":[' });
    await delay(100);
    client.destroy();
    const [row] = await rowsOf('half a request');
    assert.equal(row?.outcome, 'aborted');
    assert.equal(row.status, 499);
    assert.equal(row.usage, null);
    assert.equal(row.cost_usd, null);
    assert.equal(row.attempts, 0);
    assert.equal(s.upstream.requests.length, 0);
  });

  it('ends every request that it had sent on the same connection', async () => {
    s.upstream.script([open(), hang()], [hang()], [open(), hang()]);
    const client = await s.gateway.client();
    // With `TE` they are no simple requests: Node's server reads them, and begins each as it comes.
    const headers = { 'user-agent': 'pipelined', te: 'trailers', ...bearer(s.gateway.key) };
    const body = JSON.stringify(chat.request({ stream: true }));
    for (let number = 0; number < 3; number += 1) await client.send({ path: chat.path, headers, body });
    const requests = await Promise.all([0, 1, 2].map((index) => s.upstream.request(index)));
    const left = performance.now();
    client.destroy();
    const delays = await Promise.all(requests.map((request) => closedAfter(request, left)));
    assertSwift(delays);
    const rows = await rowsOf('pipelined', 3);
    assert.deepEqual(new Set(rows.map(({ outcome }) => outcome)), new Set(['aborted']));
  });

  it('ends its simple request, and none is begun that it had sent behind it', async () => {
    s.upstream.script([open(), hang()]);
    const client = await s.gateway.client();
    const headers = { 'user-agent': 'pipelined simply', ...bearer(s.gateway.key) };
    const body = JSON.stringify(chat.request({ stream: true }));
    for (let number = 0; number < 3; number += 1) await client.send({ path: chat.path, headers, body });
    const request = await s.upstream.request(0);
    const left = performance.now();
    client.destroy();
    assertSwift([await closedAfter(request, left)]);
    const rows = await rowsOf('pipelined simply');
    assert.deepEqual(
      rows.map(({ outcome }) => outcome),
      ['aborted'],
    );
    assert.equal(s.upstream.requests.length, 1);
  });

  it('ends the upstream request also when it had stopped reading', async () => {
    const piece = chat.stream({ text: ['x'.repeat(16_384)] }).content.join('');
    s.upstream.script([open(), flood(piece, 1_000_000_000)]);
    const client = await s.gateway.client();
    client.socket.on('error', () => {});
    client.socket.pause();
    const headers = { 'user-agent': 'stopped reading', ...bearer(s.gateway.key) };
    await client.send({ path: chat.path, headers, body: JSON.stringify(chat.request({ stream: true })) });
    const request = await s.upstream.request();
    let sent = -1;
    await waitFor('the upstream to be held', async () => {
      const before = sent;
      sent = request.sentBytes();
      await delay(200);
      return sent > 0 && sent === before;
    });
    const left = performance.now();
    client.socket.resetAndDestroy();
    assertSwift([await closedAfter(request, left)]);
    const [row] = await rowsOf('stopped reading');
    assert.equal(row?.outcome, 'aborted');
    assert.ok((row.usage?.['output'] ?? 0) > 1000, 'what had passed is counted');
  });

  for (const format of formats) {
    it(`costs the upstream no connection beyond its own (${format.name})`, async () => {
      s.upstream.always(open(), hang());
      await s.upstream.dropConnections();
      const before = s.upstream.connections();
      for (let count = 0; count < 10; count += 1) {
        const client = await s.gateway.client();
        const headers = { 'content-type': 'application/json', ...bearer(s.gateway.key) };
        await client.send({
          path: format.path,
          headers,
          body: JSON.stringify(format.request({ stream: true })),
        });
        const request = await s.upstream.request(count);
        client.destroy();
        await request.closed;
      }
      // Long enough for a connection that would be opened in place of the closed one.
      await delay(300);
      assert.equal(s.upstream.connections() - before, 10);
    });
  }

  it('leaves nothing open in the gateway', async () => {
    const openSockets = async () => {
      const sets = await Promise.all((await s.gateway.pids()).map(socketsOf));
      return sets.reduce((sum, { size }) => sum + size, 0);
    };
    s.upstream.always(open(), hang());
    await s.upstream.dropConnections();
    await waitFor('the gateway to close its ends', async () => {
      const open = (await kernelSockets())?.filter(
        ({ inode, remotePort }) => inode !== 0 && remotePort === s.upstream.port,
      );
      return (open ?? []).length === 0;
    });
    const before = await openSockets();
    const clients = await Promise.all(Array.from({ length: 40 }, () => s.gateway.client()));
    for (const client of clients) {
      const headers = { 'user-agent': 'many', ...bearer(s.gateway.key) };
      await client.send({ path: chat.path, headers, body: JSON.stringify(chat.request({ stream: true })) });
    }
    await s.upstream.request(39);
    const during = await openSockets();
    assert.ok(during >= before + 80, `${before} sockets, then ${during}`);
    for (const client of clients) client.destroy();
    await waitFor('all sockets to be closed', async () => (await openSockets()) <= before);
    await rowsOf('many', 40);
  });
});

function moment(name: string): Moment {
  const found = moments[name];
  assert.ok(found, name);
  return found;
}

async function closedAfter(request: SeenRequest, since: number): Promise<number> {
  await request.closed;
  return (request.closedAt ?? Number.NaN) - since;
}
