/**
 * What a coding agent sends with every step, in no wire format yet: instructions, twelve tools with their schemas, the calls and
 * results so far, which are mostly code full of quotes, tabs and backslashes, and a question.
 */
export interface AgentTurn {
  system: string;
  tools: readonly Tool[];
  task: string;
  exchanges: readonly Exchange[];
  question: string;
}

export interface Tool {
  name: string;
  description: string;
  /** JSON schema of its arguments. */
  parameters: object;
}

/** One call of a tool and what it answered: about 2.5 KB. */
export interface Exchange {
  id: string;
  tool: string;
  input: object;
  result: string;
}

/** The beginning of `turn`: its `exchanges` of calls and results, and the tools where they fit into a request of `bytes`. */
export function agentTurn(bytes: number, exchanges: number): AgentTurn {
  const small = bytes < 8_192;
  return {
    system: instructions.slice(0, small ? 300 : Math.min(instructions.length, Math.floor(bytes / 4))),
    tools: small ? [] : tools,
    task: 'The import of "C:\\Users\\ada\\notes.md" fails — find out why, and mend it.',
    exchanges: Array.from({ length: exchanges }, (_, index) => exchange(index + 1)),
    question: '',
  };
}

/** `length` bytes of question as JSON counts them, the odd remainder as dots. */
export function question(length: number): string {
  const asked = 'Why does the second test fail?\n';
  const bytes = asked.length + 1;
  const times = Math.max(0, Math.floor(length / bytes));
  return asked.repeat(times) + '.'.repeat(Math.max(0, length - times * bytes));
}

const codeLines: readonly ((n: number) => string)[] = [
  (n) => `export function read_${n}(path: string, { retries = ${n % 7} }: Options = {}): Buffer | null {`,
  (n) => `\tconst found = entries.get("item ${n}") ?? path.join('C:\\\\data', \`part-\${${n}}.json\`);`,
  () => '\t// The server says "\\r\\n" here, the client "\\n": both end a line — see RFC 9112.',
  (n) => `\tif (/^\\s*"(\\\\.|[^"\\\\])*"\\s*:/.test(line)) return { kind: 'member', at: ${n} };`,
  (n) => `\tassert.deepEqual(parse('{"name":"entry ${n}","tags":["a","b"]}'), { name: "entry ${n}" });`,
  (n) => `\tlog.debug({ id: ${n}, took: performance.now() - began }, "read\\t%s", found);`,
  () => '\treturn found === null ? null : Buffer.from(found, "utf8");',
  () => '}',
  () => '',
];

function code(seed: number, length: number): string {
  let text = '';
  for (let line = 0; text.length < length; line += 1) {
    const write = codeLines[line % codeLines.length];
    text += `${String(line + 1).padStart(5)}→${write?.((seed * 7_919 + line * 104_729) % 65_536) ?? ''}\n`;
  }
  return text.slice(0, length);
}

function exchange(turn: number): Exchange {
  const id = `call_${String(turn).padStart(4, '0')}_bench`;
  const file = `src/part_${turn}.ts`;
  if (turn % 4 === 0) {
    const input = { path: file, old_text: code(turn, 400), new_text: code(turn + 1, 500), all: false };
    return { id, tool: 'edit_file', input, result: `Changed "${file}".\n${code(turn + 1, 700)}` };
  }
  if (turn % 4 === 2) {
    const input = { command: `node --test ${file} | grep -n "not ok"`, timeout_ms: 120_000 };
    return { id, tool: 'run_command', input, result: `exit code 1\n${code(turn, 1_800)}` };
  }
  return { id, tool: 'read_file', input: { path: file, from: turn, lines: 200 }, result: code(turn, 2_200) };
}

const instructions = [
  'You are a coding agent. You work in the terminal of the person who asks, in the project at the current folder.',
  '# Rules\n- Read a file before you change it.\n- Say what you did in one or two sentences; no headings, no praise.',
  '- Never print secrets. Never run "git push" unless you were asked to.',
  '- Paths are relative to the project’s folder; on Windows they look like "C:\\\\work\\\\project".',
  '# Environment\nplatform: linux\nshell: /bin/bash\ntoday: 2026-11-23',
  `# Notes of the project\n${code(1, 3_000)}`,
].join('\n\n');

