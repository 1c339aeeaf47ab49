/**
 * What runs while there is no `events.yaml`: what the audit log does not have by itself goes there, and what needs a person into
 * the log. Events of requests go nowhere.
 */
export const builtInConfig = `components:
  channels:
    - {unique_id: gateway-events, url: "sqlite:", mq_topic_name: gateway-events}
  sources:
    - ref: {unique_id: gateway, kind: gateway}
  triggers:
    - ref: {unique_id: audit, kind: gateway, name: audit-log}
    - ref: {unique_id: notifier, kind: gateway, name: notifier}
strategy:
  trigger_strategies:
    - event_trigger_id: audit
      enable_idempotence: true
      runtime_strategy: {retry_rule: {retry_max: 100, back_off_delay: PT5S}}
      dead_letter_strategy: {enable: true}
    - event_trigger_id: notifier
      enable_idempotence: true
      dead_letter_strategy: {enable: true}
router_rules:
  routers:
    - source_id: gateway
      trigger_id: audit
      channel_id: gateway-events
      filter: {cesql: "type LIKE 'io.modelgate.budget.%' OR type LIKE 'io.modelgate.trigger.%' OR type = 'io.modelgate.event.deadlettered.v1'"}
    - source_id: gateway
      trigger_id: notifier
      channel_id: gateway-events
      filter: {cesql: "type LIKE 'io.modelgate.provider.%' OR type = 'io.modelgate.backup.failed.v1' OR type = 'io.modelgate.event.deadlettered.v1'"}
`;

/** Beginnings of the names of the events that it leads somewhere. */
const routedPrefixes = ['budget.', 'trigger.', 'event.deadlettered', 'provider.', 'backup.failed'];

/** Whether the built-in configuration leads events of the name anywhere. */
export function isRouted(name: string): boolean {
  return routedPrefixes.some((start) => name.startsWith(start));
}
