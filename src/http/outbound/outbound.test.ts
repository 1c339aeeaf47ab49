import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { buildConnector } from 'undici';
import { outboundConnector } from './connector.ts';
import { guardedLookup, hostRefusal, outboundRefusal } from './outbound.ts';

const nowhere = () => null;

/** Every way in which a URL may spell an address, as URL parsers read it. */
const hostOf = (spelling: string) => new URL(`http://${spelling}/`).hostname;

describe('an address that requests may not go to', () => {
  it('is one where clouds provide credentials, in every spelling', () => {
    for (const spelling of [
      '169.254.169.254',
      '2852039166',
      '0xa9fea9fe',
      '0251.0376.0251.0376',
      '169.254.43518',
      '169.254.0.1',
      '[::ffff:169.254.169.254]',
      '[::ffff:a9fe:a9fe]',
      '[::169.254.169.254]',
      '[64:ff9b::169.254.169.254]',
      '[2002:a9fe:a9fe::1]',
      '[fe80::1]',
      '[febf::1]',
      '[fd00:ec2::254]',
      '[FD00:0EC2:0:0::254]',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      'metadata.google.internal',
      'METADATA.google.internal.',
      'metadata',
    ])
      assert.notEqual(hostRefusal(hostOf(spelling), 80, nowhere), null, spelling);
  });

  it('is not one of a private network, where model servers run', () => {
    for (const spelling of [
      '127.0.0.1',
      'localhost',
      '10.0.0.5',
      '192.168.1.20',
      '172.16.0.9',
      '100.64.0.1',
      '[::1]',
      '[fd12::1]',
      '0.0.0.0',
      'gpu.lan',
      'host.docker.internal',
      'api.openai.com',
      '169.253.255.255',
      '169.255.0.1',
      '[fec0::1]',
      '[64:ff9b::8.8.8.8]',
    ])
      assert.equal(
        hostRefusal(hostOf(spelling), 11_434, () => ({ host: '127.0.0.1', port: 20_128 })),
        null,
        spelling,
      );
  });

  it('is one of this gateway itself', () => {
    const loopback = () => ({ host: '127.0.0.1', port: 20_128 });
    const own = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      'localhost',
      'LOCALHOST.',
      '[::1]',
      '0.0.0.0',
      '0',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[0:0:0:0:0:0:0:1]',
    ];
    for (const spelling of own) {
      assert.notEqual(hostRefusal(hostOf(spelling), 20_128, loopback), null, spelling);
      assert.equal(hostRefusal(hostOf(spelling), 20_129, loopback), null, spelling);
    }
    const everywhere = () => ({ host: '0.0.0.0', port: 20_128 });
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    assert.ok(addresses.length > 0);
    for (const { address } of addresses)
      assert.notEqual(outboundRefusal(address, 20_128, everywhere), null, address);
    assert.equal(outboundRefusal('203.0.113.9', 20_128, everywhere), null);
    const one = () => ({ host: '192.168.1.2', port: 20_128 });
    assert.notEqual(outboundRefusal('192.168.1.2', 20_128, one), null);
    assert.equal(outboundRefusal('127.0.0.1', 20_128, one), null, 'it does not listen there');
  });
});

describe('a host name', () => {
  const resolvingTo =
    (...addresses: string[]): Parameters<typeof guardedLookup>[2] =>
    (_name, _options, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );

  it('resolves to its allowed addresses, and fails if it has none', async () => {
    const resolve = (all: boolean, ...addresses: string[]) =>
      new Promise((done, failed) => {
        const lookup = guardedLookup(80, nowhere, resolvingTo(...addresses));
        lookup('name.test', { all }, (error, addresses) =>
          error === null ? done(addresses) : failed(error),
        );
      });
    assert.equal(await resolve(false, '169.254.169.254', '10.0.0.1'), '10.0.0.1');
    assert.deepEqual(await resolve(true, 'fe80::1', '10.0.0.1', '::1'), [
      { address: '10.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    await assert.rejects(resolve(true, '169.254.169.254'), { code: 'ADDRESS_REFUSED' });
    await assert.rejects(resolve(false), { code: 'ADDRESS_REFUSED' });
  });

  it('is checked again each time it is resolved', async (test) => {
    let requests = 0;
    const server = createServer(() => {
      requests += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    test.after(() => server.close());
    const { port } = server.address() as { port: number };
    let addresses = ['127.0.0.1'];
    const connect = outboundConnector({
      timeoutMs: 2000,
      listening: () => ({ host: '127.0.0.1', port: port + 1 }),
      lookup: (name, options, done) => resolvingTo(...addresses)?.(name, options, done),
    });
    const to = (hostname: string, at: number) =>
      new Promise<string>((resolve) => {
        const options = { hostname, host: hostname, protocol: 'http:', port: String(at) };
        connect(options as buildConnector.Options, (error, socket) => {
          socket?.destroy();
          resolve(error === null ? 'connected' : String((error as NodeJS.ErrnoException).code));
        });
      });
    assert.equal(await to('flip.test', port), 'connected');
    addresses = ['169.254.169.254'];
    assert.equal(await to('flip.test', port), 'ADDRESS_REFUSED');
    addresses = ['127.0.0.1'];
    assert.equal(await to('flip.test', port + 1), 'ADDRESS_REFUSED', 'the gateway itself');
    assert.equal(await to('127.0.0.1', port + 1), 'ADDRESS_REFUSED');
    assert.equal(await to('[::ffff:169.254.169.254]', port), 'ADDRESS_REFUSED');
    assert.equal(await to('127.0.0.1', port), 'connected');
    await turn();
    assert.equal(requests, 2);
  });
});
