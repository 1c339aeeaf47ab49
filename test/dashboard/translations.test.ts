import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  bestLanguage,
  completeLanguages,
  directionOf,
  languages,
} from '../../dashboard/src/lib/i18n/languages.ts';
import { builtInAgents } from '../../src/agents/list.ts';
import { tools } from '../../src/tools/catalogue/index.ts';

const folder = fileURLToPath(new URL('../../dashboard/src', import.meta.url));

/** `namespace:key` → text, of one language. */
function textsOf(language: string): Map<string, string> {
  const texts = new Map<string, string>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'string') texts.set(path, value);
    else
      for (const [key, inner] of Object.entries(value as object))
        walk(inner, path.endsWith(':') ? `${path}${key}` : `${path}.${key}`);
  };
  for (const file of globSync(`locales/${language}/*.json`, { cwd: folder }))
    walk(JSON.parse(readFileSync(join(folder, file), 'utf8')), `${basename(file, '.json')}:`);
  return texts;
}

const english = textsOf('en');
const sources = globSync('**/*.{ts,tsx}', { cwd: folder })
  .filter((path) => !/\.test\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));

/** Keys that the sources ask for: whole ones, and the beginnings of those that are put together. */
function keysAskedFor(): { path: string; keys: string[]; beginnings: string[] }[] {
  return sources.map(({ path, text }) => {
    const namespace = /(?:useTranslation\(|TFunction<)'(\w+)'/.exec(text)?.[1] ?? 'common';
    const full = (key: string) => (key.includes(':') ? key : `${namespace}:${key}`);
    const keys = [...text.matchAll(/\bt\(\s*'([^']+)'/g)].map(([, key = '']) => full(key));
    const beginnings = [...text.matchAll(/\bt\(\s*`([^`$]*)\$\{/g)].map(([, key = '']) => full(key));
    return { path, keys, beginnings };
  });
}

/** Names of the values in a text, and whether its braces fit together. */
function valuesIn(text: string): string {
  const names = [...text.matchAll(/\{(\w+)(?=[,}])/g)].map(([, name]) => name);
  const open = [...text].reduce((depth, sign) => depth + (sign === '{' ? 1 : sign === '}' ? -1 : 0), 0);
  return `${open} ${[...new Set(names)].sort().join()}`;
}

describe('the translations of the dashboard', () => {
  it('have every key that the pages ask for', () => {
    const missing = keysAskedFor().flatMap(({ path, keys, beginnings }) => [
      ...keys.filter((key) => !english.has(key)).map((key) => `${path}: ${key}`),
      ...beginnings
        .filter((start) => ![...english.keys()].some((key) => key.startsWith(start)))
        .map((start) => `${path}: ${start}…`),
    ]);
    assert.deepEqual(missing, []);
  });

  it('have no key that no page asks for', () => {
    const asked = keysAskedFor();
    const whole = new Set(asked.flatMap(({ keys }) => keys));
    const beginnings = asked.flatMap((one) => one.beginnings);
    const literals = new Set(
      sources.flatMap(({ text }) => [...text.matchAll(/'([\w.]+)'/g)].map(([, literal]) => literal)),
    );
    const unused = [...english.keys()].filter(
      (key) =>
        !whole.has(key) &&
        !beginnings.some((start) => key.startsWith(start)) &&
        !literals.has(key.slice(key.indexOf(':') + 1)),
    );
    assert.deepEqual(unused, []);
  });

  it('are complete in Brazilian Portuguese, with the same values in each text', () => {
    assert.deepEqual([...completeLanguages], ['en', 'pt-BR'], 'the languages without English beside them');
    const portuguese = textsOf('pt-BR');
    assert.deepEqual([...portuguese.keys()].sort(), [...english.keys()].sort());
    for (const [key, text] of portuguese)
      assert.equal(valuesIn(text), valuesIn(english.get(key) ?? ''), `${key}: ${text}`);
    // A whole sentence that is as in English was not translated.
    const same = [...portuguese].filter(
      ([key, text]) => text === english.get(key) && text.split(' ').length > 2,
    );
    assert.deepEqual(same, []);
  });

  it('say in English what the catalogue says of tools and agents', () => {
    const expected = new Map<string, string>();
    for (const { baseUrlSupport, category, description, id, limitation, recipe } of tools) {
      if (baseUrlSupport === 'none') continue;
      const start = `${category === 'code' ? 'cliCode' : 'cliAgents'}:tool.${id}.`;
      expected.set(`${start}description`, description);
      if (limitation !== undefined) expected.set(`${start}limitation`, limitation);
      for (const [index, step] of (recipe.steps ?? []).entries())
        expected.set(`${start}step${index + 1}`, step);
    }
    for (const { description, id } of builtInAgents)
      expected.set(`acpAgents:agent.${id}.description`, description);
    const told = [...english]
      .filter(([key]) => /^(?:cliCode:tool|cliAgents:tool|acpAgents:agent)\./.test(key))
      .map(([key, text]) => [key, text.replace(/\{(base_url|model)\}/g, '<$1>')] as const);
    assert.deepEqual(new Map(told.toSorted()), new Map([...expected].toSorted()));
  });

  it('are in folders of known languages, with keys and values that English has', () => {
    const known = new Set(languages.map(({ code }) => code));
    for (const file of globSync('locales/*/*.json', { cwd: folder })) {
      const language = basename(dirname(file));
      assert.ok(known.has(language), file);
      for (const [key, text] of textsOf(language)) {
        assert.ok(english.has(key), `${language} has ${key}, English does not`);
        assert.equal(valuesIn(text), valuesIn(english.get(key) ?? ''), `${language} ${key}: ${text}`);
      }
    }
  });

  it('are for 41 languages, chosen by what the browser asks for', () => {
    assert.equal(languages.length, 41);
    assert.equal(new Set(languages.map(({ code }) => code)).size, 41);
    const choices: readonly [string[], string][] = [
      [['pt-BR', 'en'], 'pt-BR'],
      [['pt-PT'], 'pt'],
      [['de-AT', 'en'], 'de'],
      [['zh-Hant', 'en'], 'zh-TW'],
      [['in'], 'id'],
      [['uk-UA'], 'uk'],
      [['xx', 'fr-CA'], 'fr'],
      [['', 'xx'], 'en'],
      [[], 'en'],
    ];
    for (const [wishes, language] of choices) assert.equal(bestLanguage(wishes), language, wishes.join());
    assert.deepEqual(['ar', 'fa', 'he', 'ur', 'en', 'ja'].map(directionOf), [
      'rtl',
      'rtl',
      'rtl',
      'rtl',
      'ltr',
      'ltr',
    ]);
  });
});
