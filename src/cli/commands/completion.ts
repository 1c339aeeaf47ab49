import type { Command } from '../command.ts';
import { type Completion, completionOf, scripts } from '../completion.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

export const completionCommand: Command = {
  arguments: [{ name: 'shell', summary: 'bash, zsh or fish', required: true, choices: shells }],
  flags: [],
  needs: 'nothing',
  examples: [
    { command: 'source <(gateway completion bash)', does: 'in ~/.bashrc' },
    { command: 'source <(gateway completion zsh)', does: 'in ~/.zshrc, after compinit' },
    { command: 'gateway completion fish > ~/.config/fish/completions/gateway.fish', does: 'once' },
  ],
  run: async (options, { io }, commands) => {
    const shell = shells.find((known) => known === options.argument('shell')) ?? 'bash';
    const tree: Completion[] = [];
    for (const entry of commands) tree.push(completionOf(entry, await entry.load()));
    const script = scripts[shell](tree);
    io.result({ shell, script }, () => script);
    return 0;
  },
};
