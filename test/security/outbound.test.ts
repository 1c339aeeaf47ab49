import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { chat, messages } from '../support/formats/formats.ts';
import { settledRows } from '../support/gateway/gateway.ts';
import { firstResult, managed, refused } from '../support/management/management.ts';
import { body, head, json, type Step } from '../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../support/upstream/upstream.ts';

const MEBIBYTE = 1024 * 1024;

describe('outbound requests of the gateway', () => {
  const at = managed();
  const up: { stream?: Upstream } = {};
  const upstream = (): Upstream => {
    assert.ok(up.stream);
    return up.stream;
  };
  const make = (base_url: string, name = 'tried') =>
    at.call('POST', '/api/connections', {
      token: at.admin.token,
      body: { provider: 'openai-compatible', name, base_url, api_key: 'upstream-secret' },
    });
  const made = async (base_url: string, name: string) => {
    const reply = await make(base_url, name);
    assert.equal(reply.status, 200, reply.text);
    return `/api/connections/${firstResult(reply)['id']}`;
  };
  const act = (path: string, action: string) =>
    at.call('POST', path, { token: at.admin.token, body: { action } });
  const ask = (model: string) => at.gateway.ask(chat.path, chat.request({ model }));

  before(async () => {
    up.stream = await startUpstream();
  });
  after(() => up.stream?.close());

  it('SC-52 reach neither the gateway itself nor cloud metadata addresses', async () => {
    const { port } = at.gateway;
    for (const url of [
      'http://169.254.169.254/latest/meta-data',
      'http://2852039166',
      'http://[::ffff:169.254.169.254]/v1',
      'http://[fe80::1]',
      'http://[fd00:ec2::254]',
      'http://100.100.100.200',
      'http://metadata.google.internal',
      `http://127.0.0.1:${port}`,
      `http://127.0.0.1:${port}/v1`,
      `http://localhost:${port}`,
      `http://0.0.0.0:${port}`,
      `http://[::1]:${port}`,
      `http://2130706433:${port}`,
      'file:///etc/passwd',
      'gopher://127.0.0.1',
      'ftp://127.0.0.1',
      'http://user:password@127.0.0.1',
      'javascript:alert(1)',
      '//169.254.169.254',
    ]) {
      const reply = await make(url);
      refused(reply, 400, 'bad_request');
      assert.equal(reply.json()['param'], 'base_url', url);
    }
    const path = await made('http://127.0.0.1:9', 'harmless');
    const edit = (base_url: string) =>
      at.call('PATCH', path, { token: at.admin.token, body: { base_url, api_key: 'x' } });
    refused(await edit('http://169.254.169.254'), 400, 'bad_request');
    refused(await edit(`http://127.0.0.1:${port}`), 400, 'bad_request');
    const byCommand = await at.gateway.cli(
      'provider',
      'add',
      'openai-compatible',
      '--name',
      'meta',
      '--base-url',
      'http://169.254.169.254',
    );
    assert.notEqual(byCommand.code, 0);
  });

  it('SC-52 are checked again when a name is resolved, for requests and for tests', async () => {
    const { port } = upstream();
    upstream().always(json(200, chat.answer()));
    at.resolve({ 'flip.test': '127.0.0.1', 'own.test': '127.0.0.1' });
    const path = await made(`http://flip.test:${port}`, 'flip');
    assert.equal((await ask('flip/m-1')).status, 200, 'a machine in the own network is asked');
    await upstream().dropConnections();
    for (const address of ['169.254.169.254', 'fe80::1', '::ffff:169.254.169.254']) {
      at.resolve({ 'flip.test': address });
      const reply = await ask('flip/m-1');
      assert.equal(reply.status, 502, reply.text);
      assert.match(reply.text, /ADDRESS_REFUSED/);
      assert.match((await act(path, 'test')).text, /nothing is sent to flip\.test/);
    }
    at.resolve({ 'own.test': '127.0.0.1' });
    const own = await made(`http://own.test:${at.gateway.port}`, 'own');
    const entries = await settledRows(at.gateway);
    assert.match((await ask('own/own/m-1')).text, /ADDRESS_REFUSED/);
    assert.match((await act(own, 'test')).text, /this gateway's own/);
    assert.equal(await settledRows(at.gateway), entries + 2, 'it did not ask itself');
  });

  it('SC-52 and SC-53 follow no redirects', async () => {
    const elsewhere = await startUpstream();
    try {
      elsewhere.always(json(200, chat.answer()));
      const path = await made(upstream().url, 'moved');
      for (const status of [301, 302, 303, 307, 308]) {
        upstream().always(head(status, { location: `${elsewhere.url}/v1`, 'content-length': '0' }));
        const reply = await ask('moved/m-1');
        assert.equal(reply.status, 502, `${status}: ${reply.text}`);
        assert.equal(reply.header('location'), undefined);
        assert.match((await act(path, 'test')).text, /"valid":false/);
        at.advance(10);
      }
      assert.equal(elsewhere.connections(), 0);
    } finally {
      await elsewhere.close();
    }
  });

  it('SC-53 read a bounded part of an endless answer', async () => {
    const piece = Buffer.alloc(MEBIBYTE, ' ');
    let sent = 0;
    const endless: Step = async (turn) => {
      await head(200, { 'content-type': 'application/json' })(turn);
      while (await turn.write(piece)) sent += 1;
    };
    const path = await made(upstream().url, 'endless');
    upstream().always(endless);
    const before = await at.gateway.residentBytes();
    const tested = await act(path, 'test');
    assert.match(tested.text, /larger than any list of models/);
    assert.ok(sent < 64, `${sent} MiB were taken`);
    const growth = (await at.gateway.residentBytes()) - before;
    assert.ok(growth < 150 * MEBIBYTE, `${growth} bytes more`);
  });

  it('SC-53 read a bounded part of an answer that expands', async () => {
    const bomb = gzipSync(Buffer.alloc(300 * MEBIBYTE, ' '), { level: 9 });
    await made(upstream().url, 'bomb');
    const before = await at.gateway.residentBytes();
    for (const format of [chat, messages]) {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      upstream().always(body(200, bomb, headers));
      const client = await at.gateway.client();
      await client.send({
        path: format.path,
        headers: { authorization: `Bearer ${at.gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(format.request({ model: 'bomb/m-1' })),
      });
      const reply = await client.open();
      // Unpacked, it waits for a caller who does not read it, or was too much to be read as an answer.
      assert.ok(reply.status === 200 || reply.status === 502, String(reply.status));
      await delay(1000);
      const growth = (await at.gateway.residentBytes()) - before;
      assert.ok(growth < 250 * MEBIBYTE, `${format.name}: ${growth} bytes more`);
      client.destroy();
    }
  });

  it('SC-53 refuse text that is not valid UTF-8', async () => {
    await made(upstream().url, 'odd');
    for (const bytes of [
      Buffer.from([0xff, 0xfe, 0x00, 0xc0]),
      Buffer.from('{"choices":'),
      Buffer.from('<html>'),
    ])
      for (const format of [chat, messages]) {
        upstream().always(body(200, bytes, { 'content-type': 'application/json' }));
        const reply = await at.gateway.ask(format.path, format.request({ model: 'odd/m-1' }));
        assert.ok(reply.status === 200 || reply.status === 502, `${format.name}: ${reply.status}`);
        if (format === messages) assert.equal(reply.status, 502, 'what cannot be translated is an error');
      }
    assert.equal((await at.call('GET', '/readyz')).status, 200);
  });
});
