import type { Caller } from '../../http/resource.ts';
import type { Exchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import type { ManagementContext } from '../context.ts';
import { isTopic, type Topic, topics } from './live.ts';

/**
 * `GET /api/live?topics=requests,services`: a stream of events for as long as the caller's login lasts. Where none is
 * named, all that the caller may see. `Last-Event-ID` or `since` go on after an event.
 */
export function watchLive({ auth, live }: ManagementContext, exchange: Exchange, caller: Caller): null {
  const params = new URLSearchParams(exchange.query);
  const since = Number(params.get('since') ?? exchange.request.headers['last-event-id'] ?? Number.NaN);
  const topicNames = wantedBy(params.get('topics'), caller);
  const permissions = topicNames.map((topic) => topics[topic]);
  live.watch(exchange, topicNames, Number.isSafeInteger(since) ? since : null, {
    userId: caller.userId,
    until: auth.endOf(caller),
    lasts: () => auth.lasts(caller, permissions),
  });
  return null;
}

function wantedBy(list: string | null, caller: Caller): Topic[] {
  if (list === null)
    return (Object.keys(topics) as Topic[]).filter(
      (topic) => caller.can(topics[topic]) && !caller.narrowed(topic),
    );
  return list.split(',').map((name) => {
    if (!isTopic(name))
      throw new GatewayError('invalid_request', `There is no topic "${name.slice(0, 40)}"`, {
        param: 'topics',
      });
    if (!caller.can(topics[name]))
      throw new GatewayError('forbidden', `Watching ${name} needs the permission ${topics[name]}`);
    if (caller.narrowed(name))
      throw new GatewayError('forbidden', `The selectors of this token do not let it watch ${name}`);
    return name;
  });
}
