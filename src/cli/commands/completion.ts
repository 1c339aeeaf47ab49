import type { Command } from '../command.ts';
import { type Candidate, candidates } from '../completion/candidates.ts';
import { namesOf } from '../completion/names.ts';
import { type Shell, scripts, shells } from '../completion/scripts.ts';
import { type Context, createContext } from '../context.ts';
import { printable } from '../terminal/text.ts';
import { groups } from './groups.ts';

export const completionCommand: Command = {
  arguments: [
    { name: 'shell', summary: 'bash, zsh, fish or powershell', required: true, choices: shells },
    {
      name: 'words',
      summary: 'with --candidates: the words so far, the last one unfinished',
      required: false,
      rest: true,
    },
  ],
  flags: [{ name: 'candidates', summary: 'print the candidates for the last word, as the scripts ask' }],
  needs: 'nothing',
  about:
    'At every Tab the script asks the program, so that it offers the names of your keys, connections, combos and models.',
  examples: [
    { command: 'source <(gateway completion bash)', does: 'in ~/.bashrc' },
    { command: 'source <(gateway completion zsh)', does: 'in ~/.zshrc' },
    { command: 'gateway completion fish > ~/.config/fish/completions/gateway.fish', does: 'once' },
    {
      command: 'gateway completion powershell | Out-String | Invoke-Expression',
      does: 'in the profile of PowerShell',
    },
  ],
  run: async (options, context, commands) => {
    const shell = shells.find((name) => name === options.argument('shell')) ?? 'bash';
    const { io } = context;
    if (!options.on('candidates')) {
      io.result({ shell, script: scripts[shell] }, () => scripts[shell]);
      return 0;
    }
    const words = options.rest('words');
    const place = contextOf(words, context);
    try {
      const completions = await candidates(words, {
        commands,
        groups,
        namesOf: (kind) => namesOf[kind](place),
      });
      io.result({ candidates: completions }, () => completions.map((one) => lineOf(one, shell)).join('\n'));
    } finally {
      if (place !== context) await place.close();
    }
    return 0;
  },
};

/** The data directory that the words name, else the usual one. */
function contextOf(words: readonly string[], context: Context): Context {
  const at = words.indexOf('--data-dir');
  const dataDir = at === -1 ? undefined : words[at + 1];
  return dataDir === undefined
    ? context
    : createContext({ io: context.io, flags: { dataDir }, now: context.now });
}

function lineOf({ summary, value }: Candidate, shell: Shell): string {
  // bash shows no summaries.
  return shell === 'bash' ? printable(value) : `${printable(value)}\t${printable(summary)}`;
}
