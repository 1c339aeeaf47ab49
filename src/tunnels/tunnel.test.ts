import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TunnelEvent } from './kind.ts';
import { createTunnel } from './tunnel.ts';

interface Listen {
  onLine(line: string): void;
  onEnd(how: string): void;
}

/** A tunnel whose program does what a test says; its lines are news as JSON. */
function opened() {
  const clock = { now: 1_000_000 };
  const timers: { ms: number; run: () => void; off: boolean }[] = [];
  const runs: Listen[] = [];
  const stopped: number[] = [];
  const states: string[] = [];
  let refuses: Error | null = null;
  const tunnel = createTunnel({
    kind: { programs: ['standin'], reader: () => (line) => JSON.parse(line) as TunnelEvent },
    now: () => clock.now,
    after(ms, run) {
      const timer = { ms, run, off: false };
      timers.push(timer);
      return () => {
        timer.off = true;
      };
    },
    onChange: () => states.push(tunnel.status().state),
    async run(listen) {
      if (refuses !== null) throw refuses;
      const index = runs.push(listen) - 1;
      return {
        stop: async () => {
          stopped.push(index);
        },
      };
    },
  });
  const last = () => {
    const run = runs.at(-1);
    assert.ok(run, 'the program was not started');
    return run;
  };
  return {
    clock,
    runs,
    states,
    stopped,
    timers,
    tunnel,
    refuse: (error: Error | null) => {
      refuses = error;
    },
    hears: (news: TunnelEvent) => last().onLine(JSON.stringify(news)),
    ends: (how = 'it ended with exit code 1') => last().onEnd(how),
    /** Lets the pause end after which the program is started again. @returns its milliseconds */
    resumes(): number {
      const timer = timers.at(-1);
      assert.ok(timer && !timer.off, 'nothing waits');
      timer.run();
      return timer.ms;
    },
  };
}

const url = 'https://a.example';

describe('a tunnel', () => {
  it('runs once it has an address, and only while it is connected', () => {
    const { hears, tunnel } = opened();
    tunnel.start();
    assert.deepEqual([tunnel.status().state, tunnel.status().url], ['starting', null]);
    hears({ kind: 'url', url });
    assert.deepEqual([tunnel.status().state, tunnel.status().url], ['running', url]);
    hears({ kind: 'connected', connected: false });
    assert.equal(tunnel.status().state, 'starting');
    hears({ kind: 'connected', connected: true });
    assert.equal(tunnel.status().state, 'running');
  });

  it('is started again after pauses that grow up to a minute, and begin anew after a steady run', () => {
    const { clock, ends, hears, resumes, tunnel } = opened();
    tunnel.start();
    const pauses = Array.from({ length: 8 }, () => {
      ends();
      assert.equal(tunnel.status().state, 'waiting');
      return resumes();
    });
    assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    hears({ kind: 'url', url });
    clock.now += 5 * 60_000;
    ends();
    assert.equal(tunnel.status().url, null);
    assert.equal(resumes(), 1000);
    assert.equal(tunnel.status().failures, 9);
  });

  it('reports why it failed: what the program printed, or how it ended', () => {
    const { ends, hears, refuse, resumes, tunnel } = opened();
    tunnel.start();
    hears({ kind: 'problem', message: 'no such host' });
    ends();
    assert.equal(tunnel.status().error?.message, 'no such host');
    resumes();
    ends('it was ended by SIGKILL');
    assert.equal(tunnel.status().error?.message, 'standin: it was ended by SIGKILL');
    refuse(new Error('not installed'));
    resumes();
    return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      assert.deepEqual([tunnel.status().state, tunnel.status().error?.message], ['waiting', 'not installed']);
    });
  });

  it('stops in any state, and ignores what the program still prints', async () => {
    const { ends, hears, runs, stopped, timers, tunnel } = opened();
    await tunnel.stop();
    tunnel.start();
    tunnel.start();
    assert.equal(runs.length, 1);
    await tunnel.stop();
    assert.deepEqual(stopped, [0]);
    hears({ kind: 'url', url });
    ends();
    assert.deepEqual([tunnel.status().state, tunnel.status().url, timers.length], ['stopped', null, 0]);
    tunnel.start();
    ends();
    assert.equal(tunnel.status().state, 'waiting');
    await tunnel.stop();
    assert.deepEqual([tunnel.status().state, timers.at(-1)?.off], ['stopped', true]);
  });
});
