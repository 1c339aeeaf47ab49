import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { catalogue, tools } from '../catalogue/index.ts';
import { baseUrlFor, gatewayRoot, sameGateway } from '../configuring/base-url.ts';
import { expanded, type Machine } from '../machine.ts';
import type { Detection } from '../schema.ts';
import { batchStatus, type ToolConfig } from '../status.ts';
import type { Tool } from '../tool.ts';
import { createDetector, withDeadline } from './detect.ts';
import { versionIn } from './probe.ts';

/** What the files of a tool say that has none. */
const unread: ToolConfig = {
  status: 'not_configured',
  endpoint: null,
  model: null,
  paths: [],
  drifted: [],
  entries: {},
  lastConfiguredAt: null,
  error: null,
};

describe('finding the programs of tools', () => {
  let folder: string;
  let machine: Machine;
  const [sample] = tools;
  const toolNamed = (name: string): Tool => {
    assert.ok(sample !== undefined);
    return { ...sample, id: name, binaries: [name] };
  };
  const program = async (path: string, script: string) => {
    const at = join(folder, path);
    await mkdir(join(at, '..'), { recursive: true });
    await writeFile(at, `#!/bin/sh\n${script}\n`);
    await chmod(at, 0o755);
    return at;
  };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-detect-'));
    const PATH = [join(folder, 'bin'), '/usr/bin', '/bin'].join(delimiter);
    machine = { platform: 'linux', home: join(folder, 'home'), variables: { PATH } };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('kills programs that hang, with their children, and finds the others', async (t) => {
    const hanging = Array.from({ length: 10 }, (_, index) => `hangs-${index}`);
    for (const name of hanging)
      await program(`bin/${name}`, `sleep 1000 & echo $! > ${join(folder, name)}; wait`);
    await program('bin/quick', 'echo quick 4.5.6');
    const names = [...hanging, 'quick', 'nowhere'];
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const detector = createDetector(machine, 3000);
    const detected = new Map<string, Detection>();
    const detections = names.map(async (name) => {
      detected.set(name, await detector.detect(toolNamed(name)));
    });
    const pidOf = async (name: string) => Number(await readFile(join(folder, name), 'utf8').catch(() => '0'));
    const all = async (done: (name: string) => Promise<boolean>) =>
      (await Promise.all(hanging.map(done))).every((one) => one);
    // The clock stands still until all have begun, and the others are over.
    while (!(await all(async (name) => (await pidOf(name)) > 0)) || !detected.has('quick'))
      await setImmediate();
    t.mock.timers.tick(3000);
    await Promise.all(detections);
    t.mock.timers.reset();
    assert.deepEqual((await detector.detectAll([toolNamed('quick')])).get('quick'), detected.get('quick'));
    assert.deepEqual(detected.get('quick'), {
      installed: true,
      command: 'quick',
      commandPath: join(folder, 'bin/quick'),
      runnable: true,
      version: '4.5.6',
    });
    assert.deepEqual(detected.get('nowhere'), { installed: false, runnable: false });
    for (const name of hanging) {
      const { installed, reason, runnable } = detected.get(name) ?? {};
      assert.deepEqual([installed, runnable], [true, false]);
      assert.match(reason ?? '', /did not answer --version within 3 seconds/);
      const pid = await pidOf(name);
      // Ended children of a group are reaped a moment later.
      while (pid > 0 && (await isRunning(pid))) await delay(20);
    }
  });

  it('asks all in parallel and waits for none longer than five seconds', async (t) => {
    const shown = catalogue.filter(({ binaries }) => binaries.length > 0);
    const slow = new Set(shown.slice(0, 10).map(({ id }) => id));
    const names = new Set(shown.flatMap(({ binaries }) => binaries));
    const hanging = new Set(shown.filter(({ id }) => slow.has(id)).flatMap(({ binaries }) => binaries));
    for (const name of names)
      await program(
        `all/${name}`,
        hanging.has(name) ? `: > '${join(folder, 'all', name)}.started'; sleep 1000` : 'echo 1.2.3',
      );
    const variables = { PATH: [join(folder, 'all'), '/usr/bin', '/bin'].join(delimiter) };
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const detected = new Map<string, Detection>();
    const detector = createDetector({ ...machine, variables });
    const detections = shown.map(async (tool) => {
      detected.set(tool.id, await detector.detect(tool));
    });
    const started = async () =>
      (await readdir(join(folder, 'all'))).filter((name) => name.endsWith('.started')).length;
    // The clock stands still: so many run side by side, and the others have answered.
    while ((await started()) < slow.size || detected.size < shown.length - slow.size) await setImmediate();
    assert.deepEqual(
      [...slow].filter((id) => detected.has(id)),
      [],
    );
    t.mock.timers.tick(5000);
    await Promise.all(detections);
    for (const { id } of shown) {
      const detection = detected.get(id) ?? { installed: false, runnable: false };
      const { config } = batchStatus('any', detection, unread);
      assert.equal(config.status, slow.has(id) ? 'unknown' : 'not_configured', id);
      if (slow.has(id)) assert.match(detection.reason ?? '', /within 5 seconds/);
    }
  });

  it('gives up on a tool whose folders do not answer', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const never = new Promise<never>(() => {});
    const stuck = withDeadline(never, 5000);
    t.mock.timers.tick(5250);
    const detection = await stuck;
    assert.match(detection.reason ?? '', /took longer than 5 seconds/);
    assert.equal(batchStatus('any', detection, unread).config.status, 'unknown');
  });

  it('finds programs in other folders of installers, the newest version of Node.js first', async () => {
    await program('home/.nvm/versions/node/v9.0.0/bin/elsewhere', 'echo 9.0');
    const newest = await program('home/.nvm/versions/node/v22.1.0/bin/elsewhere', 'echo 22.0');
    assert.equal((await createDetector(machine).detect(toolNamed('elsewhere'))).commandPath, newest);
  });

  it('remembers a program until it changes', async () => {
    const path = await program('bin/counted', `echo x >> ${join(folder, 'runs')}; echo 1.0.0`);
    const runs = async () => (await readFile(join(folder, 'runs'), 'utf8')).length / 2;
    const detector = createDetector(machine);
    await detector.detect(toolNamed('counted'));
    await detector.detect(toolNamed('counted'));
    assert.equal(await runs(), 1);
    await utimes(path, 1, 1);
    await detector.detect(toolNamed('counted'));
    assert.equal(await runs(), 2);
    detector.refresh();
    await detector.detect(toolNamed('counted'));
    assert.equal(await runs(), 3);
  });

  it('takes the version from its package when a program does not answer', async () => {
    const path = 'bin/node_modules/some-tool/cli';
    await program(path, 'exit 1');
    await writeFile(
      join(folder, 'bin/node_modules/some-tool/package.json'),
      '{"version": "7.8.9", "bin": "cli"}',
    );
    const variables = { PATH: join(folder, 'bin/node_modules/some-tool') };
    const detection = await createDetector({ ...machine, variables }).detect(toolNamed('cli'));
    assert.deepEqual([detection.version, detection.runnable], ['7.8.9', false]);
    assert.match(detection.reason ?? '', /exit code 1/);
  });

  it('knows the version of a package without running it, where recipes differ', async () => {
    const codewhale = catalogue.find(({ id }) => id === 'codewhale');
    assert.ok(codewhale !== undefined && sample !== undefined);
    const bin = 'packages/node_modules/codewhale';
    await program(`${bin}/codewhale`, `: > ${join(folder, 'was-run')}; echo 9.9.9`);
    await writeFile(join(folder, bin, 'package.json'), '{"version": "0.8.60", "bin": "codewhale"}');
    const detector = createDetector({ ...machine, variables: { PATH: join(folder, bin) } });
    assert.equal(await detector.knownVersion(codewhale), '0.8.60');
    assert.equal(await detector.knownVersion(sample), null, 'one recipe for all its versions');
    await assert.rejects(readFile(join(folder, 'was-run')));
    await detector.detect(codewhale);
    assert.equal(await detector.knownVersion(codewhale), '9.9.9', 'what it said itself counts more');
  });

  it('reads the version from what programs say', () => {
    for (const [text, version] of [
      ['2.1.329 (Claude Code)', '2.1.329'],
      ['codex-cli 0.169.0', '0.169.0'],
      ['OpenClaw 2026.9.6 (eb377ac)', '2026.9.6'],
      ["GitHub Copilot CLI 1.0.102.\nRun 'copilot update'", '1.0.102'],
      ['v1.2.3-beta.4', '1.2.3-beta.4'],
      ['no number here', null],
    ] as const)
      assert.equal(versionIn(text), version, text);
  });

  it('knows the folders of Windows', () => {
    const windows: Machine = {
      platform: 'win32',
      home: 'C:\\Users\\me',
      variables: { APPDATA: 'C:\\Users\\me\\AppData\\Roaming' },
    };
    assert.equal(expanded('$APPDATA/npm', windows), 'C:\\Users\\me\\AppData\\Roaming\\npm');
    assert.equal(expanded('~/.config/opencode', windows), 'C:\\Users\\me\\.config\\opencode');
    assert.equal(expanded('$LOCALAPPDATA/pnpm', windows), null);
  });
});

