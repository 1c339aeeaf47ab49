import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

/** What may import what in the dashboard (dashboard/README.md): a higher row from a lower one, and no feature from another. */
const rows: Readonly<Record<string, number>> = {
  'main.tsx': 4,
  app: 3,
  pages: 2,
  features: 1,
  components: 0,
  lib: -1,
  locales: -2,
};
/** Loaded by pages that are opened later; the first page stays small without them. */
const late = ['react-hook-form', '@hookform/resolvers/zod', 'zod'];

const folder = fileURLToPath(new URL('../../dashboard/src', import.meta.url));
const sources = new Map(
  globSync('**/*.{ts,tsx}', { cwd: folder })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/\.test\.tsx?$/.test(path))
    .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
);

const unitOf = (path: string) => path.split('/')[0] ?? path;

function importsOf(text: string): { specifier: string; typeOnly: boolean }[] {
  const pattern = /\b(import|export)\s+(type\s)?[^'";()]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'/g;
  return [...text.matchAll(pattern)].map((found) => ({
    specifier: found[3] ?? found[4] ?? '',
    typeOnly: found[2] !== undefined,
  }));
}

function violation(path: string, specifier: string, typeOnly: boolean): string | null {
  const from = rows[unitOf(path)];
  if (from === undefined) return `${path}: ${unitOf(path)} has no row in this test`;
  if (!specifier.startsWith('.')) {
    if (specifier.startsWith('node:')) return `${path}: a browser has no ${specifier}`;
    if (late.includes(specifier) && !typeOnly && !/^(features|pages)\//.test(path))
      return `${path}: ${specifier} is for features and pages, which are loaded when they are opened`;
    return null;
  }
  const target = posix.normalize(posix.join(dirname(path), specifier));
  if (target.startsWith('../')) {
    // The language of event filters imports nothing, and so runs in a browser as well.
    const shared = /^\.\.\/\.\.\/src\/(.+schema|events\/cesql\/cesql)\.ts$/.test(target);
    return shared ? null : `${path}: of the gateway's sources only schemas are shared, not ${target}`;
  }
  const to = rows[unitOf(target)];
  if (to === undefined || to > from) return `${path} (row ${from}) imports ${target} (row ${to})`;
  const [, feature] = path.split('/');
  const [targetUnit, targetFeature] = target.split('/');
  if (unitOf(path) === 'features' && targetUnit === 'features' && feature !== targetFeature)
    return `${path}: a feature imports another: ${target}`;
  if (unitOf(path) === 'pages' && targetUnit === 'pages') return `${path}: a page imports another: ${target}`;
  return null;
}

describe('the sources of the dashboard', () => {
  it('import from lower rows alone, and of the gateway its schemas', () => {
    assert.ok(sources.size > 30, 'they were found');
    const found = [...sources].flatMap(([path, text]) =>
      importsOf(text).flatMap(({ specifier, typeOnly }) => violation(path, specifier, typeOnly) ?? []),
    );
    assert.deepEqual(found, []);
  });

  const planted: readonly [string, string, RegExp][] = [
    ['features/keys/a.ts', '../combos/queries.ts', /imports another/],
    ['components/a.tsx', '../features/keys/queries.ts', /row 0.*row 1/],
    ['pages/keys.tsx', './requests.tsx', /imports another/],
    ['pages/keys.tsx', '../app/router.ts', /row 2.*row 3/],
    ['features/keys/a.ts', '../../../../src/access/keys/keys.ts', /only schemas/],
    ['lib/a.ts', 'node:fs', /no node:fs/],
    ['app/shell.tsx', 'react-hook-form', /for features and pages/],
  ];
  for (const [path, specifier, complaint] of planted)
    it(`may not have ${path} import ${specifier}`, () =>
      assert.match(violation(path, specifier, false) ?? '', complaint));

  it('never let a string become HTML or code', () => {
    const found = [...sources].filter(([, text]) =>
      /dangerouslySetInnerHTML|\.innerHTML|\beval\(|new Function\(|document\.write/.test(text),
    );
    assert.deepEqual(
      found.map(([path]) => path),
      [],
    );
  });
});