function text(description: string): object {
  return { type: 'string', description };
}

function schema(properties: Readonly<Record<string, object>>, required: readonly string[]): object {
  return { type: 'object', properties, required, additionalProperties: false };
}

function tool(name: string, what: string, parameters: object): Tool {
  const usage =
    'Usage:\n- The path must be inside the project, "../" is refused.\n- The result is cut after 2,000 lines; ask again with `from`.\n- An error comes as text that begins with "error:".';
  return { name, description: `${what}\n\n${usage}`, parameters };
}

const path = text('A path below the project, e.g. "src/main.ts".');
const count = { type: 'integer', minimum: 1, maximum: 2_000 };
const todo = schema(
  {
    content: text('What is to be done.'),
    status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
    priority: { type: 'string', enum: ['high', 'medium', 'low'] },
  },
  ['content', 'status'],
);
const edit = schema(
  { old_text: text('The text as it stands, with its "quotes" and tabs.'), new_text: text('The new text.') },
  ['old_text', 'new_text'],
);

const tools: readonly Tool[] = [
  tool('read_file', 'Reads a file with line numbers.', schema({ path, from: count, lines: count }, ['path'])),
  tool(
    'write_file',
    'Writes a file, also a new one.',
    schema({ path, content: text('All of it.') }, ['path', 'content']),
  ),
  tool(
    'edit_file',
    'Replaces one text of a file by another.',
    schema({ path, old_text: text('Now.'), new_text: text('Then.'), all: { type: 'boolean' } }, [
      'path',
      'old_text',
      'new_text',
    ]),
  ),
  tool(
    'edit_many',
    'Replaces several texts of a file, all or none.',
    schema({ path, edits: { type: 'array', items: edit, minItems: 1 } }, ['path', 'edits']),
  ),
  tool(
    'run_command',
    'Runs a command in the shell.',
    schema(
      {
        command: text('E.g. `npm test -- --grep "second"`.'),
        timeout_ms: { type: 'integer', minimum: 1, maximum: 600_000 },
        background: { type: 'boolean' },
      },
      ['command'],
    ),
  ),
  tool(
    'search',
    'Finds lines that match a pattern (ripgrep).',
    schema(
      {
        pattern: text('A regular expression, e.g. "log\\\\.(debug|info)\\\\(".'),
        path,
        glob: text('Only files of this name, e.g. "*.{ts,tsx}".'),
        mode: { type: 'string', enum: ['lines', 'files', 'count'] },
        context: { type: 'integer', minimum: 0 },
        ignore_case: { type: 'boolean' },
      },
      ['pattern'],
    ),
  ),
  tool(
    'list_files',
    'Lists files by a pattern.',
    schema({ pattern: text('E.g. "src/**/*.ts".'), path }, ['pattern']),
  ),
  tool(
    'write_todos',
    'Keeps the list of what is left to do.',
    schema({ todos: { type: 'array', items: todo } }, ['todos']),
  ),
  tool(
    'fetch_page',
    'Reads a page of the web as text.',
    schema({ url: { type: 'string', format: 'uri' }, question: text('What is wanted of it.') }, ['url']),
  ),
  tool(
    'search_web',
    'Searches the web.',
    schema({ query: text('Words.'), domains: { type: 'array', items: text('Only here.') } }, ['query']),
  ),
  tool(
    'ask_person',
    'Asks the person when the task cannot be understood.',
    schema(
      { question: text('One sentence.'), choices: { type: 'array', items: text('A choice.'), maxItems: 4 } },
      ['question'],
    ),
  ),
  tool(
    'start_agent',
    'Gives a part of the task to another agent.',
    schema(
      {
        task: text('All that it must know.'),
        kind: { type: 'string', enum: ['research', 'review', 'code'] },
      },
      ['task', 'kind'],
    ),
  ),
];
