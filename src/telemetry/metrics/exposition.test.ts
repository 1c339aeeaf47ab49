import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expositionFor } from './exposition.ts';
import type { MetricFamily } from './family.ts';

const families: readonly MetricFamily[] = [
  {
    name: 'a_seconds',
    type: 'counter',
    unit: 'seconds',
    help: 'Back\\slash, "quotes"\nand a line',
    points: [{ labels: { path: 'C:\\"a"\nb\0\ud800' }, value: 1.5 }],
  },
  { name: 'b', type: 'gauge', help: 'b', points: [{ labels: {}, value: Number.POSITIVE_INFINITY }] },
  { name: 'empty', type: 'gauge', help: 'without series', points: [] },
  {
    name: 'h_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'h',
    bounds: [0.1, 1],
    points: [{ labels: { a: 'x' }, counts: [2, 0, 3], sum: 12.5 }],
  },
];

describe('expositions', () => {
  it('writes the text format of Prometheus', () => {
    const { contentType, write } = expositionFor('*/*');
    assert.equal(contentType, 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(
      write(families),
      [
        '# HELP a_seconds_total Back\\\\slash, "quotes"\\nand a line',
        '# TYPE a_seconds_total counter',
        'a_seconds_total{path="C:\\\\\\"a\\"\\nb\ufffd"} 1.5',
        '# HELP b b',
        '# TYPE b gauge',
        'b +Inf',
        '# HELP h_seconds h',
        '# TYPE h_seconds histogram',
        'h_seconds_bucket{a="x",le="0.1"} 2',
        'h_seconds_bucket{a="x",le="1.0"} 2',
        'h_seconds_bucket{a="x",le="+Inf"} 5',
        'h_seconds_sum{a="x"} 12.5',
        'h_seconds_count{a="x"} 5',
        '',
      ].join('\n'),
    );
  });

  it('writes OpenMetrics, where a counter’s family has no suffix and there are units and an end', () => {
    const { contentType, write } = expositionFor(
      'application/openmetrics-text;version=1.0.0,text/plain;q=0.5',
    );
    assert.equal(contentType, 'application/openmetrics-text; version=1.0.0; charset=utf-8');
    const lines = write(families).split('\n');
    assert.deepEqual(lines.slice(0, 4), [
      '# TYPE a_seconds counter',
      '# UNIT a_seconds seconds',
      '# HELP a_seconds Back\\\\slash, \\"quotes\\"\\nand a line',
      'a_seconds_total{path="C:\\\\\\"a\\"\\nb\ufffd"} 1.5',
    ]);
    assert.deepEqual(lines.slice(-2), ['# EOF', '']);
  });

  it('writes OpenMetrics only for those that want it', () => {
    const typeFor = (accept?: string) => expositionFor(accept).contentType.split(';')[0];
    assert.equal(typeFor(undefined), 'text/plain');
    assert.equal(typeFor('application/openmetrics-text;q=0, text/plain'), 'text/plain');
    assert.equal(
      typeFor('application/openmetrics-text;version=1.0.0;q=0.6,*/*;q=0.2'),
      'application/openmetrics-text',
    );
  });
});
