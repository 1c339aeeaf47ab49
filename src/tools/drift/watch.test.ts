import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { findTool } from '../catalogue/index.ts';
import { configureTool } from '../configuring/configure.ts';
import { restoreTool } from '../configuring/restore.ts';
import { createDriftWatch } from './watch.ts';

it('reports once that a tool differs from how the gateway set it up, and once that it matches again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-drift-'));
  try {
    const home = join(folder, 'home');
    await mkdir(home);
    const machine = { platform: process.platform, home, variables: {} };
    const place = { machine, dataDir: join(folder, 'data'), now: Date.now };
    const root = 'http://127.0.0.1:20128';
    const reports: string[] = [];
    const look = createDriftWatch({
      place,
      tool: async (id) => findTool(id),
      root: () => root,
      onChange: ({ id }, drift) =>
        reports.push(drift === null ? `${id} is well` : `${drift.entries.join()}: ${drift.mend}`),
    });
    await look();
    const tool = findTool('codex');
    assert.ok(tool);
    const setUp = () => configureTool(place, { tool, root, apiKey: null, model: 'auto' });
    const { path } = await setUp();
    assert.ok(path);
    await look();
    assert.deepEqual(reports, []);

    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('model_provider = "modelgate"', 'model_provider = "openai"'));
    await look();
    await look();
    assert.deepEqual(reports.splice(0), ['model_provider: gateway tools configure codex --model auto']);

    await setUp();
    await look();
    assert.deepEqual(reports.splice(0), ['codex is well']);

    await rm(path);
    await look();
    assert.match(reports.splice(0).join(), /base_url: gateway tools configure codex/);
    await setUp();
    await restoreTool(place, { tool, backupId: null });
    await look();
    assert.deepEqual(reports, ['codex is well'], 'what was restored is meant so');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
