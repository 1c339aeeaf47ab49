import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { startGateway } from './support/gateway/gateway.ts';

const root = new URL('../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, root), 'utf8');
const dockerfile = read('Dockerfile');

/** The command of the health check, run beside a gateway on `port`. @returns its exit code */
async function healthCheck(port: number): Promise<number | null> {
  const [, text = ''] = /HEALTHCHECK[\s\S]*?CMD (\[.*\])/.exec(dockerfile) ?? [];
  const [program = '', ...args] = JSON.parse(text) as string[];
  assert.equal(program, 'node');
  const child = spawn(process.execPath, args, {
    env: { ...process.env, GATEWAY_PORT: String(port) },
    stdio: 'ignore',
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

describe('the container', () => {
  it('is made of files that are there', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
      (names ?? '').split(' '),
    );
    assert.ok(copied.length >= 4);
    for (const name of copied) assert.ok(existsSync(new URL(name, root)), name);
  });

  it('runs as a user without rights, on a read-only root', () => {
    assert.match(dockerfile, /^USER node$/m);
    const { gateway } = (parse(read('compose.yaml')) as { services: Record<string, Record<string, unknown>> })
      .services;
    assert.deepEqual(
      [gateway?.['read_only'], gateway?.['cap_drop'], gateway?.['volumes']],
      [true, ['ALL'], ['data:/data']],
    );
    assert.match(dockerfile, /DATA_DIR=\/data /);
  });

  it('is healthy while the gateway is ready', async () => {
    const gateway = await startGateway();
    const port = Number(new URL(gateway.url).port);
    try {
      assert.equal(await healthCheck(port), 0);
    } finally {
      await gateway.stop();
    }
    assert.equal(await healthCheck(port), 1);
  });
});
