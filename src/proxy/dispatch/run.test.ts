import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answers,
  fails,
  outcomeOf,
  refused,
  request,
  role,
  type Script,
  silent,
  streams,
  whole,
  word,
} from '../../../test/support/routing/proxy-run.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import { GatewayError } from '../../lib/error.ts';

describe('the loop of attempts', () => {
  const table: readonly {
    name: string;
    scripts: Record<string, Script[]>;
    stream?: boolean;
    targets: string;
    status: number;
    outcome: LedgerEntry['outcome'];
    code: string | null;
    attempts: readonly string[];
  }[] = [
    {
      name: 'a whole answer',
      scripts: { a: [whole], b: [] },
      targets: 'a',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['answered'],
    },
    {
      name: 'a refused connection is tried once more on a new socket, then elsewhere',
      scripts: { a: [refused, refused], b: [whole] },
      targets: 'aab',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['failed', 'failed', 'answered'],
    },
    {
      name: 'an upstream that is busy',
      scripts: { a: [fails(503)], b: [whole] },
      targets: 'ab',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['failed', 'answered'],
    },
    {
      name: 'a rate limit',
      scripts: { a: [fails(429, { 'retry-after': '9' })], b: [whole] },
      targets: 'ab',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['failed', 'answered'],
    },
    {
      name: 'what is wrong with the request is nobody else’s to answer',
      scripts: {
        a: [answers(400, { error: { message: 'no such field', type: 'invalid_request_error' } })],
        b: [],
      },
      targets: 'a',
      status: 400,
      outcome: 'failed',
      code: 'upstream_error',
      attempts: ['failed'],
    },
    {
      name: 'a stream that breaks off before its first content goes elsewhere',
      scripts: { a: [streams('cut', role)], b: [streams('ends', role, word, 'data: [DONE]\n\n')] },
      stream: true,
      targets: 'ab',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['failed', 'answered'],
    },
    {
      name: 'a stream that breaks off after its first content ends there',
      scripts: { a: [streams('cut', role, word)], b: [] },
      stream: true,
      targets: 'a',
      status: 200,
      outcome: 'failed',
      code: 'upstream_cut',
      attempts: ['failed'],
    },
    {
      name: 'a stream whose upstream reports an error before any content goes elsewhere',
      scripts: {
        a: [streams('ends', 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n')],
        b: [streams('ends', role, word, 'data: [DONE]\n\n')],
      },
      stream: true,
      targets: 'ab',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['failed', 'answered'],
    },
  ];
  for (const { targets, attempts, code, name, outcome, scripts, status, stream = false } of table)
    it(name, async () => {
      const ended = await outcomeOf(request(scripts, { stream }));
      assert.deepEqual(
        {
          targets: ended.targets.join(''),
          status: ended.sink.status,
          outcome: ended.entry.outcome,
          code: ended.entry.errorCode,
          attempts: ended.attempts.map((attempt) => attempt.outcome),
        },
        { targets, status, outcome, code, attempts },
      );
      assert.equal(ended.entry.attempts, attempts.length);
      assert.equal(
        ended.accounts.inFlight('id-a') + ended.accounts.inFlight('id-b'),
        0,
        'nothing is left in flight',
      );
    });

  it('answers with the most useful failure when no target is left', async () => {
    const ended = await outcomeOf(
      request({ a: [fails(429, { 'retry-after': '7' })], b: [fails(500), fails(500), fails(500)] }),
    );
    assert.deepEqual(
      [ended.targets.join(''), ended.sink.status, ended.entry.outcome],
      ['abbb', 429, 'failed'],
    );
  });

  it('names what was dropped for the target that answered, not for another one', async () => {
    const { entry, sent } = await outcomeOf(
      request(
        { a: [fails(500)], b: [whole] },
        { providers: { a: 'anthropic-compatible' }, fields: { mood: 'calm' } },
      ),
    );
    assert.deepEqual(
      sent.map(({ body, name }) => [name, body.includes('calm')]),
      [
        ['a', false],
        ['b', true],
      ],
    );
    assert.deepEqual(entry.dropped, []);
  });

  it('reports the failure to the account', async () => {
    const { accounts } = await outcomeOf(request({ a: [fails(429, { 'retry-after': '7' })], b: [whole] }));
    assert.equal(accounts.conditionsOf('id-a').length, 1);
    assert.deepEqual(accounts.conditionsOf('id-b'), []);
  });

  for (const [phase, script, status] of [
    ['before the head', silent, null],
    ['between the head and the first content', streams('silent', role), null],
    ['after the first content', streams('silent', role, word), 200],
  ] as const) {
    it(`records a client that leaves ${phase}, and aborts the upstream request`, async () => {
      const running = request({ a: [script], b: [] }, { stream: true });
      await running.begun;
      assert.equal(running.watch.members().length, 1);
      running.sink.leave();
      const { targets, attempts, entry, sink } = await outcomeOf(running);
      assert.deepEqual([targets.join(''), entry.status, entry.outcome], ['a', 499, 'aborted']);
      assert.deepEqual([sink.status, attempts.map(({ outcome }) => outcome)], [status, ['aborted']]);
    });

    it(`ends a request ${phase} when the gateway stops`, async () => {
      const running = request({ a: [script], b: [] }, { stream: true });
      await running.begun;
      const [call] = running.watch.members();
      call?.interrupt(new GatewayError('shutting_down', 'The gateway is shutting down'));
      const { entry, sink } = await outcomeOf(running);
      assert.deepEqual([entry.outcome, entry.errorCode], ['failed', 'shutting_down']);
      assert.equal(sink.status, status ?? 503);
      assert.match(sink.text, /shutting down/);
    });
  }

  it('times out an upstream that sends no head', async () => {
    const running = request({ a: [silent, silent], b: [whole] });
    await running.begun;
    const [call] = running.watch.members();
    call?.tick(600_001);
    const { targets, attempts } = await outcomeOf(running);
    assert.equal(targets.join(''), 'ab');
    assert.equal(attempts[0]?.error?.code, 'upstream_timeout');
  });
});
