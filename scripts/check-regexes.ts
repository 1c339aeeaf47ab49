/**
 * Holds every regular expression of `src/` to linear time (`regex-cost.ts`): many of them meet bytes of strangers, and which
 * ones do changes faster than anybody looks.   node scripts/check-regexes.ts
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseSync } from 'oxc-parser';
import { regexCost } from './regex-cost.ts';

// Takes no arguments, and refuses any.
parseArgs();

/** Patterns that are put together while the program runs, by file: why each is linear. */
const composed: Readonly<Record<string, string>> = {
  'src/proxy/translate/long-texts.ts': 'a text without operators',
  'src/combos/routing/request-features.ts': 'alternatives of words without operators',
  'src/catalog/match.ts': "the price data's own patterns, matched with ids of models from the configuration",
};

interface Place {
  file: string;
  line: number;
}

interface Regex extends Place {
  source: string;
  flags: string;
}

const root = join(import.meta.dirname, '..');
const findings: string[] = [];
const composing = new Set<string>();
let checked = 0;
const name = ({ file, line }: Place) => `${file}:${line}`;

for (const file of globSync('src/**/*.ts', { cwd: root })) {
  if (/\.(test|d)\.ts$/.test(file)) continue;
  const text = readFileSync(join(root, file), 'utf8');
  const { errors, program } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  walk(program, (node) => {
    const place = () => ({ file, line: text.slice(0, Number(node['start'])).split('\n').length });
    const regex = literal(node) ?? constructed(node);
    if (regex === null) return;
    if (regex === 'composed') {
      composing.add(file);
      if (composed[file] === undefined)
        findings.push(
          `${name(place())} composes a pattern: say in scripts/check-regexes.ts why it is linear`,
        );
    } else check({ ...place(), ...regex });
  });
}
for (const file of Object.keys(composed))
  if (!composing.has(file)) findings.push(`${file} composes no pattern any more: leave it out of the list`);

for (const finding of findings) console.error(finding);
if (findings.length > 0) process.exitCode = 1;
else console.error(`${checked} regular expressions are linear`);

function check(regex: Regex): void {
  checked += 1;
  const finding = regexCost(regex.source, regex.flags);
  if (finding !== null)
    findings.push(
      `${name(regex)} /${regex.source}/${regex.flags} is ${finding}: leave no two ways to read the same text, or scan it by hand`,
    );
}

type Node = Readonly<Record<string, unknown>>;

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) walk(one, visit);
  else if (typeof value === 'object' && value !== null) {
    const node = value as Node;
    if (typeof node['type'] === 'string') visit(node);
    for (const child of Object.values(node)) walk(child, visit);
  }
}

function literal(node: Node): Pick<Regex, 'flags' | 'source'> | null {
  const regex = node['type'] === 'Literal' ? (node['regex'] as Node | undefined) : undefined;
  if (regex === undefined) return null;
  return { source: String(regex['pattern']), flags: String(regex['flags']) };
}

/** `new RegExp(…)`: a template is read with a number in the place of each value. */
function constructed(node: Node): Pick<Regex, 'flags' | 'source'> | 'composed' | null {
  if (node['type'] !== 'NewExpression' && node['type'] !== 'CallExpression') return null;
  if ((node['callee'] as Node)['name'] !== 'RegExp') return null;
  const [source, flags] = node['arguments'] as Node[];
  if (source?.['type'] !== 'TemplateLiteral') return 'composed';
  const quasis = source['quasis'] as { value: { cooked: string } }[];
  return { source: quasis.map(({ value }) => value.cooked).join('0'), flags: String(flags?.['value'] ?? '') };
}
