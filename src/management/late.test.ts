import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Stub, stub } from '../../test/support/machine/stub.ts';
import { admin } from '../../test/support/management/caller.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import { type ClosableManagement, lateManagement } from './late.ts';

/** An exchange of which only what is answered is looked at. */
function exchangeOf(): { exchange: Exchange; answer: { status: number; body: string } } {
  const answer = { status: 0, body: '' };
  const response = {
    headersSent: false,
    writeHead(status: number) {
      answer.status = status;
      this.headersSent = true;
    },
    end(bytes: Buffer) {
      answer.body = bytes.toString();
    },
  };
  return {
    exchange: stub<Exchange>({ id: 'req_1', response: response as Stub<Exchange['response']> }),
    answer,
  };
}

function open() {
  const calls: string[] = [];
  const reported: unknown[] = [];
  const loads: PromiseWithResolvers<ClosableManagement>[] = [];
  const api: ClosableManagement = stub({
    serve: async () => void calls.push('serve'),
    call: async () => ({ status: 200, body: {}, headers: {} }),
    endStreams: () => void calls.push('endStreams'),
    close: async () => void calls.push('close'),
  });
  const management = lateManagement(
    () => {
      const loading = Promise.withResolvers<ClosableManagement>();
      loads.push(loading);
      return loading.promise;
    },
    (error) => reported.push(error),
  );
  return { api, calls, loads, management, reported };
}

describe('the management API that is loaded late', () => {
  it('is loaded with its first request, once for all that come meanwhile', async () => {
    const { api, calls, loads, management } = open();
    assert.equal(loads.length, 0);
    const served = [management.serve(exchangeOf().exchange), management.serve(exchangeOf().exchange)];
    loads[0]?.resolve(api);
    await Promise.all(served);
    await management.call(admin, { method: 'GET', path: '/keys', params: new URLSearchParams() });
    assert.deepEqual([loads.length, calls], [1, ['serve', 'serve']]);
  });

  it('answers with what to do when it cannot be loaded, reports why, and tries again', async () => {
    const { api, calls, loads, management, reported } = open();
    const { answer, exchange } = exchangeOf();
    const refused = [management.serve(exchange), management.guard(exchangeOf().exchange)];
    const cause = new Error('Cannot find module');
    loads[0]?.reject(cause);
    const [, guarded] = await Promise.allSettled(refused);
    assert.equal(answer.status, 500);
    assert.match(answer.body, /restart the gateway/);
    assert.ok(guarded?.status === 'rejected' && guarded.reason instanceof GatewayError);
    assert.deepEqual(reported, [cause]);
    const again = management.serve(exchangeOf().exchange);
    loads[1]?.resolve(api);
    await again;
    assert.deepEqual(calls, ['serve']);
  });

  it('ends streams also where it is loaded while the gateway stops, and is waited for', async () => {
    const { api, calls, loads, management } = open();
    const served = management.serve(exchangeOf().exchange);
    management.endStreams();
    const closed = management.close();
    loads[0]?.resolve(api);
    await Promise.all([served, closed]);
    assert.deepEqual(calls.toSorted(), ['close', 'endStreams', 'serve']);
  });

  it('has nothing to close when nobody asked for it', async () => {
    const { calls, loads, management } = open();
    management.endStreams();
    await management.close();
    assert.deepEqual([calls, loads.length], [[], 0]);
  });
});
