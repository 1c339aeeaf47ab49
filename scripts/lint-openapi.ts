/**
 * Holds the document of the management API to Spectral's rules for OpenAPI: starts a gateway on an empty data directory,
 * and asks it for `/api/openapi.json`, so that what is linted is what is served.   node scripts/lint-openapi.ts
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

// Takes no arguments, and refuses any.
parseArgs();

const program = new URL('../src/cli/main.ts', import.meta.url).pathname;
const dataDir = mkdtempSync(join(tmpdir(), 'gateway-openapi-'));
const gateway = spawn(process.execPath, [program, 'serve', '--port', '0', '--json'], {
  env: { PATH: process.env['PATH'] ?? '', HOME: dataDir, DATA_DIR: dataDir, GATEWAY_LOG_LEVEL: 'error' },
  stdio: ['ignore', 'pipe', 'inherit'],
});

try {
  const url = await readyUrl();
  // The key of the machine's owner, which the gateway leaves for its own commands.
  const { key } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as { key: string };
  const answer = await fetch(`${url}/api/openapi.json`, { headers: { 'x-auth-token': key } });
  if (!answer.ok) throw new Error(`/api/openapi.json answered ${answer.status}`);
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [rulesets.oas as never] });
  const findings = await linter.run((await answer.json()) as Record<string, unknown>);
  for (const { code, message, path, severity } of findings)
    console.error(`${severity === 0 ? 'error' : 'warning'} ${code} at ${path.join('.')}: ${message}`);
  if (findings.length > 0) {
    console.error(`openapi.json: ${findings.length} findings`);
    process.exitCode = 1;
  }
} finally {
  const ended = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  await ended;
  rmSync(dataDir, { recursive: true, force: true });
}

function readyUrl(): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    gateway.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const url = /"url":\s*"([^"]+)"/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    gateway.once('exit', (code) => reject(new Error(`the gateway ended with ${code} before it listened`)));
  });
}
