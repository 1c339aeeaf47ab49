import { type CompiledExpression, compile } from '../cesql/cesql.ts';
import type { EventRouterRules } from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import type { Checks } from './checks.ts';
import type { Components } from './components.ts';
import type { Route, Trigger } from './config.ts';
import { checkReference } from './strategies.ts';

/** Checks what routers refer to, and compiles their filters. */
export function checkRoutes(
  message: EventRouterRules | undefined,
  components: Components,
  triggers: ReadonlyMap<string, Trigger>,
  checks: Checks,
): Route[] {
  const { report } = checks;
  const routes: Route[] = [];
  const seen = new Map<string, number>();
  for (const [index, router] of (message?.routers ?? []).entries()) {
    const path = `router_rules.routers[${index}]`;
    const { channelId, sourceId, triggerId } = router;
    checkReference(sourceId, 'source', `${path}.source_id`, components, checks);
    checkReference(triggerId, 'trigger', `${path}.trigger_id`, components, checks);
    checkReference(channelId, 'channel', `${path}.channel_id`, components, checks);
    const text = router.filter?.cesql ?? '';
    const filter = checkFilter(text, `${path}.filter.cesql`, checks);
    const twin = seen.get(JSON.stringify([sourceId, triggerId, channelId, text]));
    if (twin !== undefined) report.warning(path, `It is the same as routers[${twin}], and has no effect`);
    seen.set(JSON.stringify([sourceId, triggerId, channelId, text]), twin ?? index);
    routes.push({ sourceId, triggerId, channelId, filter });
  }
  warnOfUnused(routes, components, triggers, checks);
  return routes;
}

/** @returns null for a filter that every event passes, and for one that was reported */
function checkFilter(text: string, path: string, { report }: Checks): CompiledExpression | null {
  if (text === '') return null;
  const compiled = compile(text);
  if (!compiled.ok) {
    const { message, position } = compiled.error;
    report.error(path, `${message} (in the expression: line ${position.line}, column ${position.column})`);
    return null;
  }
  for (const { code, message, position } of compiled.expression.warnings) {
    const sentence = `${message} (in the expression: line ${position.line}, column ${position.column})`;
    // A call of no function is an error for every event, so no event would ever pass.
    if (code === 'unknown-function') report.error(path, sentence);
    else report.warning(path, sentence);
  }
  return compiled.expression;
}

function warnOfUnused(
  routes: readonly Route[],
  components: Components,
  triggers: ReadonlyMap<string, Trigger>,
  { report }: Checks,
): void {
  const used = new Set(
    routes.flatMap(({ channelId, sourceId, triggerId }) => [channelId, sourceId, triggerId]),
  );
  const bridged = [...components.sources.values(), ...components.triggers.values()]
    .filter(({ kind }) => kind === 'channel')
    .map(({ name }) => name);
  const letters = [...triggers.values()].flatMap(({ deadLetters }) =>
    deadLetters?.store.kind === 'channel' ? [deadLetters.store.channel.id] : [],
  );
  const named = new Set([...used, ...bridged, ...letters]);
  const unused = [...components.ids].filter(([id]) => !named.has(id));
  for (const [id, kind] of unused)
    report.warning(components.paths.get(id) ?? '', `No router leads through this ${kind}`);
}
