import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { clients, fleet, healthy, preambleFor } from '../../support/gateway/fleet.ts';
import { chunk, fin, json, open, resetNow, type Step, stream } from '../../support/upstream/steps.ts';
import type { SeenRequest } from '../../support/upstream/upstream.ts';

const REQUESTS = 2_000;
const AT_ONCE = 16;
const FAILING = 0.3;

/** Mulberry32: the same failures in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const failures: readonly ((request: SeenRequest) => readonly Step[])[] = [
  () => [json(500, { error: { message: 'oh' } })],
  () => [json(503, { error: { message: 'too many' } })],
  () => [json(429, { error: { message: 'slow down' } })],
  () => [resetNow()],
  (request) => [open(), chunk(preambleFor(request)), fin()],
  (request) => [
    stream(
      `${preambleFor(request)}data: ${JSON.stringify({ error: { message: 'oh', type: 'server_error' } })}\n\n`,
    ),
  ],
];

/** How often the text of the healthy answer stands in a reply: once is right. */
function timesAnswered({ text }: Reply): number {
  // The format of responses repeats at its end what it said.
  return text.split(text.includes('output_text.delta') ? '"delta":"wörld' : 'wörld').length - 1;
}

describe('three upstreams of which each fails three times in ten', () => {
  const at = fleet(3);
  before(() => at.connectAll('openai-compatible'));

  it(`answer ${REQUESTS} clients: 99.9 % at least, and none of them twice`, async (test) => {
    const random = seeded(20261121);
    const broken = { count: 0 };
    for (const upstream of at.upstreams) {
      upstream.respond((request) => {
        if (random() >= FAILING) return healthy(request);
        broken.count += 1;
        return failures[Math.floor(random() * failures.length)]?.(request) ?? [];
      });
    }
    const asked = Object.values(clients);
    const replies: Reply[] = [];
    let next = 0;
    const ask = async () => {
      while (next < REQUESTS) {
        const asking = asked[next % asked.length];
        next += 1;
        assert.ok(asking);
        const { body, path } = asking('openai-compatible/m-1', at.gateway.key);
        replies.push(await at.gateway.ask(path, body));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    assert.equal(replies.length, REQUESTS);
    const failed = replies.filter(({ status }) => status !== 200);
    assert.ok(failed.length <= REQUESTS / 1000, `${failed.length} failed: ${failed[0]?.text}`);
    const wrong = replies.filter((reply) => reply.status === 200 && timesAnswered(reply) !== 1);
    assert.deepEqual(
      wrong.map(({ text }) => text),
      [],
    );
    assert.ok(broken.count > REQUESTS / 10, `the upstreams did fail: ${broken.count} times`);
    test.diagnostic(`${failed.length} of ${REQUESTS} failed; ${broken.count} attempts did`);
    const attempts = replies.map((reply) => Number(reply.header('x-gateway-attempts')));
    assert.ok(attempts.some((count) => count > 1));
  });
});
