import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHealthBoard } from './health.ts';
import { alwaysRunning, type Part, type PartStatus } from './part.ts';

function looked() {
  let state: PartStatus['state'] = 'running';
  let looks = 0;
  let now = 5000;
  const part: Part = {
    key: 'data-plane',
    id: 'data-plane',
    kind: 'data_plane',
    critical: true,
    name: 'Data plane',
    description: '',
    dependsOn: [],
    version: '1',
    status: () => ({ ...alwaysRunning(0), state }),
    checks() {
      looks += 1;
      const status = state === 'running' ? 'pass' : 'fail';
      return [{ name: 'accepting', status, observed_at: '', output: '' }];
    },
    endpoints: () => [],
  };
  const board = createHealthBoard(() => now);
  return {
    statusOf: (fresh?: boolean) => board.of(part, fresh).status,
    looks: () => looks,
    become(next: typeof state) {
      state = next;
    },
    pass(ms: number) {
      now += ms;
    },
  };
}

describe('the health board', () => {
  it('checks once a second, or on request', () => {
    const { looks, pass, statusOf } = looked();
    for (const _ of [1, 2, 3]) assert.equal(statusOf(), 'pass');
    assert.equal(looks(), 1);
    statusOf(true);
    assert.equal(looks(), 2);
    pass(1000);
    statusOf();
    assert.equal(looks(), 3);
  });

  it('checks again at once when the part has stopped or started', () => {
    const { become, statusOf } = looked();
    assert.equal(statusOf(), 'pass');
    become('stopped');
    assert.equal(statusOf(), 'fail');
    become('running');
    assert.equal(statusOf(), 'pass');
  });
});
