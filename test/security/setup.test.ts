import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { challenged, managed, passwordOf, refused } from '../support/management/management.ts';

describe('the first admin', () => {
  const at = managed({ noAdmin: true });
  const codeFile = () => join(at.gateway.dataDir, 'setup.code');
  const code = () => readFileSync(codeFile(), 'utf8').trim();
  const setUp = (body: unknown) => at.call('POST', '/api/setup', { body });

  it('SC-59 has no default password', async () => {
    const common = [
      ['admin', 'admin'],
      ['admin', ''],
      ['admin', 'smartvm'],
      ['admin', 'password'],
      ['root', 'root'],
    ] as const;
    for (const basic of common) challenged(await at.call('GET', '/api', { basic }));
  });

  it('SC-59 is created with a code of at least 128 bits, which only the owner of the files can read', async () => {
    assert.match(code(), /^[A-Za-z0-9_-]{22,}$/);
    assert.equal(statSync(codeFile()).mode & 0o777, 0o600);
    assert.ok(at.gateway.output().stdout.includes(code()), 'the terminal shows it');
    assert.equal(at.gateway.output().stderr.includes(code()), false, 'the log does not');
  });

  it('SC-59 until there is one, nothing answers but ping and setup', async () => {
    assert.equal((await at.call('GET', '/api/ping')).text, 'pong');
    for (const path of ['/api', '/api/auth', '/api/users', '/api/services', '/api/openapi.json', '/api/docs'])
      challenged(await at.call('GET', path));
  });

  it('SC-59 is not created by an invalid request', async () => {
    for (const body of [
      '',
      '{',
      '[]',
      '"x"',
      'null',
      { code: 1, password: 2 },
      { code: 'x' },
      { code: ['x'], password: {} },
    ])
      refused(await setUp(body), 400, 'bad_request');
    refused(await at.call('GET', '/api/setup'), 405);
    const body = { code: code(), password: passwordOf('admin') };
    refused(await at.call('POST', '/api/setup', { body, host: 'evil.example' }), 403);
    refused(await at.call('POST', '/api/setup', { body, headers: { origin: 'https://evil.example' } }), 403);
    refused(await at.call('POST', '/api/setup', { body, headers: { 'sec-fetch-site': 'cross-site' } }), 403);
  });

  it('SC-59 is not made with a weak password, and the code stays', async () => {
    for (const password of ['', 'short', 'password1', 'administrator'])
      refused(await setUp({ code: code(), password }), 400, 'bad_request');
    assert.ok(existsSync(codeFile()));
  });

  it('SC-59 the code cannot be guessed one after another', async () => {
    const statuses: number[] = [];
    for (let guess = 0; guess < 8; guess += 1)
      statuses.push((await setUp({ code: `guess-${guess}`, password: 'a new long secret' })).status);
    assert.deepEqual(new Set(statuses.slice(0, 5)), new Set([401]));
    assert.deepEqual(new Set(statuses.slice(5)), new Set([429]));
    const right = await setUp({ code: code(), password: 'a new long secret' });
    refused(right, 429, 'too_many_requests');
    assert.ok(Number(right.header('retry-after')) > 0);
    at.advance(Number(right.header('retry-after')) + 1);
  });

  it('SC-59 the code ends after an hour, and a restart makes another', async () => {
    const old = code();
    at.advance(3600);
    challenged(await setUp({ code: old, password: 'a new long secret' }));
    await at.gateway.kill();
    await at.gateway.restart();
    assert.notEqual(code(), old);
    challenged(await setUp({ code: old, password: 'a new long secret' }));
  });

  it('SC-59 of ten concurrent requests with the code, one creates the admin', async () => {
    const held = code();
    const passwords = Array.from({ length: 10 }, (_, index) => `secret of number ${index}`);
    const replies = await Promise.all(passwords.map((password) => setUp({ code: held, password })));
    const done = replies.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    assert.equal(done.length, 1, replies.map(({ status }) => status).join());
    await at.login('admin', passwords[done[0] ?? 0]);
    assert.equal(existsSync(codeFile()), false, 'the code is gone');
    refused(await setUp({ code: held, password: 'a new long secret' }), 409, 'conflict');
    await at.gateway.kill();
    await at.gateway.restart();
    assert.equal(existsSync(codeFile()), false, 'there is no code any more');
  });
});