describe('the address of a gateway', () => {
  it('is taken with and without its version', () => {
    assert.equal(gatewayRoot('https://ai.example.com/v1/'), 'https://ai.example.com');
    assert.equal(gatewayRoot('http://127.0.0.1:20128'), 'http://127.0.0.1:20128');
    assert.equal(gatewayRoot('https://example.com/gateway/v1'), 'https://example.com/gateway');
    for (const wrong of [
      'example.com',
      'ftp://example.com',
      'https://me:secret@example.com',
      'https://a?b=c',
    ])
      assert.throws(() => gatewayRoot(wrong), { code: 'invalid_request' }, wrong);
  });

  it('gets the path that each API expects', () => {
    assert.equal(baseUrlFor('anthropic-messages', 'http://a'), 'http://a');
    assert.equal(baseUrlFor('openai-chat', 'http://a'), 'http://a/v1');
    assert.equal(baseUrlFor('openai-responses', 'http://a'), 'http://a/v1');
    assert.equal(baseUrlFor('gemini', 'http://a'), 'http://a');
  });

  it('is the same under every name of this machine, and with a version in its path', () => {
    assert.ok(sameGateway('http://localhost:20128/v1', 'http://127.0.0.1:20128'));
    assert.ok(sameGateway('http://[::1]:20128', 'http://127.0.0.1:20128/'));
    assert.ok(!sameGateway('http://127.0.0.1:20129', 'http://127.0.0.1:20128'));
    assert.ok(!sameGateway('https://api.anthropic.com', 'http://127.0.0.1:20128'));
  });
});

async function isRunning(pid: number): Promise<boolean> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    return !/^\d+ \(.*\) [ZX] /.test(text);
  } catch {
    return false;
  }
}
