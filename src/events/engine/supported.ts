import type { EventConfig, RuntimeStrategy, Source, Trigger } from '../config/config.ts';

/**
 * What a valid configuration asks for and this engine does not do. It runs nothing of such a configuration: an event must not be
 * treated in another way than was asked for.
 * @returns sentences; none when it can run all of it
 */
export function unsupported(config: EventConfig): string[] {
  const channels = [...config.channels.values()].flatMap(({ id, scheme }) =>
    scheme === 'memory' || scheme === 'sqlite' ? [] : [`channel ${id}: ${scheme} is not supported`],
  );
  return [
    ...channels,
    ...[...config.sources.values()].flatMap(ofSource),
    ...[...config.triggers.values()].flatMap(ofTrigger),
  ];
}

function ofSource({ id, processor, runtime, storage }: Source): string[] {
  const who = `source ${id}`;
  return [
    ...(processor.kind === 'gateway' ? [] : [`${who}: the kind ${processor.kind} is not supported`]),
    ...(storage === null ? [] : [`${who}: fault_tolerant_storage is not supported`]),
    ...(runtime.retry === null ? [] : [`${who}: retry_rule is not supported`]),
    ...limitsOf(who, runtime),
  ];
}

function ofTrigger({ deadLetters, id, idempotent, processor, runtime }: Trigger): string[] {
  const who = `trigger ${id}`;
  const { kind, name } = processor;
  const { kind: store, ...rest } = deadLetters?.store ?? { kind: null };
  const scheme = 'channel' in rest ? rest.channel.scheme : 'memory';
  return [
    ...(kind === 'log' || kind === 'http' ? [] : [`${who}: the kind ${kind} is not supported`]),
    ...(kind === 'http' && !name.includes('://') ? [`${who}: the name must be the URL of a webhook`] : []),
    ...(idempotent ? [`${who}: enable_idempotence is not supported`] : []),
    ...(store === 'storage' ? [`${who}: dead letters need a channel`] : []),
    ...(scheme === 'memory' || scheme === 'sqlite'
      ? []
      : [`${who}: dead letters to ${scheme} are not supported`]),
    ...limitsOf(who, runtime),
  ];
}

function limitsOf(who: string, runtime: RuntimeStrategy): string[] {
  const limits = {
    rate_limit_strategy: runtime.rateLimit,
    circuit_breaker_strategy: runtime.circuitBreaker,
    concurrency_limit_strateg: runtime.concurrency,
    fault_tolerance_rule: runtime.faultTolerance,
  };
  return Object.entries(limits).flatMap(([name, limit]) =>
    limit === null ? [] : [`${who}: ${name} is not supported`],
  );
}
