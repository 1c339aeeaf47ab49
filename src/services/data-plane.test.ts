import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { stub } from '../../test/support/machine/stub.ts';
import type { AnyExchange } from '../http/exchange.ts';
import type { GatewayError } from '../lib/error.ts';
import { createDataPlane, type DataPlane } from './data-plane.ts';

interface OpenRequest {
  exchange: Pick<AnyExchange, 'response'>;
  leave(): void;
  cut(): boolean;
}

function openRequest(): OpenRequest {
  const events = new EventEmitter();
  let cut = false;
  const resetAndDestroy = () => {
    cut = true;
    events.emit('close');
  };
  const response = stub<AnyExchange['response']>({
    on: (event, listener) => events.on(event, listener),
    socket: { resetAndDestroy },
  });
  return {
    exchange: { response },
    leave: () => void events.emit('close'),
    cut: () => cut,
  };
}

function opened(running = true) {
  const messages: string[] = [];
  const interrupted: GatewayError[] = [];
  const calls = [{ slot: 0, tick() {}, interrupt: (error: GatewayError) => interrupted.push(error) }];
  const plane: DataPlane = createDataPlane({
    running,
    calls: () => calls,
    now: () => 1000,
    onChange: () => messages.push(plane.status().state),
  });
  return { plane, messages, interrupted };
}

describe('the data plane', () => {
  it('counts open requests, and stops when the last has ended', async () => {
    const { interrupted, plane, messages } = opened();
    const [one, two] = [openRequest(), openRequest()];
    plane.gate(one.exchange);
    plane.gate(two.exchange);
    assert.equal(plane.openRequests(), 2);
    const stopped = plane.stop(60_000, false);
    assert.equal(plane.status().state, 'draining');
    assert.equal(plane.status().desired, 'stopped');
    assert.throws(() => plane.gate(openRequest().exchange), {
      code: 'data_plane_stopped',
      status: 503,
      retryAfter: 30,
    });
    one.leave();
    await delay(5);
    assert.equal(plane.status().state, 'draining');
    two.leave();
    assert.deepEqual(await stopped, { interrupted: 0 });
    assert.deepEqual(interrupted, []);
    assert.deepEqual([plane.status().state, plane.status().startedAt], ['stopped', null]);
    plane.start();
    plane.gate(openRequest().exchange);
    assert.deepEqual(messages, ['draining', 'stopped', 'running']);
  });

  it('ends open requests in their dialect, and cuts off those without one', async () => {
    const { interrupted, plane } = opened();
    const left = openRequest();
    plane.gate(left.exchange);
    assert.deepEqual(await plane.stop(10, false), { interrupted: 1 });
    assert.deepEqual(
      interrupted.map(({ code }) => code),
      ['data_plane_stopped'],
    );
    assert.equal(left.cut(), true);
    assert.equal(plane.openRequests(), 0);
  });

  it('announces that it comes back when it is restarted', async () => {
    const { plane } = opened();
    const open = openRequest();
    plane.gate(open.exchange);
    const stopped = plane.stop(60_000, true);
    assert.equal(plane.status().desired, 'running');
    assert.throws(() => plane.gate(openRequest().exchange), { retryAfter: 5 });
    open.leave();
    await stopped;
    plane.start();
    assert.deepEqual([plane.status().state, plane.status().reason], ['running', null]);
  });

  it('stays stopped when it is opened as stopped', () => {
    const { plane, messages } = opened(false);
    assert.throws(() => plane.gate(openRequest().exchange), { code: 'data_plane_stopped' });
    plane.start();
    plane.start();
    assert.deepEqual(messages, ['running']);
  });
});
