import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findProvider } from '../providers/index.ts';
import { currentCatalog } from './current.ts';
import { installDataSet } from './data-set/install.ts';
import { installedFile, removeInstalledDataSet } from './data-set/installed.ts';

describe('the catalogue of a data directory', () => {
  let dataDir = '';
  const provider = (id: string) => {
    const match = findProvider(id);
    assert.ok(match);
    return match;
  };
  const stepfun = provider('stepfun');
  const openrouter = provider('openrouter');
  const openai = provider('openai');
  const now = Date.UTC(2026, 10, 22);
  before(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'catalog-'));
  });
  after(() => rmSync(dataDir, { recursive: true, force: true }));

  it('is the same until another data set is installed, and again when that is taken away', async () => {
    const current = currentCatalog({ dataDir, overrides: {} });
    const first = current();
    assert.equal(current(), first);
    assert.equal(first.dataSet.isInstalled(), false);
    const prices = { i: 1, o: 1 };
    const table = {
      stepfun: [{ id: 'step-99', price: prices }],
      openrouter: [{ id: 'deepseek/deepseek-r1', price: prices }],
      openai: [{ id: 'gpt-5', price: prices }],
    };
    await installDataSet(dataDir, table, now);
    const second = current();
    assert.notEqual(second, first);
    assert.equal(first.priceOf(stepfun, 'step-99', now), null, 'what a request began with stays');
    assert.equal(second.priceOf(stepfun, 'step-99', now)?.source, 'models.dev 2026-11-22');
    assert.equal(second.priceOf(openrouter, 'deepseek/deepseek-r1', now)?.input, 1, 'newer, at a reseller');
    assert.match(String(second.priceOf(openai, 'gpt-5', now)?.source), /^genai-prices/, 'the vendor’s own');
    assert.equal(await removeInstalledDataSet(dataDir), true);
    assert.equal(current().priceOf(stepfun, 'step-99', now), null);
    assert.equal(await removeInstalledDataSet(dataDir), false);
  });

  it('falls back to what came with the gateway when the installed file is damaged', async () => {
    await installDataSet(dataDir, { stepfun: [{ id: 'step-99', price: { i: 1, o: 1 } }] }, now);
    const file = installedFile(dataDir);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"i":1', '"i":9'));
    const catalog = currentCatalog({ dataDir, overrides: {} })();
    assert.equal(catalog.priceOf(stepfun, 'step-99', now), null);
    assert.ok(catalog.models(stepfun).length > 0);
    assert.equal(catalog.dataSet.isInstalled(), false);
    await removeInstalledDataSet(dataDir);
  });
});
