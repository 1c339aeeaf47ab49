import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { create, fromJson, type JsonValue, toBinary, toJsonString } from '@bufbuild/protobuf';
import { stringify } from 'yaml';
import { fc } from '../../../test/support/machine/properties.ts';
import { EventSchema } from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import { type DecodedConfig, decodeConfig } from './decode.ts';

/** A configuration, as a person writes it. */
type Values = Record<string, unknown>;

const channel = { unique_id: 'main', url: 'memory:', mq_topic_name: 'main' };
const source = { ref: { unique_id: 'gw', kind: 'gateway' } };
const trigger = { ref: { unique_id: 'audit', kind: 'log' } };
const router = { source_id: 'gw', trigger_id: 'audit', channel_id: 'main' };
const letters = { enable: true };

interface Parts {
  channels?: Values[];
  sources?: Values[];
  triggers?: Values[];
  source?: Values;
  trigger?: Values;
  routers?: Values[];
}

function configOf({
  channels,
  routers,
  source: sourceFields,
  sources,
  trigger: triggerFields,
  triggers,
}: Parts): Values {
  return {
    components: {
      channels: channels ?? [channel],
      sources: sources ?? [source],
      triggers: triggers ?? [trigger],
    },
    strategy: {
      source_strategies: sourceFields === undefined ? [] : [{ event_source_id: 'gw', ...sourceFields }],
      trigger_strategies: [{ event_trigger_id: 'audit', dead_letter_strategy: letters, ...triggerFields }],
    },
    router_rules: { routers: routers ?? [router] },
  };
}

const text = (values: unknown): DecodedConfig => decodeConfig({ format: 'text', text: stringify(values) });
const decode = (parts: Parts): DecodedConfig => text(configOf(parts));

/** `severity path` of each problem. */
function complaints(decoded: DecodedConfig): string[] {
  const problems = decoded.ok ? decoded.warnings : decoded.problems;
  return problems.map(({ path, severity }) => `${severity} ${path}`);
}

function configIn(decoded: DecodedConfig) {
  assert.ok(decoded.ok, inspect(decoded));
  return decoded.config;
}

const ownRuntime = 'strategy.trigger_strategies[0].runtime_strategy';
const ownLetters = 'strategy.trigger_strategies[0].dead_letter_strategy';
const runtime = (fields: Values): Parts => ({ trigger: { runtime_strategy: fields } });
const retry = (fields: Values): Parts => runtime({ retry_rule: fields });
const rate = { name: 'slow', threshold: 5, stat_duration: 1, stat_duration_time_unit: 'SECOND' };
const breaker = {
  name: 'fuse',
  strategy: 'STRATEGY_ERROR_REQUEST_RATIO',
  trigger_ratio: 0.5,
  stat_duration: 10,
  stat_duration_time_unit: 'SECOND',
  recovery_timeout: 500,
  recovery_timeout_time_unit: 'MILLISECOND',
  min_request_amount: 5,
};
const withUrl = (url: string, topic = 'main'): Parts => ({
  channels: [{ ...channel, url, mq_topic_name: topic }],
});
const withTrigger = (fields: Values): Parts => ({ triggers: [{ ref: { unique_id: 'audit', ...fields } }] });
const withFilter = (cesql: unknown): Parts => ({ routers: [{ ...router, filter: { cesql } }] });

