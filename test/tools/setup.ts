import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { findTool as findEntry } from '../../src/tools/catalogue/index.ts';
import { configureTool, type ToolPlace } from '../../src/tools/configuring/configure.ts';
import { restoreTool } from '../../src/tools/configuring/restore.ts';
import { forVersion } from '../../src/tools/detection/version.ts';
import { readToolConfig } from '../../src/tools/status.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { type RunningGateway, settledRows, startGateway, waitFor } from '../support/gateway/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream/upstream.ts';
import { connectionsToAll, modelThatReads, upstreams, word } from './model.ts';
import { findTool, layDesk, runTool, type ToolName } from './tool.ts';

const { model } = upstreams.chat;

export interface SetupCase {
  tool: ToolName;
  /** Its id in the catalogue, where that is not the name of its program. */
  id?: string;
  /** A former version, which is set up as it was then. */
  version?: string;
  /** With what it ends, where it is not content with an answer in words. */
  exit?: number;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
}

function entryOf(name: string): Tool {
  const entry = findEntry(name);
  assert.ok(entry !== null, name);
  return entry;
}

/** Every file below a folder, with its content. */
async function contents(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)),
  );
}

/**
 * The real programs with nothing but what our setup wrote into an empty home: the request arrives with the right key
 * and model. To be called within a `describe`.
 */
export function proveSetups(cases: readonly SetupCase[]): void {
  let upstream: Upstream;
  let gateway: RunningGateway;
  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ connections: connectionsToAll(upstream.url) });
    // Nothing is asked of the model but words: a tool of this name does not exist.
    upstream.respond(modelThatReads(upstreams.chat, /^no such tool$/, () => ({})));
  });
  after(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  for (const { args, env = {}, tool, id = tool, exit = 0, version = null } of cases) {
    const found = findTool(tool);
    it(`${tool} asks the gateway with its key, for its model`, { skip: found.skip }, async () => {
      const desk = await layDesk(word);
      try {
        const entry = forVersion(entryOf(id), version);
        const place: ToolPlace = {
          machine: { platform: process.platform, home: desk.home, variables: {} },
          dataDir: gateway.dataDir,
          now: Date.now,
        };
        const target = { root: gateway.url, apiKey: gateway.key, model };
        const change = await configureTool(place, { tool: entry, ...target });
        const written = await contents(desk.home);
        assert.deepEqual(Object.keys(written).sort(), change.files.map(({ path }) => path).sort());
        assert.equal((await configureTool(place, { tool: entry, ...target })).changed, false);

        const variables = Object.entries(change.environment).map(
          ([name, value]) => [name, value ?? gateway.key] as const,
        );
        const seen = upstream.requests.length;
        const known = await settledRows(gateway);
        const ran = await runTool({
          tool: found,
          args,
          desk,
          env: { ...Object.fromEntries(variables), ...env },
        });
        assert.equal(ran.code, exit, ran.stderr + ran.stdout);
        assert.match(ran.stdout, /Notes/);
        assert.ok(upstream.requests.length > seen, 'a request came through');
        for (const request of upstream.requests.slice(seen)) {
          assert.equal(request.header('authorization'), 'Bearer upstream-secret');
          assert.equal(JSON.parse(request.body.toString('utf8')).model, 'm-1');
        }
        await waitFor('the ledger', async () => (await gateway.entries()).length > known);
        for (const line of (await gateway.entries()).slice(known)) {
          assert.equal(line.outcome, 'ok');
          assert.equal(line.requested_model, model);
        }
        if (change.path === null) return;
        const { status } = await readToolConfig(place, entry, [gateway.url]);
        assert.equal(status, 'configured', 'also after the tool has run');
        const restored = await restoreTool(place, { tool: entry, backupId: null });
        assert.deepEqual(restored.kept, []);
        const left = (await contents(desk.home))[change.path] ?? '';
        assert.doesNotMatch(left, /modelgate|MODELGATE/i, 'nothing of ours is left');
        assert.equal(left.includes(gateway.url), false);
      } finally {
        await desk.remove();
      }
    });
  }
}
