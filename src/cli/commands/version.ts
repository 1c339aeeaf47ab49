import type { Command } from '../command.ts';
import { version } from '../version.ts';

export const versionCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'nothing',
  examples: [{ command: 'gateway version --json', does: '{"version","node","platform","running"}' }],
  run: async (_, context) => {
    const running = (await context.findGateway())?.version ?? null;
    const own = version();
    const document = {
      version: own,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      running,
    };
    context.io.result(document, () => {
      const line = `Modelgate ${own} (Node.js ${document.node}, ${document.platform})`;
      return running === null || running === own
        ? line
        : `${line}\nThe running gateway is ${running}: restart it`;
    });
    return 0;
  },
};