describe('a configuration of events', () => {
  it('is complete, with defaults, in milliseconds and bytes', () => {
    const config = configIn(
      decode({
        channels: [channel, { unique_id: 'lost', url: 'sqlite:', mq_topic_name: 'lost' }],
        source: {
          async_send: true,
          fault_tolerant_storage: { persistence_type: 'LFS', full_strategy: 'DROP' },
          runtime_strategy: { rate_limit_strategy: rate },
        },
        trigger: {
          enable_idempotence: true,
          dead_letter_strategy: { enable: true, retry_trigger_threshold: 2, channel: { unique_id: 'lost' } },
          runtime_strategy: {
            retry_rule: {
              retry_max: '3',
              back_off_delay: 'PT1.5S',
              back_off_policy_type: 'BACK_OFF_POLICY_EXPONENTIAL',
            },
            circuit_breaker_strategy: breaker,
            concurrency_limit_strateg: { name: 'few', max_concurrency: 4, limit_mode: 'MODE_GLOBAL' },
            fault_tolerance_rule: {
              targets: [{ target_resource_name: 'trigger:audit' }, { target_resource_name: 'channel:ma*' }],
              strategies: [{ name: 'fuse', kind: 'CircuitBreakerStrategy' }],
            },
          },
        },
      }),
    );
    assert.deepEqual(config.sources.get('gw'), {
      id: 'gw',
      processor: { kind: 'gateway', name: '' },
      asyncSend: true,
      storage: { type: 'local', bytes: 1_073_741_824, whenFull: 'drop' },
      runtime: {
        retry: null,
        rateLimit: { name: 'slow', scope: 'local', threshold: 5, periodMs: 1_000 },
        circuitBreaker: null,
        concurrency: null,
        faultTolerance: null,
      },
    });
    assert.deepEqual(config.triggers.get('audit'), {
      id: 'audit',
      processor: { kind: 'log', name: '' },
      bufferSize: 256,
      idempotent: true,
      runtime: {
        retry: { max: 3, delayMs: 1_500, growth: 'exponential' },
        rateLimit: null,
        circuitBreaker: {
          name: 'fuse',
          trips: { on: 'errors' },
          ratio: 0.5,
          windowMs: 10_000,
          recoveryMs: 500,
          minRequests: 5,
        },
        concurrency: { name: 'few', scope: 'global', max: 4 },
        faultTolerance: {
          targets: ['trigger:audit', 'channel:ma*'],
          strategies: ['circuit-breaker'],
          action: null,
        },
      },
      deadLetters: {
        afterRetries: 2,
        store: { kind: 'channel', channel: { id: 'lost', scheme: 'sqlite', url: 'sqlite:', topic: 'lost' } },
      },
    });
  });

  it('routes by filters that are compiled', () => {
    const { routes } = configIn(decode(withFilter("type = 'a'")));
    assert.equal(routes[0]?.filter?.matches({ type: 'a' }), true);
    assert.equal(routes[0]?.filter?.matches({ type: 'b' }), false);
    assert.equal(configIn(decode(withFilter(''))).routes[0]?.filter, null);
    assert.equal(configIn(decode({})).routes[0]?.filter, null);
  });

  it('may be empty, or without strategies', () => {
    for (const empty of ['', '{}', 'components:\n'])
      assert.ok(decodeConfig({ format: 'text', text: empty }).ok);
    const config = configIn(text({ ...configOf({}), strategy: null }));
    assert.equal(config.triggers.get('audit')?.bufferSize, 256);
    assert.equal(config.triggers.get('audit')?.deadLetters, null);
    assert.equal(config.sources.get('gw')?.asyncSend, false);
  });

  const broken: readonly [what: string, parts: Parts, ...expected: string[]][] = [
    // Components
    [
      'a channel without an id',
      { channels: [channel, { ...channel, unique_id: '', url: 'sqlite:' }] },
      'error components.channels[1].unique_id',
    ],
    [
      'an id that is too long',
      { channels: [channel, { ...channel, unique_id: 'x'.repeat(129), url: 'sqlite:' }] },
      'error components.channels[1].unique_id',
    ],
    [
      'an id twice',
      { channels: [channel, { ...channel, url: 'sqlite:' }] },
      'error components.channels[1].unique_id',
    ],
    [
      'an id of another kind',
      { triggers: [trigger, { ref: { unique_id: 'main', kind: 'log' } }] },
      'error components.triggers[1].ref.unique_id',
    ],
    ['a trigger without a ref', { triggers: [trigger, {}] }, 'error components.triggers[1].ref'],
    [
      'no address',
      { channels: [{ unique_id: 'main', mq_topic_name: 'x' }] },
      'error components.channels[0].url',
    ],
    ['an unknown message queue', withUrl('https://mq/topic'), 'error components.channels[0].url'],
    ['an address that is none', withUrl('nats'), 'error components.channels[0].url'],
    ['an address without a server', withUrl('nats:'), 'error components.channels[0].url'],
    ['an address with a bad port', withUrl('nats://host:x'), 'error components.channels[0].url'],
    ['a password', withUrl('nats://user:hunter2@host'), 'error components.channels[0].url'],
    ['half a reference', withUrl(`nats://user:x\${A}@host`), 'error components.channels[0].url'],
    ['a secret parameter', withUrl('kafka://host?sasl_password=hunter2'), 'error components.channels[0].url'],
    ['a broken reference', withUrl('nats://user:${@host'), 'error components.channels[0].url'],
    ['no topic', withUrl('memory:', ''), 'error components.channels[0].mq_topic_name'],
    ['a wildcard of NATS', withUrl('nats://host', 'a.*'), 'error components.channels[0].mq_topic_name'],
    [
      'an empty part of a subject',
      withUrl('nats://host', 'a..b'),
      'error components.channels[0].mq_topic_name',
    ],
    ['white space in a subject', withUrl('nats://host', 'a b'), 'error components.channels[0].mq_topic_name'],
    ['a wildcard of MQTT', withUrl('mqtt://host', 'a/#'), 'error components.channels[0].mq_topic_name'],
    [
      'a topic that Kafka cannot have',
      withUrl('kafka://host', 'a b'),
      'error components.channels[0].mq_topic_name',
    ],
    [
      'a long topic of Kafka',
      withUrl('kafka://host', 'a'.repeat(250)),
      'error components.channels[0].mq_topic_name',
    ],
    [
      'a long topic of AMQP',
      withUrl('amqp://host', 'ä'.repeat(128)),
      'error components.channels[0].mq_topic_name',
    ],
    ['no kind', withTrigger({ kind: '' }), 'error components.triggers[0].ref.kind'],
    ['an unknown kind', withTrigger({ kind: 'lambda' }), 'error components.triggers[0].ref.kind'],
    [
      'a source of a kind for triggers',
      { sources: [{ ref: { unique_id: 'gw', kind: 'log' } }] },
      'error components.sources[0].ref.kind',
    ],
    ['a webhook without an address', withTrigger({ kind: 'http' }), 'error components.triggers[0].ref.name'],
    [
      'a webhook that is none',
      withTrigger({ kind: 'http', name: 'ftp://host' }),
      'error components.triggers[0].ref.name',
    ],
    [
      'a webhook with a password',
      withTrigger({ kind: 'http', name: 'https://u:p@host' }),
      'error components.triggers[0].ref.name',
    ],
    [
      'a bridge to no channel',
      withTrigger({ kind: 'channel', name: 'audit' }),
      'error components.triggers[0].ref.name',
    ],
    // Strategies
    [
      'a strategy of nobody',
      { source: { event_source_id: 'nobody' } },
      'error strategy.source_strategies[0].event_source_id',
    ],
    [
      'a strategy of another kind',
      { source: { event_source_id: 'audit' } },
      'error strategy.source_strategies[0].event_source_id',
    ],
    [
      'a strategy without an id',
      { source: { event_source_id: '' } },
      'error strategy.source_strategies[0].event_source_id',
    ],
    [
      'a negative size',
      { source: { fault_tolerant_storage: { persistence_size: -1 } } },
      'error strategy.source_strategies[0].fault_tolerant_storage.persistence_size',
    ],
    [
      'a size beyond numbers',
      { source: { fault_tolerant_storage: { persistence_size: '9223372036854775807' } } },
      'error strategy.source_strategies[0].fault_tolerant_storage.persistence_size',
    ],
    [
      'a size beyond 64 bits',
      { source: { fault_tolerant_storage: { persistence_size: '9223372036854775808' } } },
      'error strategy.source_strategies[0].fault_tolerant_storage.persistence_size',
    ],
    [
      'an unknown storage',
      { source: { fault_tolerant_storage: { persistence_type: 'TAPE' } } },
      'error strategy.source_strategies[0].fault_tolerant_storage.persistence_type',
    ],
    ['negative retries', retry({ retry_max: -1 }), `error ${ownRuntime}.retry_rule.retry_max`],
    ['endless retries', retry({ retry_max: 1_000_001 }), `error ${ownRuntime}.retry_rule.retry_max`],
    [
      'a delay that is none',
      retry({ back_off_delay: '6s' }),
      `error ${ownRuntime}.retry_rule.back_off_delay`,
    ],
    [
      'a delay without its T',
      retry({ back_off_delay: 'P6S' }),
      `error ${ownRuntime}.retry_rule.back_off_delay`,
    ],
    ['a delay in months', retry({ back_off_delay: 'P6M' }), `error ${ownRuntime}.retry_rule.back_off_delay`],
    [
      'a delay above a day',
      retry({ back_off_delay: 'PT24H1S' }),
      `error ${ownRuntime}.retry_rule.back_off_delay`,
    ],
    [
      'a negative buffer',
      { trigger: { receive_buffer_size: -1 } },
      'error strategy.trigger_strategies[0].receive_buffer_size',
    ],
    [
      'a negative threshold',
      { trigger: { dead_letter_strategy: { enable: true, retry_trigger_threshold: -1 } } },
      `error ${ownLetters}.retry_trigger_threshold`,
    ],
    [
      'two stores',
      {
        trigger: {
          dead_letter_strategy: {
            enable: true,
            channel: { ...channel, unique_id: 'other', url: 'sqlite:' },
            persistence: {},
          },
        },
      },
      `error ${ownLetters}.persistence`,
    ],
    [
      'dead letters without an id',
      { trigger: { dead_letter_strategy: { enable: true, channel: {} } } },
      `error ${ownLetters}.channel.unique_id`,
    ],
    [
      'dead letters to a trigger',
      { trigger: { dead_letter_strategy: { enable: true, channel: { unique_id: 'audit' } } } },
      `error ${ownLetters}.channel.unique_id`,
    ],
    [
      'dead letters to another topic of the name',
      {
        trigger: {
          dead_letter_strategy: { enable: true, channel: { unique_id: 'main', mq_topic_name: 'x' } },
        },
      },
      `error ${ownLetters}.channel`,
    ],
    [
      'dead letters to a broken channel',
      {
        trigger: {
          dead_letter_strategy: {
            enable: true,
            channel: { unique_id: 'x', url: 'ftp:', mq_topic_name: 'x' },
          },
        },
      },
      `error ${ownLetters}.channel.url`,
    ],
    [
      'dead letters that come back',
      { trigger: { dead_letter_strategy: { enable: true, channel: { unique_id: 'main' } } } },
      `error ${ownLetters}.channel`,
    ],
    // Limits
    [
      'a negative rate',
      runtime({ rate_limit_strategy: { ...rate, threshold: -1 } }),
      `error ${ownRuntime}.rate_limit_strategy.threshold`,
    ],
    [
      'a rate per nothing',
      runtime({ rate_limit_strategy: { ...rate, stat_duration: 0 } }),
      `error ${ownRuntime}.rate_limit_strategy.stat_duration`,
    ],
    [
      'a rate without a unit',
      runtime({ rate_limit_strategy: { ...rate, stat_duration_time_unit: 'UNKNOWN' } }),
      `error ${ownRuntime}.rate_limit_strategy.stat_duration_time_unit`,
    ],
    [
      'a name that is too long',
      runtime({ rate_limit_strategy: { ...rate, name: 'x'.repeat(1_025) } }),
      `error ${ownRuntime}.rate_limit_strategy.name`,
    ],
    [
      'a period beyond 32 bits',
      runtime({ rate_limit_strategy: { ...rate, stat_duration: 2_147_483_648 } }),
      `error ${ownRuntime}.rate_limit_strategy.stat_duration`,
    ],
    [
      'a negative concurrency',
      runtime({ concurrency_limit_strateg: { max_concurrency: -1 } }),
      `error ${ownRuntime}.concurrency_limit_strateg.max_concurrency`,
    ],
    [
      'a breaker without a strategy',
      runtime({ circuit_breaker_strategy: { ...breaker, strategy: 'STRATEGY_UNKNOWN' } }),
      `error ${ownRuntime}.circuit_breaker_strategy.strategy`,
    ],
    [
      'a ratio above 1',
      runtime({ circuit_breaker_strategy: { ...breaker, trigger_ratio: 1.01 } }),
      `error ${ownRuntime}.circuit_breaker_strategy.trigger_ratio`,
    ],
    [
      'a negative ratio',
      runtime({ circuit_breaker_strategy: { ...breaker, trigger_ratio: -0.1 } }),
      `error ${ownRuntime}.circuit_breaker_strategy.trigger_ratio`,
    ],
    [
      'a breaker without a window',
      runtime({ circuit_breaker_strategy: { ...breaker, stat_duration: 0 } }),
      `error ${ownRuntime}.circuit_breaker_strategy.stat_duration`,
    ],
    [
      'a breaker without a recovery',
      runtime({ circuit_breaker_strategy: { ...breaker, recovery_timeout: 0 } }),
      `error ${ownRuntime}.circuit_breaker_strategy.recovery_timeout`,
    ],
    [
      'a breaker without a minimum',
      runtime({ circuit_breaker_strategy: { ...breaker, min_request_amount: 0 } }),
      `error ${ownRuntime}.circuit_breaker_strategy.min_request_amount`,
    ],
    [
      'slowness that is nowhere told',
      runtime({ circuit_breaker_strategy: { ...breaker, strategy: 'STRATEGY_SLOW_REQUEST_RATIO' } }),
      `error ${ownRuntime}.circuit_breaker_strategy.slow_condition`,
    ],
    [
      'slowness of nothing',
      runtime({
        circuit_breaker_strategy: { ...breaker, strategy: 'STRATEGY_SLOW_REQUEST_RATIO', slow_condition: {} },
      }),
      `error ${ownRuntime}.circuit_breaker_strategy.slow_condition.max_allowed_rt_millis`,
    ],
    // Rules
    [
      'a target that is nowhere',
      runtime({
        rate_limit_strategy: rate,
        fault_tolerance_rule: {
          targets: [{ target_resource_name: 'trigger:x' }],
          strategies: [{ name: 'slow', kind: 'RateLimitStrategy' }],
        },
      }),
      `error ${ownRuntime}.fault_tolerance_rule.targets[0].target_resource_name`,
    ],
    [
      'a target that is none',
      runtime({
        rate_limit_strategy: rate,
        fault_tolerance_rule: {
          targets: [{ target_resource_name: 'audit' }],
          strategies: [{ name: 'slow', kind: 'rate_limit_strategy' }],
        },
      }),
      `error ${ownRuntime}.fault_tolerance_rule.targets[0].target_resource_name`,
    ],
    [
      'a strategy that is not beside the rule',
      runtime({ fault_tolerance_rule: { strategies: [{ name: 'slow', kind: 'RateLimitStrategy' }] } }),
      `error ${ownRuntime}.fault_tolerance_rule.strategies[0].name`,
    ],
    [
      'a strategy of an unknown kind',
      runtime({ fault_tolerance_rule: { strategies: [{ name: 'slow', kind: 'Throttling' }] } }),
      `error ${ownRuntime}.fault_tolerance_rule.strategies[0].kind`,
    ],
    [
      'requests that bring no events as a target',
      runtime({
        rate_limit_strategy: rate,
        fault_tolerance_rule: {
          targets: [
            { target_resource_name: 'POST:/api/*' },
            { target_resource_name: 'POST:/v1/chat/completions' },
          ],
          strategies: [{ name: 'slow', kind: 'RateLimitStrategy' }],
        },
      }),
      `error ${ownRuntime}.fault_tolerance_rule.targets[1].target_resource_name`,
    ],
    [
      'a fallback of a trigger',
      runtime({
        rate_limit_strategy: rate,
        fault_tolerance_rule: {
          strategies: [{ name: 'slow', kind: 'RateLimitStrategy' }],
          action: { name: 'x', kind: 'HttpRequestFallbackAction' },
        },
      }),
      `error ${ownRuntime}.fault_tolerance_rule.action`,
    ],
    [
      'an unknown fallback',
      {
        source: {
          runtime_strategy: {
            rate_limit_strategy: rate,
            fault_tolerance_rule: {
              strategies: [{ name: 'slow', kind: 'RateLimitStrategy' }],
              action: { name: 'x', kind: 'Mail' },
            },
          },
        },
      },
      'error strategy.source_strategies[0].runtime_strategy.fault_tolerance_rule.action.kind',
    ],
    // Routers
    [
      'a router from nowhere',
      { routers: [router, { ...router, source_id: 'x' }] },
      'error router_rules.routers[1].source_id',
    ],
    [
      'a router to nowhere',
      { routers: [router, { ...router, trigger_id: '' }] },
      'error router_rules.routers[1].trigger_id',
    ],
    [
      'a router through a trigger',
      { routers: [router, { ...router, channel_id: 'audit' }] },
      'error router_rules.routers[1].channel_id',
    ],
    ['a filter that is none', withFilter('select id > 0'), 'error router_rules.routers[0].filter.cesql'],
    [
      'a filter with an unknown function',
      withFilter("FOO(id) = 'x'"),
      'error router_rules.routers[0].filter.cesql',
    ],
    // Types
    [
      'a number as text',
      { channels: [{ ...channel, mq_topic_name: 5 }] },
      'error components.channels[0].mq_topic_name',
    ],
    [
      'text as a truth value',
      { source: { async_send: 'yes' } },
      'error strategy.source_strategies[0].async_send',
    ],
    ['a fraction as a whole number', retry({ retry_max: 1.5 }), `error ${ownRuntime}.retry_rule.retry_max`],
    [
      'a truth value as a number',
      runtime({ circuit_breaker_strategy: { ...breaker, trigger_ratio: true } }),
      `error ${ownRuntime}.circuit_breaker_strategy.trigger_ratio`,
    ],
    [
      'an unknown number of an enum',
      retry({ back_off_policy_type: 2 }),
      `error ${ownRuntime}.retry_rule.back_off_policy_type`,
    ],
    [
      'a text as a message',
      { source: { runtime_strategy: 'fast' } },
      'error strategy.source_strategies[0].runtime_strategy',
    ],
    ['a misspelled field', { source: { asyncsend: true } }, 'error strategy.source_strategies[0].asyncsend'],
    [
      'both spellings',
      { source: { async_send: true, asyncSend: true, fault_tolerant_storage: { persistence_type: 'LFS' } } },
      'error strategy.source_strategies[0].asyncSend',
    ],
  ];
  for (const [what, parts, ...expected] of broken)
    it(`is refused for ${what}`, () => {
      const found = complaints(decode(parts)).filter((complaint) => complaint.startsWith('error'));
      assert.deepEqual(found, expected);
    });

  it('is refused for two strategies of one trigger, and for a list of the wrong type', () => {
    const twice = configOf({});
    const [own] = (twice['strategy'] as { trigger_strategies: Values[] }).trigger_strategies;
    const found = text({ ...twice, strategy: { trigger_strategies: [own, own] } });
    assert.deepEqual(complaints(found), ['error strategy.trigger_strategies[1].event_trigger_id']);
    const noList = text({ ...twice, router_rules: { routers: router } });
    assert.deepEqual(
      complaints(noList).filter((complaint) => complaint.startsWith('error')),
      ['error router_rules.routers'],
    );
  });

  const warned: readonly [what: string, parts: Parts, ...expected: string[]][] = [
    ['nothing', {}],
    [
      'a topic under two names',
      {
        channels: [channel, { ...channel, unique_id: 'twin' }],
        routers: [router, { ...router, channel_id: 'twin' }],
      },
      'warning components.channels[1]',
    ],
    [
      'a component that no router uses',
      { channels: [channel, { ...channel, unique_id: 'idle', url: 'sqlite:' }] },
      'warning components.channels[1]',
    ],
    ['the same router twice', { routers: [router, router] }, 'warning router_rules.routers[1]'],
    [
      'AND beside OR',
      withFilter("id = 'a' AND id = 'b' OR id = 'c'"),
      'warning router_rules.routers[0].filter.cesql',
    ],
    [
      'sending later from memory',
      { source: { async_send: true } },
      'warning strategy.source_strategies[0].async_send',
    ],
    ['no dead letters', { trigger: { dead_letter_strategy: {} } }, `warning ${ownLetters}`],
    [
      'a threshold above the retries',
      {
        trigger: {
          dead_letter_strategy: { enable: true, retry_trigger_threshold: 3 },
          runtime_strategy: { retry_rule: { retry_max: 2 } },
        },
      },
      `warning ${ownLetters}.retry_trigger_threshold`,
    ],
    [
      'a rule that names nothing',
      runtime({ fault_tolerance_rule: {} }),
      `warning ${ownRuntime}.fault_tolerance_rule.strategies`,
    ],
  ];
  for (const [what, parts, ...expected] of warned)
    it(`is taken with a warning of ${what}`, () => {
      const decoded = decode(parts);
      assert.ok(decoded.ok, inspect(decoded));
      assert.deepEqual(complaints(decoded), expected);
    });

  const fine: readonly [what: string, parts: Parts][] = [
    [
      'every message queue',
      {
        channels: [
          'memory:',
          'sqlite:///var/x.db',
          'sqlite:events.db',
          'postgres://host/db',
          `nats://user:\${NATS_PASSWORD}@host:4222`,
          'redis://host',
          `rediss://:\${R}@host`,
          'amqp://host/vhost',
          'amqps://host',
          'mqtt://host',
          'mqtts://host',
          'kafka://one:9092,two:9092',
          `kafka://host?sasl_password=\${P}`,
        ].map((url, index) => ({ unique_id: `c${index}`, url, mq_topic_name: 'topic' })),
        routers: [{ ...router, channel_id: 'c0' }],
      },
    ],
    ['kinds in any spelling', withTrigger({ kind: 'RPC-Service', name: 'x' })],
    [
      'an address with a secret in its path',
      withTrigger({ kind: 'http', name: `https://host/hook/\${TOKEN}` }),
    ],
    [
      'limits of nothing',
      runtime({ rate_limit_strategy: { ...rate, threshold: 0 }, concurrency_limit_strateg: {} }),
    ],
    ['the longest delay', retry({ retry_max: 1_000_000, back_off_delay: 'PT24H' })],
  ];
  for (const [what, parts] of fine)
    it(`may have ${what}`, () => assert.ok(decode(parts).ok, JSON.stringify(complaints(decode(parts)))));

  it('is refused for dead letters that return through another trigger', () => {
    const channels = [channel, { unique_id: 'lost', url: 'sqlite:', mq_topic_name: 'lost' }];
    const strategy = (id: string, to: string) => ({
      event_trigger_id: id,
      dead_letter_strategy: { enable: true, channel: { unique_id: to } },
    });
    const found = text({
      components: {
        channels,
        sources: [source],
        triggers: [trigger, { ref: { unique_id: 'again', kind: 'log' } }],
      },
      strategy: { trigger_strategies: [strategy('audit', 'lost'), strategy('again', 'main')] },
      router_rules: { routers: [router, { source_id: 'gw', trigger_id: 'again', channel_id: 'lost' }] },
    });
    assert.deepEqual(complaints(found), [
      'error strategy.trigger_strategies[0].dead_letter_strategy.channel',
      'error strategy.trigger_strategies[1].dead_letter_strategy.channel',
    ]);
  });

  it('is read leniently where that is asked for', () => {
    const values = configOf({
      trigger: {
        runtime_strategy: {
          retry_rule: { retry_max: 1, back_off_delay: 'P6S' },
          rate_limit_strategy: { ...rate, stat_duration_time_unit: 'UNKNOWN' },
        },
      },
    });
    const decoded = decodeConfig({ format: 'text', text: stringify(values) }, { lenient: true });
    assert.deepEqual(complaints(decoded), [
      `warning ${ownRuntime}.retry_rule.back_off_delay`,
      `warning ${ownRuntime}.rate_limit_strategy.stat_duration_time_unit`,
    ]);
    assert.equal(configIn(decoded).triggers.get('audit')?.runtime.retry?.delayMs, 6_000);
    const months = configOf(retry({ back_off_delay: 'P6M' }));
    assert.equal(decodeConfig({ format: 'text', text: stringify(months) }, { lenient: true }).ok, false);
  });
});

