import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createGatewayMetrics } from '../src/telemetry/metrics/gateway-metrics.ts';

const page = readFileSync(join(import.meta.dirname, '../docs/operate.md'), 'utf8');

/** Every metric of a gateway beside those of its events, also those without a series yet, as a scrape names them. */
function scraped(): Map<string, string> {
  const metrics = createGatewayMetrics({
    version: '1',
    connections: () => [],
    accounts: { headroom: () => null, inFlight: () => 0, conditionsOf: () => [] },
    budgets: () => [],
    ledger: { pending: () => 0, lostRows: () => 0, backlog: 1 },
    traces: { pending: () => 0, lostRows: () => 0 },
    calls: () => ({ open: 0, waiting: 0 }),
    workers: () => ({
      states: () => [],
      restarts: () => ({ count: 0 }),
      load: () => ({ cpuSeconds: 0, residentBytes: 0 }),
    }),
    tracesDropped: () => 0,
    openRequests: () => 0,
    isReady: () => true,
    store: () => ({ up: true, rowsWaiting: 0 }),
    sharing: () => true,
    now: () => 0,
  });
  try {
    // Some are measured from the first scrape on.
    metrics.families();
    return new Map(
      metrics.families().map(({ name, type }) => [type === 'counter' ? `${name}_total` : name, type]),
    );
  } finally {
    metrics.close();
  }
}

/** The rows of the page's table: names and their type. */
function documented(): Map<string, string> {
  const section = page.slice(page.indexOf('\n## Metrics'), page.indexOf('\n### Alerts'));
  const rows = [...section.matchAll(/^\| (`.+?) \| (counter|gauge|histogram) \|/gm)];
  return new Map(
    rows.flatMap(([, names = '', type = '']) =>
      [...names.matchAll(/`([a-z0-9_]+)`/g)].map(([, name = '']) => [name, type] as const),
    ),
  );
}

describe('the list of metrics in docs/operate.md', () => {
  it('has every metric with its type, and no other', () => {
    const real = [...scraped()].map(([name, type]) => `${name} ${type}`).sort();
    const written = [...documented()].map(([name, type]) => `${name} ${type}`).sort();
    assert.deepEqual(written, real);
  });

  it('has alerts about metrics that there are', () => {
    const alerts = page.slice(page.indexOf('### Alerts'), page.indexOf('\n## ', page.indexOf('### Alerts')));
    const known = scraped();
    const names = [...alerts.matchAll(/\b(modelgate_[a-z_]+)\b/g)].map(([, name = '']) => name);
    assert.ok(names.length > 5);
    for (const name of names)
      if (!name.startsWith('modelgate_events_')) assert.ok(known.has(name.replace(/_bucket$/, '')), name);
  });
});
