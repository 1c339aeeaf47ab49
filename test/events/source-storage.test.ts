import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RunningGateway, startGateway, waitFor } from '../support/gateway/gateway.ts';
import { type S3Stub, startS3 } from '../support/servers/s3.ts';

/** Events that were accepted while no channel took them, and a gateway that is killed. */

describe('the storage of a source', () => {
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(`${request.url?.slice(1)} ${request.headers['ce-id']}`);
    request.resume();
    response.writeHead(204).end();
  });
  let s3: S3Stub;
  let gateway: RunningGateway;
  let url = '';
  before(async () => {
    s3 = await startS3();
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    gateway = await startGateway({
      env: {
        EVENTS_DFS_URL: `s3://bucket/events?endpoint=${encodeURIComponent(s3.url)}`,
        AWS_ACCESS_KEY_ID: 'stub-key',
        AWS_SECRET_ACCESS_KEY: 'stub-secret',
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    receiver.closeAllConnections();
    receiver.close();
    s3?.close();
  });

  const configuration = (channel: string) => `components:
  channels:
    - {unique_id: main, url: "${channel}", mq_topic_name: main}
  sources:
    - ref: {unique_id: waits, kind: http}
    - ref: {unique_id: hurries, kind: http}
    - ref: {unique_id: far, kind: http}
  triggers:
    - ref: {unique_id: waits-hook, kind: http, name: "${url}/waits"}
    - ref: {unique_id: hurries-hook, kind: http, name: "${url}/hurries"}
    - ref: {unique_id: far-hook, kind: http, name: "${url}/far"}
strategy:
  source_strategies:
    - {event_source_id: waits, fault_tolerant_storage: {persistence_type: LFS}}
    - {event_source_id: hurries, async_send: true, fault_tolerant_storage: {persistence_type: LFS}}
    - {event_source_id: far, async_send: true, fault_tolerant_storage: {persistence_type: DFS}}
router_rules:
  routers:
    - {source_id: waits, trigger_id: waits-hook, channel_id: main}
    - {source_id: hurries, trigger_id: hurries-hook, channel_id: main}
    - {source_id: far, trigger_id: far-hook, channel_id: main}
`;

  const configure = (channel: string) =>
    writeFileSync(join(gateway.dataDir, 'events.yaml'), configuration(channel));
  /** Sends events with these ids for a source. @returns what came of each */
  const send = async (source: string, ids: readonly number[]): Promise<string[]> => {
    const { key } = JSON.parse(readFileSync(join(gateway.dataDir, 'run.json'), 'utf8'));
    const events = ids.map((id) => ({ specversion: '1.0', id: String(id), source, type: 't' }));
    const reply = await gateway.send({
      method: 'POST',
      path: `/api/events?source=${source}`,
      headers: {
        host: `127.0.0.1:${gateway.port}`,
        'x-auth-token': key,
        'content-type': 'application/cloudevents-batch+json',
      },
      body: JSON.stringify(events),
    });
    if (reply.status !== 202) return [reply.text];
    return (reply.json()['events'] as { outcome: string }[]).map(({ outcome }) => outcome);
  };
  const of = (source: string) =>
    received.filter((one) => one.startsWith(`${source} `)).map((one) => Number(one.split(' ')[1]));

  it('has every event after a kill that it accepted while its channel was down, and sends each', async () => {
    configure('redis://127.0.0.1:9');
    const expected = { waits: 'spooled', hurries: 'accepted', far: 'accepted' };
    for (const [source, outcome] of Object.entries(expected))
      await waitFor(`the source ${source}`, async () => (await send(source, [0]))[0] === outcome);
    const ids = Array.from({ length: 12 }, (_, index) => index + 1);
    for (const [source, outcome] of Object.entries(expected))
      for (const id of ids) assert.deepEqual(await send(source, [id]), [outcome]);
    await gateway.kill();
    configure('sqlite:');
    await gateway.restart();
    for (const source of Object.keys(expected)) {
      await waitFor(`the events of ${source}`, () => ids.every((id) => of(source).includes(id)));
      assert.deepEqual(
        of(source).filter((id) => id > ids.length),
        [],
        'and no others',
      );
    }
    for (const source of Object.keys(expected)) assert.deepEqual(await send(source, [100]), ['accepted']);
    for (const source of Object.keys(expected))
      await waitFor('the next event', () => of(source).includes(100));
  });
});
