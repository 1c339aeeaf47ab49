import { type Command, type CommandEntry, commonFlags, type Flag } from './command.ts';

/** What the shell can offer for one command. */
export interface Completion {
  name: string;
  summary: string;
  flags: readonly Flag[];
  /** Values of the first argument, where they are known. */
  values: readonly string[];
}

export function completionOf(entry: CommandEntry, command: Command): Completion {
  return {
    name: entry.name,
    summary: entry.summary,
    flags: [...command.flags, ...commonFlags],
    values: command.arguments[0]?.choices ?? command.arguments[0]?.suggestions ?? [],
  };
}

type Script = (tree: readonly Completion[]) => string;

export const scripts: Readonly<Record<'bash' | 'zsh' | 'fish', Script>> = { bash, zsh, fish };

const programs = 'gateway modelgate';

/** Word → the words that may follow it; '' is the start of the line. */
function wordsAfter(tree: readonly Completion[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Set(tree.filter(({ name }) => name.includes(' ')).map(({ name }) => firstWord(name)));
  const following = new Map<string, readonly string[]>([
    ['', [...new Set([...tree.map(({ name }) => firstWord(name)), 'help'])]],
  ]);
  for (const group of groups) {
    const own = tree.filter(({ name }) => name.startsWith(`${group} `));
    following.set(
      group,
      own.map(({ name }) => name.slice(group.length + 1)),
    );
  }
  return following;
}

function firstWord(name: string): string {
  return name.split(' ')[0] ?? name;
}

function flagWords({ flags }: Completion): string[] {
  return [...flags.map(({ name }) => `--${name}`), '--help'];
}

function bash(tree: readonly Completion[]): string {
  const commands = tree.map(
    (completion) =>
      `    ${JSON.stringify(completion.name)}*) offer="${[...completion.values, ...flagWords(completion)].join(' ')}" ;;`,
  );
  const starts = [...wordsAfter(tree)].map(
    ([word, following]) => `    ${JSON.stringify(word)}) offer="${following.join(' ')} --help" ;;`,
  );
  return `# bash completion for gateway
_gateway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" typed="" offer="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) ;;
      *) typed="\${typed:+$typed }$word" ;;
    esac
  done
  case "$typed" in
${[...starts, ...commands].join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offer" -- "$current"))
}
complete -o default -F _gateway ${programs}
`;
}

function zsh(tree: readonly Completion[]): string {
  const starts = [...wordsAfter(tree)].map(
    ([word, following]) => `    ${JSON.stringify(word)}) ${zshWords(following)} ;;`,
  );
  const commands = tree.map(
    (completion) =>
      `    ${JSON.stringify(completion.name)}*) ${zshWords([...completion.values, ...flagWords(completion)])} ;;`,
  );
  return `#compdef ${programs}
_gateway() {
  local typed="" word
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    case "$word" in
      -*) ;;
      *) typed="\${typed:+$typed }$word" ;;
    esac
  done
  case "$typed" in
${[...starts, ...commands].join('\n')}
  esac
}
if [ "$funcstack[1]" = "_gateway" ]; then
  _gateway "$@"
else
  compdef _gateway ${programs}
fi
`;
}

function zshWords(words: readonly string[]): string {
  return `compadd -- ${words.join(' ')}`;
}

function fish(tree: readonly Completion[]): string {
  const lines = ['# fish completion for gateway'];
  for (const program of programs.split(' ')) {
    lines.push(`complete -c ${program} -f`);
    for (const [word, following] of wordsAfter(tree)) {
      const condition =
        word === ''
          ? '__fish_use_subcommand'
          : `__fish_seen_subcommand_from ${word}; and not __fish_seen_subcommand_from ${following.join(' ')}`;
      lines.push(`complete -c ${program} -n '${condition}' -a '${following.join(' ')}'`);
    }
    for (const completion of tree) lines.push(...fishFlags(program, completion));
  }
  return `${lines.join('\n')}\n`;
}

function fishFlags(program: string, { name, flags, values }: Completion): string[] {
  const condition = name
    .split(' ')
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join('; and ');
  const lines =
    values.length === 0 ? [] : [`complete -c ${program} -n '${condition}' -a '${values.join(' ')}'`];
  for (const flag of flags) {
    const short = flag.short === undefined ? '' : ` -s ${flag.short}`;
    const value = flag.value === undefined ? '' : ' -r';
    lines.push(
      `complete -c ${program} -n '${condition}' -l ${flag.name}${short}${value} -d ${fishQuoted(flag.summary)}`,
    );
  }
  return lines;
}

function fishQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
