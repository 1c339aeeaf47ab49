import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { after, before } from 'node:test';
import { createClient } from '@redis/client';
import { waitFor } from '../gateway/gateway.ts';

/** Whether this machine has a Redis server to start. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

export interface PrivateRedis {
  readonly url: string;
  /** Holds all answers back until `resume`. */
  pause(): void;
  resume(): void;
  /** Starts it again after `kill`, empty. */
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** A Redis server of its own, in memory, for all tests of one file. */
export function privateRedis(): PrivateRedis {
  const running: { port: number; stop: () => Promise<void>; pid: number } = {
    port: 0,
    pid: 0,
    stop: async () => {},
  };
  /** False where the port is taken. */
  const startOn = async (port: number): Promise<boolean> => {
    const child = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    let output = '';
    let gone = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const exited = once(child, 'exit').then(() => {
      gone = true;
    });
    assert.ok(child.pid);
    running.port = port;
    running.pid = child.pid;
    running.stop = async () => {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await exited;
    };
    await waitFor('Redis', () => gone || output.includes('Ready to accept connections'));
    return !gone;
  };
  const redis: PrivateRedis = {
    get url() {
      return `redis://127.0.0.1:${running.port}`;
    },
    pause: () => process.kill(running.pid, 'SIGSTOP'),
    resume: () => process.kill(running.pid, 'SIGCONT'),
    async start() {
      const known = running.port;
      for (let tries = 1; !(await startOn(known === 0 ? randomPort() : known)); tries += 1)
        assert.ok(tries < 20 && known === 0, 'Redis finds no port');
    },
    kill: () => running.stop(),
  };
  before(async () => {
    if (hasRedis) await redis.start();
  });
  after(() => redis.kill());
  return redis;
}

/**
 * What Redis has counted in the tallies whose names fit a pattern (`global::requests:day`, `combo:*`): used and set aside,
 * and granted beyond that.
 */
export async function countedInRedis(url: string, names: string): Promise<[used: number, granted: number]> {
  const client = await createClient({ url }).connect();
  try {
    const tallies = await Promise.all(
      (await client.keys(`{modelgate}:tally:${names}`)).map((key) => client.hGet(key, 'tally')),
    );
    const entries = tallies.flatMap((text) => {
      const tally = JSON.parse(text ?? '{"entries":{}}') as {
        entries: Record<string, { used: [number, number][]; free: number }>;
      };
      return Object.values(tally.entries);
    });
    return [
      entries.flatMap(({ used }) => used).reduce((sum, [, amount]) => sum + amount, 0),
      entries.reduce((sum, { free }) => sum + free, 0),
    ];
  } finally {
    client.destroy();
  }
}

/** Below the ports that the kernel gives away itself, so that nothing takes it while Redis is stopped. */
function randomPort(): number {
  return randomInt(10_000, 32_000);
}
