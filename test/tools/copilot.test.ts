import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { startGateway, waitFor } from '../support/gateway/gateway.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { connectionsToAll, modelThatReads, prompt, said, upstreams, word } from './model.ts';
import { findTool, layDesk, runTool } from './tool.ts';

/** GitHub Copilot's command line with a provider of its user's own, over a WebSocket. */
const tool = findTool('copilot');

async function textIn(folder: string): Promise<string> {
  const files = await readdir(folder);
  return (await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))).join('\n');
}

const { responses: _, ...foreign } = upstreams;

for (const [name, format] of Object.entries(foreign)) {
  it(`Copilot CLI goes through a tool over a WebSocket, with a ${name} provider`, {
    skip: tool.skip,
  }, async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ connections: connectionsToAll(upstream.url) });
    const desk = await layDesk(word);
    try {
      upstream.respond(
        modelThatReads(format, /^bash$/, () => ({
          command: 'cat note.txt',
          description: 'reads it',
        })),
      );
      const logs = join(desk.home, 'logs');
      const ran = await runTool({
        tool,
        desk,
        args: ['-p', prompt, '--allow-all-tools', '--no-color', '--log-level', 'debug', '--log-dir', logs],
        env: {
          COPILOT_PROVIDER_BASE_URL: `${gateway.url}/v1`,
          COPILOT_PROVIDER_TYPE: 'openai',
          COPILOT_PROVIDER_WIRE_API: 'responses',
          COPILOT_PROVIDER_TRANSPORT: 'websockets',
          COPILOT_PROVIDER_API_KEY: gateway.key,
          COPILOT_MODEL: format.model,
          COPILOT_OFFLINE: 'true',
        },
      });
      assert.equal(ran.code, 0, ran.stderr + ran.stdout);
      assert.match(ran.stdout, said);
      assert.equal((await textIn(logs)).match(/WebSocket responses connection established/g)?.length, 1);
      assert.equal(upstream.requests.length, 2, 'one request before the tool ran and one after');
      await waitFor('the ledger', async () => (await gateway.entries()).length >= 2);
      assert.deepEqual(
        (await gateway.entries()).map(({ format, outcome }) => [format, outcome]),
        [
          ['openai-responses', 'ok'],
          ['openai-responses', 'ok'],
        ],
      );
    } finally {
      await gateway.stop();
      await upstream.close();
      await desk.remove();
    }
  });
}
