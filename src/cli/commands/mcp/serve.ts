import type { Command } from '../../command.ts';
import type { Context } from '../../context.ts';
import { version } from '../../version.ts';

export const mcpServeCommand: Command = {
  arguments: [],
  flags: [{ name: 'read-only', summary: 'offer only read-only tools' }],
  needs: 'nothing',
  about:
    'For assistants that start their MCP servers themselves. `gateway --mcp` does the same. The tools use the gateway that runs on the data directory, as the owner of this machine.',
  examples: [
    { command: 'claude mcp add modelgate -- gateway --mcp', does: 'Claude Code can inspect this gateway' },
    { command: 'gateway mcp serve --read-only', does: 'the assistant can look, and change nothing' },
  ],
  run: (options, context) => serveMcp(context, { readOnly: options.on('read-only') }),
};

/** Serves one client over stdio until it closes its end. */
export async function serveMcp(
  { dataDir: where, io }: Context,
  { readOnly }: { readOnly: boolean },
): Promise<0> {
  const { managementApi } = await import('../../gateway/management-api.ts');
  const { serveMcpOnStdio } = await import('../../../mcp/stdio.ts');
  const dataDir = await where();
  await serveMcpOnStdio({
    version: version(),
    api: managementApi(dataDir, { readOnly }),
    stdin: process.stdin,
    stdout: process.stdout,
    note: (text) => io.note(text),
  });
  return 0;
}
