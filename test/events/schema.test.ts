import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  createRegistry,
  type DescField,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { file_io_opensergo_proto_event_v1_event as eventFile } from '../../src/events/gen/io/opensergo/proto/event/v1/event_pb.ts';
import { file_io_opensergo_proto_fault_tolerance_v1_fault_tolerance as faultToleranceFile } from '../../src/events/gen/io/opensergo/proto/fault_tolerance/v1/fault_tolerance_pb.ts';

/**
 * The published schema, field by field: `number name type`. `*` marks repeated fields, `|` those of the one oneof.
 * The bytes in `golden/messages.json` were made by buf's own converter, another implementation than the one under test.
 */
const event: Readonly<Record<string, readonly string[]>> = {
  EventChannel: ['1 unique_id string', '2 url string', '3 mq_topic_name string'],
  EventProcessorRef: ['1 unique_id string', '2 kind string', '3 name string'],
  EventSource: ['1 ref EventProcessorRef'],
  EventTrigger: ['1 ref EventProcessorRef'],
  EventComponents: ['1 channels *EventChannel', '2 sources *EventSource', '3 triggers *EventTrigger'],
  Persistence: [
    '1 persistence_type Persistence.PersistenceType',
    '2 persistence_size int64',
    '3 full_strategy Persistence.FullStrategy',
  ],
  'Persistence.PersistenceAddress': ['1 address string'],
  RetryRule: [
    '1 retry_max int64',
    '2 back_off_delay string',
    '3 back_off_policy_type RetryRule.BackoffPolicyType',
  ],
  DeadLetterStrategy: [
    '1 enable bool',
    '2 retry_trigger_threshold int64',
    '3 channel |EventChannel',
    '4 persistence |Persistence',
  ],
  EventRuntimeStrategy: [
    '1 fault_tolerance_rule FaultToleranceRule',
    '2 rate_limit_strategy RateLimitStrategy',
    '3 circuit_breaker_strategy CircuitBreakerStrategy',
    '4 concurrency_limit_strateg ConcurrencyLimitStrategy',
    '5 retry_rule RetryRule',
  ],
  EventSourceStrategy: [
    '1 event_source_id string',
    '2 async_send bool',
    '3 fault_tolerant_storage Persistence',
    '4 runtime_strategy EventRuntimeStrategy',
  ],
  EventTriggerStrategy: [
    '1 event_trigger_id string',
    '2 receive_buffer_size int64',
    '3 enable_idempotence bool',
    '4 runtime_strategy EventRuntimeStrategy',
    '5 dead_letter_strategy DeadLetterStrategy',
  ],
  EventStrategies: ['1 source_strategies *EventSourceStrategy', '2 trigger_strategies *EventTriggerStrategy'],
  'EventRouterRules.Filter': ['1 cesql string'],
  'EventRouterRules.Router': [
    '1 source_id string',
    '2 trigger_id string',
    '3 channel_id string',
    '4 filter EventRouterRules.Filter',
  ],
  EventRouterRules: ['1 routers *EventRouterRules.Router'],
  Event: ['1 components EventComponents', '2 strategy EventStrategies', '3 router_rules EventRouterRules'],
};

const faultTolerance: Readonly<Record<string, readonly string[]>> = {
  'FaultToleranceRule.FaultToleranceRuleTargetRef': ['1 target_resource_name string'],
  'FaultToleranceRule.FaultToleranceStrategyRef': ['1 name string', '2 kind string'],
  'FaultToleranceRule.FaultToleranceActionRef': ['1 name string', '2 kind string'],
  FaultToleranceRule: [
    '1 targets *FaultToleranceRule.FaultToleranceRuleTargetRef',
    '2 strategies *FaultToleranceRule.FaultToleranceStrategyRef',
    '3 action FaultToleranceRule.FaultToleranceActionRef',
  ],
  RateLimitStrategy: [
    '1 name string',
    '2 metric_type RateLimitStrategy.MetricType',
    '3 limit_mode RateLimitStrategy.LimitMode',
    '4 threshold int64',
    '5 stat_duration int32',
    '6 stat_duration_time_unit TimeUnit',
  ],
  ThrottlingStrategy: [
    '1 name string',
    '2 min_interval_millis_of_requests int64',
    '3 queue_timeout_millis int64',
  ],
  ConcurrencyLimitStrategy: [
    '1 name string',
    '2 limit_mode ConcurrencyLimitStrategy.LimitMode',
    '3 max_concurrency int64',
  ],
  'CircuitBreakerStrategy.CircuitBreakerSlowCondition': ['1 max_allowed_rt_millis int32'],
  'CircuitBreakerStrategy.CircuitBreakerErrorCondition': [],
  CircuitBreakerStrategy: [
    '1 name string',
    '2 strategy CircuitBreakerStrategy.Strategy',
    '3 trigger_ratio double',
    '4 stat_duration int64',
    '5 stat_duration_time_unit TimeUnit',
    '6 recovery_timeout int32',
    '7 recovery_timeout_time_unit TimeUnit',
    '8 min_request_amount int32',
    '9 slow_condition CircuitBreakerStrategy.CircuitBreakerSlowCondition',
    '10 error_condition CircuitBreakerStrategy.CircuitBreakerErrorCondition',
  ],
};

