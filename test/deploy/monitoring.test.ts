import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { eventMetrics } from '../../src/management/metrics/event-metrics.ts';
import { installed } from '../support/brokers/server-process.ts';
import { startGateway } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { manifests, root } from './manifests.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Where an expression came from, and what it says. */
interface Expression {
  readonly where: string;
  readonly text: string;
}

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { refId: string; expr: string; legendFormat: string }[];
}

interface Dashboard {
  panels: Panel[];
  templating: { list: { name: string; query: string | { query: string } }[] };
  annotations: { list: { expr: string }[] };
}

const dashboard = JSON.parse(read('deploy/grafana/modelgate.json')) as Dashboard;

interface Rule {
  alert: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

const rules = (parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const adapter = parse(read('deploy/prometheus/adapter.yml')) as {
  rules: { seriesQuery: string; name: { matches: string } }[];
};

const expressions: Expression[] = [
  ...dashboard.panels.flatMap(({ targets = [], title }) =>
    targets.map(({ expr }) => ({ where: `the panel ${title}`, text: expr })),
  ),
  ...dashboard.templating.list.map(({ name, query }) => ({
    where: `the variable ${name}`,
    text: typeof query === 'string' ? '' : query.query,
  })),
  ...dashboard.annotations.list.map(({ expr }) => ({ where: 'an annotation', text: expr })),
  ...rules.map(({ alert, expr }) => ({ where: `the alert ${alert}`, text: expr })),
  ...adapter.rules.map(({ seriesQuery }) => ({ where: 'the adapter', text: seriesQuery })),
];

/** The metrics of an expression. */
const metricsIn = (text: string): string[] => text.match(/\b(?:modelgate|process|nodejs)_[a-z0-9_]+/g) ?? [];

/** What a scrape calls the series of a metric. */
const seriesOf = (name: string, type: string): string[] =>
  type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`) : [name];

/** The metrics of the table in docs/operate.md, which `test/metrics-page.test.ts` compares with the program. */
function documented(): string[] {
  const page = read('docs/operate.md');
  return [...page.matchAll(/^\| (`.+?) \| (counter|gauge|histogram) \|/gm)].flatMap(
    ([, names = '', type = '']) =>
      [...names.matchAll(/`([a-z0-9_]+)`/g)].flatMap(([, name = '']) => seriesOf(name, type)),
  );
}

/** The metrics of the event engine, also those without a series yet. */
function ofEvents(): string[] {
  const families = eventMetrics({
    running: true,
    config: { version: 1, via: 'file', author: 'owner', created_at: null, rejected: null },
    problems: [],
    sources: [],
    channels: [],
    triggers: [],
    requests: { resource: 'POST:/api/events', limits: [] },
    own_events: { emitted: 0, dropped: 0, waiting: 0 },
  });
  return families.map(({ name, type }) => (type === 'counter' ? `${name}_total` : name));
}

