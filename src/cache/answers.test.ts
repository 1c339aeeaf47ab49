import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AnswerCache, type CachedAnswer, createAnswerCache } from './answers.ts';
import { cacheableRequest } from './cacheable-request.ts';

function answer(bytes: number): CachedAnswer {
  const source = {
    connectionId: 'c',
    connection: 'c',
    provider: 'p',
    model: 'm',
    streamed: false,
    finishReason: null,
  };
  return { status: 200, headers: [], body: Buffer.alloc(bytes), source };
}

function opened(maxBytes = 100_000) {
  const clock = { now: 1000 };
  const cache = createAnswerCache({ maxBytes, ttlMs: 10_000, now: () => clock.now });
  return { cache, clock };
}

const usual = { ttlMs: null, fresh: false };

function put(cache: AnswerCache, key: string, bytes = 100): void {
  const lookup = cache.find(key, { ttlMs: null, fresh: true });
  assert.equal(lookup.kind, 'lead');
  if (lookup.kind === 'lead') lookup.keep(answer(bytes));
}

const holds = (cache: AnswerCache, key: string): boolean => {
  const lookup = cache.find(key, usual);
  if (lookup.kind === 'lead') lookup.keep(null);
  return lookup.kind === 'hit';
};

describe('cached answers', () => {
  it('are evicted least recently used first, and never exceed their bound', () => {
    const { cache } = opened();
    for (let index = 0; index < 200; index += 1) {
      put(cache, `k${index}`, 2_000);
      assert.ok(holds(cache, 'k0'), 'it is used all the time');
      const { bytes, max_bytes } = cache.stats();
      assert.ok(bytes <= max_bytes, `${bytes}`);
    }
    assert.equal(holds(cache, 'k1'), false);
    assert.equal(holds(cache, 'k199'), true);
    put(cache, 'large', 50_000);
    assert.equal(holds(cache, 'large'), false, 'one that is too large is not kept');
  });

  it('expire, and earlier for clients that want fresher answers', () => {
    const { cache, clock } = opened();
    put(cache, 'k');
    clock.now += 6_000;
    const fresher = cache.find('k', { ttlMs: 5_000, fresh: false });
    assert.equal(fresher.kind, 'lead');
    if (fresher.kind === 'lead') fresher.keep(null);
    assert.equal(holds(cache, 'k'), true);
    clock.now += 4_000;
    assert.equal(holds(cache, 'k'), false);
    assert.equal(cache.stats().entries, 0);
  });

  it('are awaited by identical requests, whatever the outcome', async () => {
    const { cache } = opened();
    const lead = cache.find('k', usual);
    const [one, two] = [cache.find('k', usual), cache.find('k', usual)];
    assert.ok(lead.kind === 'lead' && one.kind === 'wait' && two.kind === 'wait');
    lead.keep(null);
    assert.deepEqual([await one.answer, await two.answer], [null, null]);
    const next = cache.find('k', usual);
    assert.equal(next.kind, 'lead', 'the next one is sent again');
    if (next.kind === 'lead') next.keep(answer(1));
    assert.deepEqual([cache.stats().coalesced, cache.stats().misses, cache.stats().hits], [2, 4, 0]);
  });
});

describe('the key of a request', () => {
  const scope = {
    keyId: 'k',
    format: 'openai-chat',
    path: '',
    requested: 'm',
    targets: ['c/m'],
    headers: [],
  };
  const keyOf = (body: unknown, more: Partial<typeof scope> = {}) =>
    cacheableRequest({ ...scope, ...more }, [Buffer.from(JSON.stringify(body))])?.key;

  it('is the same for the same meaning, and different otherwise', () => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'a' }], top: { x: 1, y: [1, 2] } };
    const turned = {
      top: { y: [1, 2], x: 1 },
      messages: [{ content: 'a', role: 'user' }],
      model: 'm',
      user: 'u',
    };
    assert.equal(keyOf(body), keyOf(turned));
    const others = [
      keyOf({ ...body, top: { x: 1, y: [2, 1] } }),
      keyOf({ ...body, messages: [] }),
      keyOf(body, { keyId: 'other' }),
      keyOf(body, { format: 'other' }),
      keyOf(body, { requested: 'other' }),
      keyOf(body, { targets: ['c/m', 'd/m'] }),
      keyOf(body, { path: 'other' }),
    ];
    assert.equal(new Set([keyOf(body), ...others]).size, 8);
  });

  it('distinguishes numbers that a double cannot', () => {
    const keyOfText = (text: string) => cacheableRequest(scope, [Buffer.from(text)])?.key;
    const [one, other] = ['789', '788'].map(
      (end) => `{"model":"m","top":{"y":1.0,"x":1234567890123456${end}}}`,
    );
    assert.notEqual(keyOfText(one ?? ''), keyOfText(other ?? ''));
    assert.equal(keyOfText(one ?? ''), keyOfText('{"top":{"x":1234567890123456789,"y":1.0},"model":"m"}'));
  });

  it('does not exist for a body that is not a JSON object', () => {
    for (const text of ['', '[]', '"a"', '{', '1.0'])
      assert.equal(cacheableRequest(scope, [Buffer.from(text)]), null);
  });
});
