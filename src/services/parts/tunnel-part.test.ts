import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CreatedTunnel } from '../../tunnels/tunnels.ts';
import { tunnelPart } from './tunnel-part.ts';

const running: CreatedTunnel = {
  id: 'ngrok',
  domain: null,
  desired: 'running',
  createdAt: 1000,
  state: 'running',
  url: 'https://g.ngrok.app:8443',
  changedAt: 2000,
  startedAt: 1500,
  failures: 0,
  error: null,
};

function part(change: Partial<CreatedTunnel>, probe = async (_url: string) => 200) {
  const tunnels = { start: async () => {}, stop: async () => {} };
  return tunnelPart({ tunnel: { ...running, ...change }, tunnels, probe, now: () => 3000 });
}

describe('a tunnel as a service', () => {
  it('has the state of its program', () => {
    const error = { message: 'ngrok refuses', at: 2500 };
    const cases: [Partial<CreatedTunnel>, string, string, string | undefined][] = [
      [{}, 'running', 'pass', undefined],
      [{ state: 'starting', url: null }, 'degraded', 'warn', 'It is not connected yet'],
      [{ state: 'waiting', url: null, error }, 'failed', 'fail', 'ngrok refuses'],
      [
        { state: 'stopped', url: null, desired: 'stopped' },
        'stopped',
        'warn',
        'Stopped through the management API',
      ],
    ];
    for (const [change, state, health, reason] of cases) {
      const { checks, status } = part(change);
      assert.deepEqual(
        [status().state, checks()[0]?.status, status().reason?.message],
        [state, health, reason],
        state,
      );
    }
    const [endpoint] = part({}).endpoints();
    assert.deepEqual([endpoint?.host, endpoint?.port, endpoint?.visibility], ['g.ngrok.app', 8443, 'public']);
    assert.deepEqual(part({ url: null }).endpoints(), []);
  });

  it('is tested through the internet, at its own address', async () => {
    const requests: string[] = [];
    const answers = (status: number) => async (url: string) => {
      requests.push(url);
      return status;
    };
    assert.equal((await part({}, answers(200)).probe?.())?.valid, true);
    assert.deepEqual(requests, ['https://g.ngrok.app:8443/healthz']);
    assert.match((await part({}, answers(530)).probe?.())?.message ?? '', /does not answer.*HTTP 530/);
    const lost = await part({}, () => Promise.reject(new Error('no such host'))).probe?.();
    assert.match(lost?.message ?? '', /does not answer.*no such host/);
    assert.equal((await part({ url: null }, answers(200)).probe?.())?.valid, false);
  });
});