/** The labels of the tables of the documentation, by the metric that they stand beside. */
const labelsInDocs = new Set(
  [
    ...`${read('docs/operate.md')}${read('docs/events/operations.md')}`.matchAll(/^\| `modelgate_.*$/gm),
  ].flatMap(([row]) => [...row.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name)),
);
/** Labels that Prometheus adds, and those of its histograms. */
const addedLabels = new Set(['job', 'instance', 'le', 'namespace', 'pod']);

describe('the dashboard, the alerts and the adapter of deploy/', () => {
  const known = new Set(['up', ...documented(), ...ofEvents()]);

  it('are checked against what a gateway says of itself', async () => {
    const gateway = await startGateway();
    try {
      const asked = { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] };
      assert.equal((await gateway.ask('/v1/chat/completions', asked)).status, 200);
      const headers = { host: `127.0.0.1:${gateway.port}` };
      const { text } = await gateway.send({ method: 'GET', path: '/metrics', headers });
      const series = new Set([...text.matchAll(/^([a-z_]+)[ {]/gm)].map(([, name = '']) => name));
      assert.ok(series.size > 40);
      for (const name of series) assert.ok(known.has(name), name);
    } finally {
      await gateway.stop();
    }
  });

  it('ask for metrics that the gateway has', () => {
    for (const { text, where } of expressions)
      for (const name of metricsIn(text)) assert.ok(known.has(name), `${where}: ${name}`);
    assert.ok(expressions.filter(({ text }) => metricsIn(text).length > 0).length > 40);
  });

  it('ask for labels that these metrics have', () => {
    for (const { text, where } of expressions) {
      const grouped = [...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
        names.split(/,\s*/),
      );
      const selected = [...text.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, name = '']) => name);
      for (const label of [...grouped, ...selected])
        assert.ok(labelsInDocs.has(label) || addedLabels.has(label), `${where}: ${label}`);
    }
  });

  it('show labels that their expressions keep', () => {
    for (const { targets = [], title } of dashboard.panels)
      for (const { expr, legendFormat } of targets) {
        const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
          names.split(', '),
        );
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(.*?)\}\}/g))
          assert.ok(
            grouped.length === 0 ? label === 'instance' : grouped.includes(label),
            `${title}: ${label}`,
          );
      }
  });

  it('have every alert with a severity, a summary and what to do', () => {
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    for (const { alert, annotations = {}, labels = {} } of rules) {
      assert.match(labels['severity'] ?? '', /^(?:critical|warning)$/, alert);
      assert.ok((annotations['summary'] ?? '') !== '' && (annotations['description'] ?? '') !== '', alert);
    }
  });

  it('give the autoscaler the metric that it asks for', () => {
    const [scaler] = manifests().filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
    assert.ok(scaler);
    const { spec } = scaler.body as { spec: { metrics: { pods?: { metric: { name: string } } }[] } };
    const wanted = spec.metrics.flatMap(({ pods }) => (pods === undefined ? [] : [pods.metric.name]));
    assert.deepEqual(
      wanted,
      adapter.rules.map(({ name }) => name.matches),
    );
    for (const name of wanted) assert.ok(known.has(name), name);
  });

  it('have panels that do not overlap, each with an id of its own', () => {
    const taken = new Set<string>();
    assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
    for (const { gridPos, title } of dashboard.panels) {
      assert.ok(gridPos.x + gridPos.w <= 24, title);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          assert.ok(!taken.has(`${x} ${y}`), title);
          taken.add(`${x} ${y}`);
        }
    }
  });

  it('have alerts that fire when they should', { skip: !installed('promtool') }, () => {
    for (const command of [
      ['check', 'rules', 'deploy/prometheus/alerts.yml'],
      ['test', 'rules', 'deploy/prometheus/alerts.test.yml'],
    ]) {
      const { status, stderr, stdout } = spawnSync('promtool', command, { cwd: root, encoding: 'utf8' });
      assert.equal(status, 0, `${stdout}${stderr}`);
    }
  });

  it('have queries that Prometheus can read', { skip: !installed('promtool') }, (test) => {
    const readable = (text: string) =>
      text.replaceAll('$__rate_interval', '5m').replace(/\$(?:job|instance|provider)/g, 'x');
    const queries = expressions.filter(({ text, where }) => text !== '' && !where.includes('variable'));
    // As rules, for which it has a check.
    const lines = queries.map(
      ({ text }, index) => `      - { record: "q:${index}", expr: ${JSON.stringify(readable(text))} }`,
    );
    const file = join(temporaryFolder(test), 'queries.yml');
    writeFileSync(file, `groups:\n  - name: q\n    rules:\n${lines.join('\n')}\n`);
    const { status, stderr, stdout } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    assert.equal(status, 0, `${stdout}${stderr}`);
    assert.match(stdout, new RegExp(`${queries.length} rules found`));
  });
});
