import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { findTool } from '../catalogue/index.ts';
import type { Machine } from '../machine.ts';
import type { Tool } from '../tool.ts';
import { createDetector } from './detect.ts';
import { settingsFolders } from './editors.ts';
import { locateFiles } from './locations.ts';

const id = 'RooVeterinaryInc.roo-cline';

describe('extensions of editors', () => {
  let home: string;
  let machine: Machine;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'gateway-editors-'));
    machine = { platform: 'linux', home, variables: {} };
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const install = async (folder: string, version: string) => {
    const path = join(home, folder);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'package.json'), JSON.stringify({ version }));
    return path;
  };
  const roo = (): Tool => {
    const tool = findTool('roo');
    assert.ok(tool !== null);
    return tool;
  };

  it('are found with their newest version, and not once they are removed', async () => {
    const detector = createDetector(machine);
    assert.deepEqual(await detector.detect(roo()), { installed: false, runnable: false });
    await install('.vscode/extensions/rooveterinaryinc.roo-cline-nightly-9.9.9', '9.9.9');
    await install('.vscode/extensions/rooveterinaryinc.roo-cline-3.9.0', '3.9.0');
    const newest = await install('.vscode/extensions/rooveterinaryinc.roo-cline-3.52.1-linux-x64', '3.52.1');
    const expected = { installed: true, runnable: true, commandPath: newest, version: '3.52.1' };
    assert.deepEqual(await detector.detect(roo()), expected);
    const obsolete = { 'rooveterinaryinc.roo-cline-3.52.1-linux-x64': true };
    await writeFile(join(home, '.vscode/extensions/.obsolete'), JSON.stringify(obsolete));
    assert.equal((await detector.detect(roo())).version, '3.9.0');
  });

  it('count as the tool when its program is missing', async () => {
    const path = await install('.windsurf/extensions/continue.continue-1.4.2', '1.4.2');
    const tool = findTool('continue');
    assert.ok(tool !== null);
    const expected = { installed: true, runnable: true, commandPath: path, version: '1.4.2' };
    assert.deepEqual(await createDetector(machine).detect(tool), expected);
  });

  it('have a file in each editor that has them, and in VS Code where none has', async () => {
    const paths = async () => (await locateFiles(roo().recipe, machine)).map(({ path }) => path);
    const profile = join(home, '.roo/modelgate.json');
    assert.deepEqual(await paths(), [join(home, '.config/Code/User/settings.json'), profile]);
    await install('.cursor/extensions/rooveterinaryinc.roo-cline-3.52.1', '3.52.1');
    await install('.vscode-server/extensions/rooveterinaryinc.roo-cline-3.52.1', '3.52.1');
    assert.deepEqual(await paths(), [
      join(home, '.config/Cursor/User/settings.json'),
      join(home, '.vscode-server/data/Machine/settings.json'),
      profile,
    ]);
  });

  it('have their files where each system keeps them', async () => {
    const on = (platform: NodeJS.Platform, variables: Record<string, string> = {}) =>
      settingsFolders(id, {
        platform,
        home: platform === 'win32' ? 'C:\\Users\\me' : '/Users/me',
        variables,
      });
    assert.deepEqual(await on('darwin'), ['/Users/me/Library/Application Support/Code/User']);
    assert.deepEqual(await on('linux', { XDG_CONFIG_HOME: '/x' }), ['/x/Code/User']);
    assert.deepEqual(await on('win32'), ['C:\\Users\\me\\AppData\\Roaming\\Code\\User']);
    assert.deepEqual(await on('win32', { APPDATA: 'D:\\Roaming' }), ['D:\\Roaming\\Code\\User']);
  });
});
