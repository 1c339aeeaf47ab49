import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { commonFlags } from '../../src/cli/command.ts';
import { commandList } from '../../src/cli/commands/index.ts';

const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');

/** Heading → the text below it, up to the next heading of any level. */
const sections: ReadonlyMap<string, string> = new Map(
  page.split(/^#+ /m).map((part) => {
    const [heading = '', ...rest] = part.split('\n');
    return [heading.trim(), rest.join('\n')] as const;
  }),
);

/** The section of a command; those of the tools share one. */
const headingOf = (name: string): string => `gateway ${name.replace(/^setup-.+$/, 'setup-TOOL')}`;
const sectionOf = (name: string): string | undefined => sections.get(headingOf(name));

/** Flags in the first cells of a section's table. */
const documented = (section: string): string[] =>
  [...section.matchAll(/^\| `(?:-\w, )?--([a-z-]+)/gm)].map(([, name = '']) => name).sort();

/** A text without what Markdown adds to it: links, code, bullets and line breaks. */
const plain = (text: string): string =>
  text
    .replace(/\[([^\]\n]+)\]\([^)\n]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll('\n- ', '\n')
    .replaceAll('\\|', '|')
    .replace(/\s+/g, ' ')
    .trim();

describe('docs/cli.md', () => {
  it('has a section for every command, with its summary', () => {
    for (const { name, summary } of commandList) {
      const section = sectionOf(name);
      assert.ok(section !== undefined, `docs/cli.md has no section "gateway ${name}"`);
      assert.ok(section.includes(summary), `docs/cli.md: the summary of ${name} is "${summary}"`);
    }
  });

  it('says of each command what its help says: the text below the summary, and each argument and flag', async () => {
    for (const { name, load } of commandList) {
      const { about = '', arguments: words, flags } = await load();
      const section = plain(sectionOf(name) ?? '');
      // The commands that set up one tool each share a section.
      if (!name.startsWith('setup-'))
        assert.ok(section.includes(plain(about)), `docs/cli.md: the help of ${name} says "${plain(about)}"`);
      for (const one of [...words, ...flags])
        assert.ok(
          section.includes(plain(one.summary)),
          `docs/cli.md: the help of ${name} says of ${one.name} "${plain(one.summary)}"`,
        );
    }
  });

  it('lists exactly the flags that each command has', async () => {
    for (const { name, load } of commandList) {
      const flags = (await load()).flags.map((flag) => flag.name);
      assert.deepEqual(documented(sectionOf(name) ?? ''), flags.sort(), name);
    }
  });

  it('lists exactly the flags that all commands have', () => {
    const common = [...commonFlags.map(({ name }) => name), 'help', 'version'].sort();
    assert.deepEqual(documented(sections.get('Flags of every command') ?? ''), common);
  });

  it('has no section for a command that does not exist', () => {
    const names = commandList.map(({ name }) => headingOf(name));
    const unknown = [...sections.keys()].filter(
      (heading) => heading.startsWith('gateway ') && !names.includes(heading),
    );
    assert.deepEqual(unknown, []);
  });
});
