import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { wordsOf } from '../src/codecs/adapt/adapt.ts';
import type { ConversationCodec } from '../src/codecs/codec.ts';
import { codecs } from '../src/codecs/index.ts';
import { type Concept, type ConceptRow, concepts, untranslatable } from '../src/codecs/model/concept.ts';
import type { WireFormat } from '../src/codecs/wire-format.ts';
import { intro, meanings, models, notes, unasked } from './translation-words.ts';

/**
 * Writes docs/translation.md from what the codecs declare. `--check` writes nothing and exits 1 when the
 * committed file differs.
 */

const { values: flags } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const target = fileURLToPath(new URL('../docs/translation.md', import.meta.url));

interface Format {
  format: WireFormat;
  codec: ConversationCodec;
  /** Where clients send its requests. */
  endpoint: string;
}

const formats: Format[] = codecs.flatMap(({ conversation, format, path, pathTemplate }) =>
  conversation === null
    ? []
    : [{ format, codec: conversation, endpoint: pathTemplate?.whole ?? `/v1${path ?? ''}` }],
);
const all = Object.keys(concepts) as Concept[];

const code = (text: string) => `\`${text}\``;
const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(row)].join('\n');

function conceptTable(): string {
  const rows = all.map((concept) => [
    meanings[concept],
    ...formats.map(({ codec }) => conceptCell(concept, codec)),
  ]);
  return table(['what a request may ask for', ...formats.map(({ format }) => code(format))], rows);
}

const withouts: Readonly<Record<ConceptRow['without'], string>> = {
  drop: '*left out*',
  refuse: '**400**',
  hold: '*enforced*',
  tell: '*in the text*',
};

function conceptCell(concept: Concept, codec: ConversationCodec): string {
  const name = codec.names[concept];
  const without = withouts[concepts[concept].without];
  if (name === undefined) return without;
  if (untranslatable.includes(concept)) return `${code(name)}: **400**`;
  return code(name) + footnote(concept, codec);
}

/** Which servers of a format receive it, where that is not all of them. */
function footnote(concept: Concept, { onTrial = [], vendorOnly }: ConversationCodec): string {
  const notes = [...(vendorOnly.includes(concept) ? ['¹'] : []), ...(onTrial.includes(concept) ? ['²'] : [])];
  return notes.length === 0 ? '' : ` ${notes.join(' ')}`;
}

function pairTable(from: Format): string {
  const rows = formats
    .filter((to) => to !== from)
    .map((to) => [code(to.format), missing(from, to, 'drop'), missing(from, to, 'refuse')]);
  return table(['to', 'left out and named', 'refused'], rows);
}

/** What requests of one format can express and requests of another cannot, by the first format's names. */
function missing(from: Format, to: Format, without: 'drop' | 'refuse'): string {
  const words = { ...wordsOf(from.codec) };
  for (const concept of unasked[from.format] ?? []) delete words[concept];
  const said = new Set(all.flatMap((concept) => (isSayable(concept, to) ? (words[concept] ?? []) : [])));
  const cells = all.flatMap((concept) => {
    const word = words[concept];
    if (word === undefined || concepts[concept].without !== without) return [];
    const note = footnote(concept, to.codec);
    if (isSayable(concept, to)) return note === '' ? [] : [code(word) + note];
    // A word that stands for several things is left out for some of them only.
    return [said.has(word) ? `${code(word)} (${meanings[concept]})` : code(word)];
  });
  return [...new Set(cells)].join(', ') || '–';
}

function isSayable(concept: Concept, { codec }: Format): boolean {
  return codec.names[concept] !== undefined && !untranslatable.includes(concept);
}

function toolLine({ codec: { tools }, format }: Format): string {
  const free = tools.custom ? 'as they are' : 'as functions';
  const groups = tools.namespaces ? 'kept' : 'flattened to `namespace__name`';
  return `- ${code(format)}: names up to ${tools.maxName} characters; tools with free text ${free}; namespaces ${groups}.`;
}

function noteList({ format }: Format): string[] {
  const { asked = [], asking = [] } = notes[format] ?? {};
  if (asked.length + asking.length === 0) return [];
  const items = (who: string, list: readonly string[]) => list.map((note) => `- **${who}:** ${note}`);
  return [
    `### ${code(format)}`,
    [...items('From a client', asking), ...items('To a provider', asked)].join('\n'),
  ];
}

function formatSection(from: Format): string {
  return [`### From ${code(from.format)}`, `Requests to ${code(from.endpoint)}.`, pairTable(from)].join(
    '\n\n',
  );
}

function render(): string {
  const withTools = formats.filter(({ codec }) => codec.names.tools !== undefined);
  return `${[
    '# Translation',
    '<!-- Generated by scripts/build-translation.ts from the codecs: do not edit. -->',
    intro,
    '## What each format calls it',
    'A cell shows the field that requests of the format use, or what happens when the request is sent to a provider of the ' +
      'format. *Left out*: it is left out and named in `x-gateway-dropped`. **400**: the request is refused. *Enforced*: the ' +
      'gateway itself makes the answer comply, for example it passes on only the first of several calls when the client ' +
      'wants one at a time. *In the text*: it becomes part of the text of the conversation.',
    conceptTable(),
    '¹ Sent only to the format’s own vendor. Other providers of the format are known to refuse fields that they do not ' +
      'know, so it is left out there, and named.',
    '² Also sent to OpenRouter and to servers that were added as generic ones, until one of them refuses it: from then on it ' +
      'is left out there, and named.',
    models,
    '## Tools',
    withTools.map(toolLine).join('\n'),
    '## Format by format',
    ...formats.flatMap(noteList),
    '## From format to format',
    'Fields are named as in the request.',
    ...formats.map(formatSection),
  ].join('\n\n')}\n`;
}

function committed(): string | null {
  try {
    return readFileSync(target, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const text = render();
if (!flags.check) {
  writeFileSync(target, text);
} else if (committed() !== text) {
  process.stderr.write('docs/translation.md is out of date: run `node scripts/build-translation.ts`\n');
  process.exitCode = 1;
}
