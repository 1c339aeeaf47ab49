import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { childEnv } from '../support/gateway/child-env.ts';
import { program } from '../support/gateway/program.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { createSandbox } from './run.ts';

interface Network {
  name: string;
  /** The address of this machine, as the other one sees it. */
  address: string;
}

/** A network namespace with a cable to this one: for programs in it, this is another machine. Null without permission. */
function otherMachine(test: TestContext): Network | null {
  const name = `mg${process.pid}`;
  const [here, there] = [`${name}a`, `${name}b`];
  // For such tests (RFC 2544): no machine has an address in it.
  const subnet = `198.18.${process.pid % 250}`;
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });
  try {
    ip('netns', 'add', name);
  } catch {
    return null;
  }
  // Its end of the cable goes with it, and the other end with that.
  test.after(() => ip('netns', 'del', name));
  try {
    ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name);
    ip('addr', 'add', `${subnet}.1/30`, 'dev', here);
    ip('link', 'set', here, 'up');
    ip('-n', name, 'addr', 'add', `${subnet}.2/30`, 'dev', there);
    ip('-n', name, 'link', 'set', there, 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
    ip('netns', 'exec', name, 'true');
  } catch {
    return null;
  }
  return { name, address: `${subnet}.1` };
}

it('setup-TOOL on another machine takes models from the gateway and writes its own files', async (test) => {
  const network = otherMachine(test);
  if (network === null) return test.skip('no permission for a network namespace');
  const sandbox = await createSandbox();
  test.after(() => sandbox.close());
  const password = await sandbox.run(['setup', '--password-stdin'], { stdin: 'correct horse battery' });
  assert.equal(password.code, 0, password.stderr);
  const key = String((await sandbox.run(['keys', 'add', 'laptop', '--json'])).json()['key']);
  const { port } = await sandbox.serve({ env: { GATEWAY_HOST: network.address } });
  const remote = `http://${network.address}:${port}`;

  const home = temporaryFolder(test);
  const there = async (...args: string[]) => {
    const child = spawn('ip', ['netns', 'exec', network.name, process.execPath, program, ...args], {
      env: childEnv({ HOME: home, DATA_DIR: join(home, 'data'), GATEWAY_API_KEY: key }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (text += String(piece)));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, text };
  };
  const unknown = await there('setup-codex', '--remote', remote, '--yes');
  assert.equal(unknown.code, 2, unknown.text);
  assert.match(unknown.text, /There are .*demo\/echo/);

  const done = await there('setup-codex', '--remote', remote, '--model', 'demo/echo', '--yes');
  assert.equal(done.code, 0, done.text);
  assert.match(done.text, /The route works: demo\/echo answered/);
  const written = await readFile(join(home, '.codex/config.toml'), 'utf8');
  assert.ok(written.includes(`${remote}/v1`), written);
  assert.equal(written.includes(key), false);
  assert.match((await sandbox.run(['logs'])).stdout, /demo\/echo/);
});
