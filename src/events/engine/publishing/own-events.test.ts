import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settled } from '../../../../test/support/machine/fake-clock.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import { createOwnEvents } from './own-events.ts';
import type { Publisher, PublishResult } from './publisher.ts';

const event = (id: string, bytes = 0): CloudEvent => ({
  attributes: { specversion: '1.0', id, source: '/test', type: 't' },
  data: Buffer.alloc(bytes),
});
const accepted: PublishResult = { kind: 'accepted' };

function setUp(answer: (id: string) => PublishResult | Promise<PublishResult>) {
  const dropped: string[] = [];
  const published: string[] = [];
  const drops = { add: (where: string, reason: string) => void dropped.push(`${where}: ${reason}`) };
  const publisher = {
    async publish({ attributes: { id } }: CloudEvent) {
      published.push(id);
      return answer(id);
    },
  } as Publisher;
  const own = createOwnEvents(drops);
  own.replacePublishers([publisher]);
  return { own, dropped, published };
}

describe('own events', () => {
  it('are published asynchronously, in order', async () => {
    const { own, published } = setUp(() => accepted);
    for (const id of ['1', '2', '3']) own.emit(event(id));
    assert.deepEqual(published, []);
    await settled();
    assert.deepEqual(published, ['1', '2', '3']);
    assert.deepEqual(own.status(), { emitted: 3, dropped: 0, waiting: 0 });
  });

  it('are dropped beyond a limit while nothing can be published', async () => {
    let release = (_: PublishResult) => {};
    const hanging = new Promise<PublishResult>((resolve) => {
      release = resolve;
    });
    const { dropped, own } = setUp(() => hanging);
    for (let index = 0; index < 20; index += 1) own.emit(event(String(index), 1_000_000));
    assert.deepEqual(own.status(), { emitted: 20, dropped: 4, waiting: 16 });
    for (let index = 0; index < 10_100; index += 1) own.emit(event(String(index)));
    assert.equal(own.status().waiting, 10_000);
    assert.equal(dropped.length, own.status().dropped);
    assert.equal(dropped.at(-1), 'own events: 10000 events wait to be published');
    release(accepted);
    await settled();
    assert.equal(own.status().waiting, 0);
    own.emit(event('again'));
    assert.equal(own.status().waiting, 1);
  });

  it('are counted when they are not accepted', async () => {
    const answers: PublishResult[] = [
      { kind: 'dropped' },
      { kind: 'rejected', reason: 'unavailable', retryAfterMs: null },
      { kind: 'spooled' },
    ];
    const { own } = setUp((id) => answers[Number(id)] ?? accepted);
    for (const id of ['0', '1', '2', '3']) own.emit(event(id));
    await settled();
    assert.equal(own.status().dropped, 2);
  });

  it('are awaited on close, and refused afterwards', async () => {
    const { own, published } = setUp(() => accepted);
    own.emit(event('1'));
    await own.close(60_000);
    assert.deepEqual(published, ['1']);
    own.emit(event('2'));
    await settled();
    assert.deepEqual(published, ['1']);
    const { own: stuck } = setUp(() => new Promise(() => {}));
    stuck.emit(event('1'));
    await stuck.close(1);
  });
});
