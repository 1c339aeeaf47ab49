import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeConfig } from '../config/decode.ts';
import { type AvailableBackends, reportUnsupported } from './supported.ts';

const yaml = (strategy: string, url = 'sqlite:') => `components:
  channels:
    - {unique_id: main, url: "${url}", mq_topic_name: main}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: t, kind: log}
strategy:
  trigger_strategies:
    - {event_trigger_id: t, ${strategy}}
router_rules:
  routers:
    - {source_id: s, trigger_id: t, channel_id: main}
`;

const letters = 'dead_letter_strategy: {enable: true}';

/** What is reported of a trigger beyond what every configuration is checked for: fields of its strategy. */
function reported(text: string, given: Partial<AvailableBackends> = {}): string[] {
  const found: string[] = [];
  const note = (severity: string) => (path: string) =>
    void found.push(`${severity} ${path.replace('strategy.trigger_strategies[0].', '')}`);
  const decoded = decodeConfig({ format: 'text', text });
  assert.ok(decoded.ok, decoded.ok ? '' : JSON.stringify(decoded.problems));
  const nothing: AvailableBackends = {
    redis: false,
    distributedStorage: false,
    fallbacks: [],
    sharedDatabase: false,
  };
  const report = { error: note('error'), warning: note('warning') };
  reportUnsupported(decoded.config, report, { ...nothing, ...given });
  return found;
}

describe('unsupported features of the engine', () => {
  it('are refused with the field that requests them', () => {
    const rate =
      'rate_limit_strategy: {limit_mode: MODE_GLOBAL, threshold: 1, stat_duration: 1, stat_duration_time_unit: SECOND}';
    for (const [strategy, expected] of [
      [letters, []],
      ['dead_letter_strategy: {enable: true, persistence: {persistence_type: MEMORY}}', []],
      [
        'dead_letter_strategy: {enable: true, persistence: {persistence_type: DFS}}',
        ['error dead_letter_strategy.persistence.persistence_type'],
      ],
      [`${letters}, runtime_strategy: {${rate}}`, ['error runtime_strategy.rate_limit_strategy.limit_mode']],
      [
        `${letters}, runtime_strategy: {concurrency_limit_strateg: {max_concurrency: 1, limit_mode: MODE_GLOBAL}}`,
        ['error runtime_strategy.concurrency_limit_strateg.limit_mode'],
      ],
    ] as const)
      assert.deepEqual(reported(yaml(strategy)), expected, strategy);
    const distributed = 'dead_letter_strategy: {enable: true, persistence: {persistence_type: DFS}}';
    assert.deepEqual(reported(yaml(distributed), { distributedStorage: true }), []);
    const shared = yaml(`${letters}, runtime_strategy: {${rate}}`);
    assert.deepEqual(reported(shared, { redis: true }), []);
  });

  it('include idempotence on a channel that gateways share, because each knows only what it handled itself', () => {
    const strategy = `${letters}, enable_idempotence: true`;
    assert.deepEqual(reported(yaml(strategy)), []);
    assert.deepEqual(reported(yaml(strategy, 'nats://localhost')), ['warning enable_idempotence']);
    assert.deepEqual(reported(yaml(strategy, 'nats://localhost'), { sharedDatabase: true }), []);
  });
});
