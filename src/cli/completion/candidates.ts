import { type Argument, type CommandEntry, commonFlags, type Flag, type ValueKind } from '../command.ts';

/** A word that may follow, and what it means. */
export interface Candidate {
  value: string;
  summary: string;
}

export interface CandidatesInput {
  commands: readonly CommandEntry[];
  /** What a first word with commands below it is about. */
  groups: Readonly<Record<string, string>>;
  /** The names that this installation has. */
  namesOf(kind: ValueKind): Promise<readonly Candidate[]>;
}

/**
 * What may stand in the place of the last of `words`, which may be empty.
 * @param words those of the command line after the program's name
 * @returns none where anything may follow, such as the name of a file
 */
export async function candidates(
  words: readonly string[],
  { commands, groups, namesOf }: CandidatesInput,
): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  if (before.includes('--')) return [];
  const chosen = chosenCommand(before, commands);
  const command = chosen === null ? null : await chosen.entry.load();
  const flags = [...(command?.flags ?? []), ...commonFlags];
  const valued = flagOfValue(before.at(-1), flags);
  const offered = (of: Argument | Flag) => valuesOf(of, namesOf);
  const fitting = (list: readonly Candidate[]) => list.filter(({ value }) => value.startsWith(current));
  if (valued !== undefined) return fitting(await offered(valued));
  const equals = current.indexOf('=');
  if (current.startsWith('--') && equals !== -1) {
    const flag = flags.find(({ name }) => `--${name}` === current.slice(0, equals));
    const list = flag === undefined ? [] : await offered(flag);
    return fitting(
      list.map(({ summary, value }) => ({ value: current.slice(0, equals + 1) + value, summary })),
    );
  }
  if (current.startsWith('-')) return fitting(flagCandidates(flags));
  const operands = operandsOf(before, flags);
  if (chosen === null || command === null) return fitting(commandCandidates(operands, commands, groups));
  const index = operands.length - chosen.entry.name.split(' ').length;
  const last = command.arguments.at(-1);
  const argument = command.arguments[index] ?? (last?.rest === true ? last : undefined);
  return argument === undefined ? fitting(flagCandidates(flags)) : fitting(await offered(argument));
}

/** The command that the words name: of one word, or of two. */
function chosenCommand(
  words: readonly string[],
  commands: readonly CommandEntry[],
): { entry: CommandEntry } | null {
  const [first = '', second = ''] = operandsOf(words, commonFlags);
  const entry =
    commands.find(({ name }) => name === `${first} ${second}`) ?? commands.find(({ name }) => name === first);
  return entry === undefined ? null : { entry };
}

/** The words that are neither a flag nor the value of one. */
function operandsOf(words: readonly string[], flags: readonly Flag[]): string[] {
  return words.filter(
    (word, index) => !word.startsWith('-') && flagOfValue(words[index - 1], flags) === undefined,
  );
}

/** The flag whose value follows this word. */
function flagOfValue(word: string | undefined, flags: readonly Flag[]): Flag | undefined {
  return flags.find(
    ({ name, short, value }) => value !== undefined && (word === `--${name}` || word === `-${short}`),
  );
}

function flagCandidates(flags: readonly Flag[]): Candidate[] {
  const named = flags.map(({ name, summary }) => ({ value: `--${name}`, summary }));
  return [...named, { value: '--help', summary: 'print help' }];
}

function commandCandidates(
  operands: readonly string[],
  commands: readonly CommandEntry[],
  groups: Readonly<Record<string, string>>,
): Candidate[] {
  const [group] = operands;
  if (group !== undefined) {
    if (operands.length > 1) return [];
    const own = commands.filter(({ name }) => name.startsWith(`${group} `));
    return own.map(({ name, summary }) => ({ value: name.slice(group.length + 1), summary }));
  }
  const firsts = new Map<string, string>();
  for (const { name, summary } of commands) {
    const [first = ''] = name.split(' ');
    const existing = firsts.get(first);
    if (name === first || existing === undefined) firsts.set(first, groups[first] ?? summary);
  }
  return [
    ...[...firsts].map(([value, summary]) => ({ value, summary })),
    { value: 'help', summary: 'print help' },
  ];
}

async function valuesOf(
  of: Argument | Flag,
  namesOf: CandidatesInput['namesOf'],
): Promise<readonly Candidate[]> {
  const fixed = of.choices ?? ('suggestions' in of ? of.suggestions : undefined);
  if (fixed !== undefined) return fixed.map((value) => ({ value, summary: of.summary }));
  return of.names === undefined ? [] : namesOf(of.names);
}
