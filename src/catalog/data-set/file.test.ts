import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { allProviders } from '../../providers/index.ts';
import { builtInDataSet, openDataSet, parseDataSet, renderDataSet } from './file.ts';
import { modelTable } from './schema.ts';

const about = { source: 'models.dev 2026-07-01', notice: 'MIT', taken: '2026-07-01' };
const table = {
  zeta: [{ id: 'Only' }],
  acme: [{ id: 'one', ctx: 8 }, { id: 'two "quoted"\n' }],
};

describe('the file of a data set', () => {
  const folder = mkdtempSync(join(tmpdir(), 'data-set-'));
  const file = join(folder, 'models.json');
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('returns what was written, one provider at a time', () => {
    writeFileSync(file, renderDataSet(table, about));
    const opened = openDataSet(file);
    assert.deepEqual([...opened.models('acme').keys()], ['one', 'two "quoted"\n']);
    assert.deepEqual(opened.models('zeta').get('only'), { id: 'Only' });
    assert.equal(opened.models('nobody').size, 0);
    assert.equal(opened.models('acme'), opened.models('acme'), 'read once');
    const { digest, ...head } = opened.head();
    assert.deepEqual(head, { ...about, providers: 2, models: 3 });
    assert.match(digest, /^[0-9a-f]{64}$/);
    assert.deepEqual(parseDataSet(readFileSync(file, 'utf8')).table, table);
  });

  it('is refused when it was changed or cut short', () => {
    const text = renderDataSet(table, about);
    assert.throws(() => parseDataSet(text.replace('"ctx":8', '"ctx":9')), /digest/);
    for (const length of [0, 10, text.length >> 1, text.length - 4])
      assert.throws(() => parseDataSet(text.slice(0, length)));
  });

  it('has, as it comes with the gateway, the documented shape, its license and every provider that we name', () => {
    const { head, table: builtIn } = parseDataSet(readFileSync(builtInDataSet, 'utf8'));
    modelTable.parse(builtIn);
    assert.match(head.source, /^models\.dev \d{4}-\d{2}-\d{2}$/);
    assert.match(head.notice, /MIT.*models\.dev/);
    assert.match(
      readFileSync(new URL('../../../NOTICE', import.meta.url), 'utf8'),
      /Copyright \(c\) 2025 models\.dev/,
    );
    assert.ok(head.models > 5_000 && head.providers > 140);
    for (const { id, modelsDev } of allProviders())
      assert.ok(modelsDev === undefined || builtIn[modelsDev] !== undefined, id);
  });
});
