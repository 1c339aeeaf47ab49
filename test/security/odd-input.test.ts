import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../support/machine/properties.ts';
import { firstResult, managed, refused } from '../support/management/management.ts';

/** What a collection makes of input that nobody in their right mind sends. */
describe('collections with unusual input', () => {
  const at = managed();
  const get = (query: string) => at.call('GET', `/api/keys${query}`, { token: at.admin.token });
  const post = (path: string, body: unknown) => at.call('POST', path, { token: at.admin.token, body });
  const count = async () => Number((await get('')).json()['count']);

  it('SC-36 are safe from prototype pollution', async () => {
    const bodies = [
      '{"__proto__":{"name":"x"}}',
      '{"name":"x","__proto__":{"models":null}}',
      '{"constructor":{"prototype":{"x":1}}}',
      '{"name":"x","constructor":1}',
      '{"action":"create","resource":{"__proto__":{"name":"x"}}}',
    ];
    for (const body of bodies) refused(await post('/api/keys', body), 400, 'bad_request');
    for (const query of [
      'sort_by=__proto__',
      'expand=__proto__',
      'hide=constructor',
      'filter[__proto__]=x',
      '__proto__=x',
      'constructor=x',
    ])
      refused(await get(`?${query}`), 400, 'bad_request');
    assert.equal((await get('')).json()['name'], 'keys');
  });

  it('SC-37 accept each value in its own type only', async () => {
    for (const name of [7, true, null, ['x'], { a: 1 }, [], {}])
      refused(await post('/api/keys', { name }), 400, 'bad_request');
    for (const models of ['x', 7, { 0: 'x' }, [7], [null], [['x']]])
      refused(await post('/api/keys', { name: 'kinds', models }), 400, 'bad_request');
    for (const body of ['[]', '7', '"x"', 'null', 'true', '[{"name":7}]'])
      refused(await post('/api/keys', body), 400, 'bad_request');
    for (const query of [
      'sort_by=name&sort_by=id',
      'attributes=name&attributes=id',
      'sort_order=up',
      'sort_by=name&sort_order=asc,desc',
      'expand=everything',
      'unknown=1',
    ])
      refused(await get(`?${query}`), 400, 'bad_request');
  });

  it('SC-39 match patterns in linear time', async () => {
    const patterns = [
      '(a+)+$',
      '(a|a)*b',
      '^(([a-z])+.)+[A-Z]([a-z])+$',
      '(.*a){25}',
      'a{1,1000}{1,1000}',
      '('.repeat(500),
      '[',
      '\\',
      '(?=a)',
      'x'.repeat(1900),
    ];
    assert.equal((await post('/api/keys', { name: `${'a'.repeat(60)}!` })).status, 200);
    for (const pattern of patterns) {
      const reply = await get(`?filter[]=${encodeURIComponent(`name=~'${pattern}'`)}`);
      assert.ok(reply.status === 200 || reply.status === 400, `${pattern.slice(0, 40)}: ${reply.status}`);
    }
    const many = Array.from({ length: 500 }, () => 'filter[]=name=x').join('&');
    refused(await get(`?${many}`), 400, 'bad_request');
  });

  it('SC-41 treat every text as text', async () => {
    const evil = [
      "' OR '1'='1",
      "'; DROP TABLE keys; --",
      '" OR 1=1',
      '%',
      '*',
      '\u0000',
      '../../etc/passwd',
      '%2e%2e',
      '\r\nset-cookie: x=1',
      '$' + '{7*7}',
      '{{7*7}}',
      '\u001b[31m',
      '𝄞',
      '\ufeff',
      '<script>',
    ];
    const text = fc.oneof(fc.constantFrom(...evil), fc.string({ unit: 'binary', maxLength: 60 }));
    const before = await count();
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.constantFrom('id', 'filter', 'sort', 'attributes', 'query'),
        async (given, place) => {
          const escaped = encodeURIComponent(given.toWellFormed());
          const paths = {
            id: `/${escaped}`,
            filter: `?filter[]=${encodeURIComponent(`name='${given.toWellFormed()}'`)}`,
            sort: `?sort_by=${escaped}`,
            attributes: `?attributes=${escaped}`,
            query: `?${escaped}=${escaped}`,
          };
          const reply = await get(paths[place]);
          assert.ok(
            [200, 400, 404].includes(reply.status),
            `${place} ${JSON.stringify(given)}: ${reply.status}`,
          );
          assert.doesNotMatch(reply.text, /SQLITE|sqlite|near "/);
          assert.equal(reply.header('set-cookie'), undefined);
          if (place === 'filter' && reply.status === 200 && !/[%*]/.test(given) && !['alpha'].includes(given))
            assert.ok(Number(reply.json()['subcount']) <= 1, JSON.stringify(given));
        },
      ),
      { numRuns: 250 },
    );
    for (const name of evil) {
      const reply = await post('/api/keys', { name });
      assert.ok(reply.status === 200 || reply.status === 400, reply.text);
      if (reply.status === 200) assert.equal(firstResult(reply)['name'], name.trim());
    }
    assert.ok((await count()) >= before);
  });
});
