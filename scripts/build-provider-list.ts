import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { allProviders } from '../src/providers/index.ts';
import type { Provider } from '../src/providers/provider.ts';

const { values: flags } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

/**
 * Writes the tables of docs/providers.md, each between `<!-- providers: CATEGORY -->` and `<!-- end -->`.
 * `--check` writes nothing and exits 1 when the page is out of date.
 */
const page = fileURLToPath(new URL('../docs/providers.md', import.meta.url));

/** A format without its vendor: `openai-image-edits` as `image edits`. */
function shortName(format: string): string {
  return format.replace(/^(?:anthropic|openai)-/, '').replaceAll('-', ' ');
}

function table(category: string): string {
  const rows = allProviders().filter((provider) => provider.category === category);
  const head = [
    '| id | provider | key variables | formats | documentation | free tier |',
    '|---|---|---|---|---|---|',
  ];
  return [...head, ...rows.map(row)].join('\n');
}

function row(provider: Provider): string {
  const { documentation, formats, freeTier, id, keyVariables, localPort, name, unpriced, website } = provider;
  const port = localPort === undefined ? '' : `, port ${localPort}`;
  const cells = [
    `\`${id}\``,
    `[${name}](${website})${port}`,
    keyVariables.length === 0 ? 'none' : keyVariables.map((each) => `\`${each}\``).join(', '),
    Object.keys(formats).map(shortName).join(', '),
    `[reference](${documentation})`,
    unpriced === 'free' ? 'free' : freeTier === undefined ? '' : `[yes](${freeTier})`,
  ];
  return `| ${cells.join(' | ')} |`;
}

const current = readFileSync(page, 'utf8');
const next = current.replace(
  /(<!-- providers: ([\w-]+) -->\n)[\s\S]*?(<!-- end -->)/g,
  (_, start: string, category: string, end: string) => `${start}\n${table(category)}\n\n${end}`,
);
if (!flags.check) writeFileSync(page, next);
else if (next !== current) {
  process.stderr.write('docs/providers.md is out of date: run `node scripts/build-provider-list.ts`\n');
  process.exitCode = 1;
}
