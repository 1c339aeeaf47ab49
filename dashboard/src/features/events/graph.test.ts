import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stub } from '../../../../test/support/machine/stub.ts';
import { graphOf, type Sample } from './graph.ts';
import type { EventStatus } from './queries.ts';

function sample(at: number, sent: number, delivered: number): Sample {
  const status = stub<EventStatus>({
    sources: [
      { id: 'gw', storage: null, channels: [{ channel: 'main', sent, waiting: 2, last_error: null }] },
    ],
    channels: [{ id: 'main', scheme: 'sqlite', problem: null, degraded: [] }],
    triggers: [
      {
        id: 'hook',
        paused: null,
        blocked_by: null,
        last_error: { message: 'no answer', at: '' },
        dead_letters: 3,
        delivered,
        dead_lettered: 0,
        discarded: 0,
        channels: [
          { channel: 'main', waiting: 7, problem: null },
          { channel: 'replays', waiting: 0, problem: null },
        ],
      },
    ],
  });
  return { at, status };
}

const config = {
  components: { triggers: [{ ref: { uniqueId: 'hook', kind: 'http' } }] },
  routerRules: {
    routers: [{ sourceId: 'gw', triggerId: 'hook', channelId: 'main', filter: { cesql: "type = 'a'" } }],
  },
};

describe('the graph of the event engine', () => {
  it('has sources, channels and triggers, with what leads from one to the next', () => {
    const { edges, nodes } = graphOf(sample(3000, 30, 12), sample(1000, 10, 2), config);
    assert.deepEqual(
      nodes.map(({ key, type, problem }) => [key, type, problem]),
      [
        ['source:gw', null, null],
        ['channel:main', 'sqlite', null],
        ['trigger:hook', 'http', 'no answer'],
      ],
    );
    assert.deepEqual(
      edges.map(({ from, to, rate, lag, filters }) => [from, to, rate, lag, filters]),
      [
        ['source:gw', 'channel:main', 10, 2, []],
        ['channel:main', 'trigger:hook', 5, 7, ["type = 'a'"]],
      ],
    );
  });

  it('shows no rate at the first look, nor after a counter was reset', () => {
    const rates = (before: Sample | null) =>
      graphOf(sample(3000, 5, 5), before, null).edges.map(({ rate }) => rate);
    assert.deepEqual(rates(null), [null, null]);
    assert.deepEqual(rates(sample(1000, 10, 10)), [null, null]);
  });
});
