import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EventConfig } from '../../config/config.ts';
import { decodeConfig } from '../../config/decode.ts';
import { channelKey } from '../channel-pool.ts';
import { sourcesOfChannel } from './source-identity.ts';

function configOf(sources: readonly { unique_id: string; kind: string; name?: string }[]): EventConfig {
  const channels = ['a', 'b'].map((id) => ({ unique_id: id, url: 'sqlite:', mq_topic_name: id }));
  const message = { components: { channels, sources: sources.map((ref) => ({ ref })) } };
  const decoded = decodeConfig({ format: 'text', text: JSON.stringify(message) });
  assert.ok(decoded.ok, JSON.stringify(decoded));
  return decoded.config;
}

const config = configOf([
  { unique_id: 'gw', kind: 'gateway' },
  { unique_id: 'shop', kind: 'http', name: '/shop/orders' },
  { unique_id: '/shop/orders', kind: 'http', name: 'other' },
  { unique_id: 'rest', kind: 'channel', name: 'b' },
]);

function sourceIn(channel: string, source: string, eventsourceid?: string, dlreason?: string): string | null {
  const { [channel]: found } = Object.fromEntries(config.channels);
  assert.ok(found);
  const attributes = { specversion: '1.0', id: '1', type: 't', source, eventsourceid, dlreason } as const;
  return sourcesOfChannel(config, channelKey(found))({ attributes, data: null });
}

describe('the source of an event', () => {
  it('is the one that this gateway published it for', () => {
    assert.equal(sourceIn('a', '/gateway/requests', 'gw'), 'gw');
    assert.equal(sourceIn('b', '/shop/orders', 'gw'), 'gw');
  });

  it('for events of others, is the source with the given id before the one with the name', () => {
    assert.equal(sourceIn('a', 'shop'), 'shop');
    assert.equal(sourceIn('a', '/shop/orders'), '/shop/orders');
    assert.equal(sourceIn('a', 'other'), '/shop/orders');
    assert.equal(sourceIn('a', 'shop', 'a gateway elsewhere'), 'shop');
  });

  it('is otherwise the one whose channel it is, or none', () => {
    assert.equal(sourceIn('b', '/unknown'), 'rest');
    assert.equal(sourceIn('b', '/unknown', 'a gateway elsewhere'), 'rest');
    assert.equal(sourceIn('a', '/unknown'), null);
    assert.equal(sourceIn('a', 'b'), null);
  });

  it('for a dead letter, is the source of its channel before that of the event', () => {
    assert.equal(sourceIn('b', '/gateway/requests', 'gw', 'exhausted'), 'rest');
    assert.equal(sourceIn('a', '/gateway/requests', 'gw', 'exhausted'), 'gw');
  });
});
