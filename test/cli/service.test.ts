import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from './run.ts';

/** Writes down how it is called, and says that the unit runs once it was restarted. */
const standIn = `#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in
  *restart*) touch "$CALLS.running" ;;
  *disable*) rm -f "$CALLS.running" ;;
  *show*)
    if [ -e "$CALLS.running" ]; then
      printf 'LoadState=loaded\\nActiveState=active\\nUnitFileState=enabled\\nMainPID=4242\\n'
    else
      printf 'LoadState=not-found\\nActiveState=inactive\\nUnitFileState=\\nMainPID=0\\n'
    fi ;;
esac
`;

describe('gateway service', () => {
  let sandbox: Sandbox;
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    sandbox = await createSandbox();
    folder = join(dirname(sandbox.dataDir), 'programs');
    mkdirSync(folder);
    writeFileSync(join(folder, 'systemctl'), standIn);
    chmodSync(join(folder, 'systemctl'), 0o755);
    env = { PATH: `${folder}:/usr/bin:/bin`, CALLS: join(folder, 'calls') };
  });
  after(() => sandbox.close());

  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  const run = (...args: string[]) => sandbox.run(['service', ...args, '--json'], { env });

  it('shows the unit and changes nothing with --dry-run', async () => {
    const { installed, path, unit } = (await run('install', '--dry-run')).json();
    assert.equal(installed, false);
    assert.match(String(unit), /ExecStart=.*serve --non-interactive/);
    assert.ok(String(unit).includes(`DATA_DIR=${sandbox.dataDir}`));
    assert.equal(existsSync(String(path)), false);
  });

  it('installs, enables and starts a unit that only its owner can read', async () => {
    const ran = await run('install', '--port', '8080');
    assert.equal(ran.code, 0, ran.stderr);
    const { active, path, pid } = ran.json();
    assert.deepEqual([active, pid], ['active', 4242]);
    assert.equal(statSync(String(path)).mode & 0o777, 0o600);
    assert.ok(readFileSync(String(path), 'utf8').includes('--port 8080'));
    assert.deepEqual(
      calls().filter((call) => !call.includes('show')),
      ['--user daemon-reload', '--user enable modelgate.service', '--user restart modelgate.service'],
    );
    assert.deepEqual((await run('status')).json()['enabled'], 'enabled');
  });

  it('uninstalls it', async () => {
    const { path, uninstalled } = (await run('uninstall')).json();
    assert.equal(uninstalled, true);
    assert.equal(existsSync(String(path)), false);
    assert.deepEqual((await run('status')).json()['installed'], false);
    assert.equal((await run('uninstall')).json()['uninstalled'], false);
  });

  it('refuses while another gateway runs on the data directory', async () => {
    const serving = await sandbox.serve();
    const ran = await run('install');
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /gateway stop/);
    await serving.stop();
  });

  it('says what is missing where there is no systemd', async () => {
    const ran = await sandbox.run(['service', 'status'], { env: { PATH: '/nowhere' } });
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /no systemctl/);
  });
});
