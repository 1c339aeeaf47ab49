import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type EventName, type EventType, eventTypes, typeOf } from '../src/events/types/catalogue.ts';
import { jsonSchemaOf } from '../src/events/types/schema-document.ts';

/**
 * Writes the table of own events of `docs/events/types.md` from the catalogue. With `--check` it only says whether the page is as
 * it would be written.
 */

const { values: flags } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const path = join(fileURLToPath(new URL('..', import.meta.url)), 'docs/events/types.md');
const [begin, end] = ['<!-- begin generated -->', '<!-- end generated -->'];

function table(): string {
  const rows = (Object.entries(eventTypes) as [EventName, EventType][]).map(([name, { subject, when }]) => {
    const { properties } = jsonSchemaOf(name) as { properties: Record<string, unknown> };
    const fields = Object.keys(properties).map((field) => `\`${field}\``);
    return `| \`${typeOf(name)}\` | ${when} | ${subject} | ${fields.join(', ')} |`;
  });
  return ['| type | when | subject | data |', '|---|---|---|---|', ...rows].join('\n');
}

const before = readFileSync(path, 'utf8');
const after = `${before.slice(0, before.indexOf(begin) + begin.length)}\n${table()}\n${before.slice(before.indexOf(end))}`;
if (flags.check) {
  if (before !== after) {
    process.stderr.write(
      'docs/events/types.md is not as the catalogue says: run scripts/build-event-types.ts\n',
    );
    process.exitCode = 1;
  }
} else writeFileSync(path, after);
