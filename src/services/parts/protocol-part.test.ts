import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallCounts } from '../../lib/call-counts.ts';
import { createProtocolGate, protocolPart } from './protocol-part.ts';

function opened(selfTest = async () => 'It answers itself') {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const counts: CallCounts = { calls: 0, faults: 0, lastCallAt: null, lastFaultAt: null };
  const gate = createProtocolGate({ name: 'MCP server', running: true, now, onChange() {} });
  const canceled: string[] = [];
  const part = protocolPart({
    id: 'mcp',
    kind: 'mcp_server',
    name: 'MCP server',
    description: '',
    version: '1.0.0',
    gate,
    counts: () => counts,
    selfTest,
    cancelAll: () => canceled.push('all'),
    endpoints: () => [],
    now,
  });
  const statuses = () => part.checks().map(({ name, status }) => `${name} ${status}`);
  return { canceled, clock, counts, part, statuses };
}

describe('a protocol server as a service', () => {
  it('warns for a while after a fault of the gateway’s own', () => {
    const { clock, counts, statuses } = opened();
    assert.deepEqual(statuses(), ['accepting pass', 'calls pass']);
    counts.calls = 2;
    counts.faults = 1;
    counts.lastCallAt = clock.now;
    counts.lastFaultAt = clock.now;
    assert.deepEqual(statuses(), ['accepting pass', 'calls warn']);
    clock.now += 15 * 60_000;
    assert.deepEqual(statuses(), ['accepting pass', 'calls pass']);
  });

  it('fails while it is stopped, and says so when it is tested', async () => {
    const { canceled, part, statuses } = opened();
    await part.lifeCycle?.stop(0, false);
    assert.deepEqual(canceled, ['all'], 'what goes on without a request ends as well');
    assert.deepEqual(statuses(), ['accepting fail', 'calls pass']);
    assert.equal((await part.probe?.())?.valid, false);
    await part.lifeCycle?.start();
    assert.deepEqual(await part.probe?.(), {
      valid: true,
      message: 'It answers itself',
      result: { state: 'running' },
    });
  });

  it('explains why it does not answer', async () => {
    const { part } = opened(() => Promise.reject(new Error('no tools')));
    const probe = await part.probe?.();
    assert.deepEqual(
      [probe?.valid, probe?.message],
      [false, 'The MCP server does not answer itself: no tools'],
    );
  });
});
