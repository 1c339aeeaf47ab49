import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before } from 'node:test';
import { waitFor } from './gateway.ts';

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
  const redis: PrivateRedis = {
    get url() {
      return `redis://127.0.0.1:${running.port}`;
    },
    pause: () => process.kill(running.pid, 'SIGSTOP'),
    resume: () => process.kill(running.pid, 'SIGCONT'),
    async start() {
      if (running.port === 0) running.port = await freePort();
      const child = spawn(
        'redis-server',
        ['--port', String(running.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
        { stdio: ['ignore', 'pipe', 'ignore'] },
      );
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      const exited = once(child, 'exit');
      assert.ok(child.pid);
      running.pid = child.pid;
      running.stop = async () => {
        child.kill('SIGCONT');
        child.kill('SIGKILL');
        await exited;
      };
      await waitFor('Redis', () => output.includes('Ready to accept connections'));
    },
    kill: () => running.stop(),
  };
  before(async () => {
    if (hasRedis) await redis.start();
  });
  after(() => redis.kill());
  return redis;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  server.close();
  await once(server, 'close');
  return port;
}