describe('the forms of a configuration', () => {
  const values = configOf({ trigger: { receive_buffer_size: 7 }, ...withFilter("type = 'a'") });

  it('are YAML, JSON in both spellings, and the message, all the same', () => {
    const read = configIn(text(values));
    const forms = [
      decodeConfig({ format: 'text', text: JSON.stringify(values) }),
      decodeConfig({ format: 'text', text: JSON.stringify(values, null, '\t') }),
      decodeConfig({ format: 'text', text: toJsonString(EventSchema, read.message) }),
      decodeConfig({ format: 'protobuf', bytes: toBinary(EventSchema, read.message) }),
    ];
    for (const form of forms) {
      const { message, routes, ...others } = configIn(form);
      assert.deepEqual(message, read.message);
      assert.deepEqual(others, { channels: read.channels, sources: read.sources, triggers: read.triggers });
      assert.equal(routes.length, 1);
    }
  });

  it('are the golden messages', () => {
    interface Vector {
      message: string;
      json: JsonValue;
    }
    const file = new URL('../../../test/events/golden/messages.json', import.meta.url);
    const vectors: Vector[] = JSON.parse(readFileSync(file, 'utf8'));
    for (const { json, message } of vectors.filter((vector) => vector.message.endsWith('.Event'))) {
      const bytes = toBinary(EventSchema, fromJson(EventSchema, json));
      const one = complaints(decodeConfig({ format: 'protobuf', bytes }));
      const other = complaints(decodeConfig({ format: 'text', text: JSON.stringify(json) }));
      assert.equal(one.length, other.length, message);
    }
  });

  it('say where a problem is, by the names that the file uses', () => {
    const yaml = 'components:\n  channels:\n    - uniqueId: main\n      url: "memory:"\n';
    const decoded = decodeConfig({ format: 'text', text: yaml });
    assert.ok(!decoded.ok);
    assert.deepEqual(
      decoded.problems.filter(({ severity }) => severity === 'error'),
      [
        {
          severity: 'error',
          path: 'components.channels[0].mqTopicName',
          message: 'The topic is missing',
          line: 3,
          column: 7,
        },
      ],
    );
    const json = '{"components": {"channels": [\n  {"url": 5}]}}';
    const problems = decodeConfig({ format: 'text', text: json });
    assert.ok(!problems.ok);
    assert.deepEqual(
      problems.problems
        .filter(({ severity }) => severity === 'error')
        .map(({ column, line, path }) => ({ column, line, path })),
      [
        { path: 'components.channels[0].unique_id', line: 2, column: 3 },
        { path: 'components.channels[0].mq_topic_name', line: 2, column: 3 },
        { path: 'components.channels[0].url', line: 2, column: 4 },
      ],
    );
  });

  it('are refused with a place when they are no YAML', () => {
    const decoded = decodeConfig({ format: 'text', text: 'components:\n  - [a\n' });
    assert.ok(!decoded.ok);
    assert.equal(decoded.problems[0]?.path, '');
    assert.ok((decoded.problems[0]?.line ?? 0) >= 2);
    const twice = decodeConfig({ format: 'text', text: 'components: {}\ncomponents: {}\n' });
    assert.ok(!twice.ok && twice.problems[0]?.line === 2);
  });

  it('are refused when they are too large, a list, no message, or multiply themselves', () => {
    const large = decodeConfig({ format: 'text', text: `# ${'x'.repeat(4_194_304)}` });
    const nested = (name: string, at: number) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`)}]`;
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]', ...[...'bcdefghi'].map(nested)].join('\n');
    const wrong = [
      large,
      decodeConfig({ format: 'text', text: '[]' }),
      decodeConfig({ format: 'text', text: 'text' }),
      decodeConfig({ format: 'protobuf', bytes: Buffer.from([0xff]) }),
      decodeConfig({ format: 'text', text: bomb }),
      decodeConfig({ format: 'text', text: '['.repeat(100_000) }),
    ];
    for (const decoded of wrong) assert.ok(!decoded.ok && decoded.problems.length > 0);
  });

  it('never repeat a password in a problem', () => {
    const found = decode({
      channels: [{ ...channel, url: 'nats://user:hunter2@host', mq_topic_name: '' }],
      triggers: [{ ref: { unique_id: 'audit', kind: 'http', name: 'https://u:hunter2@host' } }],
    });
    assert.equal(found.ok, false);
    assert.ok(!inspect(found, { depth: null }).includes('hunter2'));
  });

  it('never make the reader throw', () => {
    const name = fc.constantFrom(
      'components',
      'channels',
      'strategy',
      'routerRules',
      'router_rules',
      'unique_id',
      'url',
      '',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue({ maxDepth: 1 }),
        tie('object'),
        fc.array(tie('tree'), { maxLength: 2 }),
      ),
      object: fc.dictionary(name, tie('tree'), { maxKeys: 4 }),
    }));
    fc.assert(fc.property(tree, (value) => void text(value)));
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => void decodeConfig({ format: 'text', text: any })),
    );
    const bytes = toBinary(EventSchema, configIn(text(values)).message);
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 255 }), (at, byte) => {
        const damaged = Uint8Array.from(bytes);
        damaged[at] = byte;
        decodeConfig({ format: 'protobuf', bytes: damaged });
      }),
    );
    assert.ok(decodeConfig({ format: 'protobuf', bytes: toBinary(EventSchema, create(EventSchema)) }).ok);
  });
});
