import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Agents } from '../../agents/open.ts';
import { GatewayError } from '../../lib/error.ts';
import { agentPart, type EnabledAgent } from './agent-part.ts';

type Status = ReturnType<Agents['status']>;
const idle: Status = {
  processes: [],
  waiting: 0,
  failures: 0,
  error: null,
  pauseMs: 0,
  output: [],
  stopped: false,
};
const busy = { pid: 7, state: 'busy', startedAt: 1000 } as const;

function part(status: Partial<Status>, agent: Partial<EnabledAgent> = {}, called: string[] = []) {
  const agents = {
    status: () => ({ ...idle, ...status }),
    start: (id: string) => void called.push(`start ${id}`),
    stop: async (id: string) => void called.push(`stop ${id}`),
    restart: async (id: string) => void called.push(`restart ${id}`),
    test: async (id: string) => {
      if (id === 'broken') throw new GatewayError('agent_failed', 'it ended with exit code 7');
      return { answer: 'ready', agent: 'x 1', startedMs: 500, answeredMs: 1500 };
    },
  };
  const agentRow = { id: 'x', name: 'X', description: 'An agent', version: '1.2.3', problem: null, ...agent };
  return agentPart({ agent: agentRow, agents, now: () => 3000 });
}

describe('an agent as a service', () => {
  it('has the state of its processes', () => {
    const error = { message: 'it ended with exit code 7', at: 2500 };
    const cases: [Partial<Status>, Partial<EnabledAgent>, string, string[], string | undefined][] = [
      [{}, {}, 'running', ['pass', 'pass'], undefined],
      [{ processes: [busy], waiting: 2 }, {}, 'running', ['pass', 'warn'], undefined],
      [{ failures: 1, error }, {}, 'running', ['pass', 'pass'], undefined],
      [{ failures: 1, error, pauseMs: 500 }, {}, 'failed', ['pass', 'fail'], error.message],
      [{}, { problem: 'X is not installed' }, 'failed', ['fail', 'pass'], 'X is not installed'],
      [{ stopped: true }, {}, 'stopped', ['pass', 'pass'], 'Stopped through the management API'],
    ];
    for (const [status, agent, state, health, reason] of cases) {
      const one = part(status, agent);
      assert.deepEqual(
        [one.status().state, one.checks().map((check) => check.status), one.status().reason?.message],
        [state, health, reason],
      );
    }
    assert.equal(part({ processes: [busy] }).status().startedAt, 1000);
    assert.deepEqual(part({ error }).status().error, { code: 'agent_failed', ...error });
  });

  it('is started, stopped and restarted', async () => {
    const called: string[] = [];
    const cycle = part({ processes: [busy] }, {}, called).lifeCycle;
    assert.equal(cycle?.openRequests(), 1);
    await cycle?.start();
    assert.deepEqual(await cycle?.stop(undefined, false), { interrupted: 1 });
    await cycle?.stop(undefined, true);
    assert.deepEqual(called, ['start x', 'stop x', 'restart x']);
  });

  it('is tested by a question', async () => {
    const good = await part({}).probe?.();
    assert.deepEqual([good?.valid, good?.message], [true, 'X answered in 1.5 s']);
    const bad = await part({}, { id: 'broken' }).probe?.();
    assert.deepEqual([bad?.valid, bad?.message], [false, 'it ended with exit code 7']);
  });
});