const enums: Readonly<Record<string, readonly string[]>> = {
  'event.v1.Persistence.PersistenceType': ['0 MEMORY', '1 LFS', '2 DFS'],
  'event.v1.Persistence.FullStrategy': ['0 BLOCK', '1 DROP'],
  'event.v1.RetryRule.BackoffPolicyType': ['0 BACK_OFF_POLICY_LINEAR', '1 BACK_OFF_POLICY_EXPONENTIAL'],
  'fault_tolerance.v1.RateLimitStrategy.MetricType': ['0 TYPE_UNKNOWN', '1 TYPE_REQUEST_AMOUNT'],
  'fault_tolerance.v1.RateLimitStrategy.LimitMode': ['0 MODE_UNKNOWN', '1 MODE_LOCAL', '2 MODE_GLOBAL'],
  'fault_tolerance.v1.ConcurrencyLimitStrategy.LimitMode': [
    '0 MODE_UNKNOWN',
    '1 MODE_LOCAL',
    '2 MODE_GLOBAL',
  ],
  'fault_tolerance.v1.CircuitBreakerStrategy.Strategy': [
    '0 STRATEGY_UNKNOWN',
    '1 STRATEGY_SLOW_REQUEST_RATIO',
    '2 STRATEGY_ERROR_REQUEST_RATIO',
  ],
  'common.v1.TimeUnit': ['0 UNKNOWN', '1 MILLISECOND', '2 SECOND', '3 MINUTE', '4 HOUR', '5 DAY'],
};

const scalarNames: Readonly<Record<number, string>> = {
  1: 'double',
  3: 'int64',
  5: 'int32',
  8: 'bool',
  9: 'string',
};

interface Vector {
  message: string;
  json: JsonValue;
  hex: string;
}

const registry = createRegistry(eventFile, faultToleranceFile, ...faultToleranceFile.dependencies);
const vectors: Vector[] = JSON.parse(readFileSync(new URL('golden/messages.json', import.meta.url), 'utf8'));
const withoutPackage = (name: string) => name.replace(/^io\.opensergo\.proto\.\w+\.v1\./, '');

function typeOf(field: DescField): string {
  if (field.fieldKind === 'scalar') return scalarNames[field.scalar] ?? '?';
  if (field.fieldKind === 'enum') return withoutPackage(field.enum.typeName);
  if (field.fieldKind === 'message')
    return `${field.oneof === undefined ? '' : '|'}${withoutPackage(field.message.typeName)}`;
  assert.ok(field.fieldKind === 'list' && field.listKind === 'message');
  return `*${withoutPackage(field.message.typeName)}`;
}

function declared(packageName: string): Record<string, string[]> {
  const messages = [...registry].filter(
    (type) => type.kind === 'message' && type.file.proto.package === packageName,
  );
  return Object.fromEntries(
    messages.map((type) => {
      assert.ok(type.kind === 'message');
      return [
        withoutPackage(type.typeName),
        type.fields.map((field) => `${field.number} ${field.name} ${typeOf(field)}`),
      ];
    }),
  );
}

describe('the event schema (E25)', () => {
  it('has the published fields, numbers and types, and no others', () => {
    assert.deepEqual(declared('io.opensergo.proto.event.v1'), event);
    assert.deepEqual(declared('io.opensergo.proto.fault_tolerance.v1'), faultTolerance);
  });

  it('has the published enum values', () => {
    const present = [...registry].flatMap((type) =>
      type.kind === 'enum'
        ? [
            [
              type.typeName.replace('io.opensergo.proto.', ''),
              type.values.map(({ number, name }) => `${number} ${name}`),
            ] as const,
          ]
        : [],
    );
    assert.deepEqual(Object.fromEntries(present), enums);
  });

  it('has a golden vector for every message', () => {
    const messages = [...registry].filter(({ kind }) => kind === 'message').map(({ typeName }) => typeName);
    assert.deepEqual(
      messages.filter((name) => !vectors.some(({ message }) => message === name)),
      [],
    );
  });

  for (const [index, { message, json, hex }] of vectors.entries()) {
    it(`writes and reads ${withoutPackage(message)} as others do (vector ${index})`, () => {
      const type = registry.getMessage(message);
      assert.ok(type !== undefined);
      assert.equal(Buffer.from(toBinary(type, fromJson(type, json))).toString('hex'), hex);
      assert.deepEqual(toJson(type, fromBinary(type, Buffer.from(hex, 'hex'))), json);
    });
  }

  it('keeps fields that it does not know', () => {
    const type = registry.getMessage('io.opensergo.proto.event.v1.EventChannel');
    assert.ok(type !== undefined);
    const bytes = Buffer.from('0a0161a2060374776f', 'hex');
    assert.deepEqual(Buffer.from(toBinary(type, fromBinary(type, bytes))), bytes);
  });
});
