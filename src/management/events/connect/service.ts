import { create, type JsonObject, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import { encodeJsonEvent } from '../../../events/cloudevents/json-format.ts';
import type { ConfigSource } from '../../../events/config/decode.ts';
import type { ConfigProblem } from '../../../events/config/problem.ts';
import type { ConfigInForce } from '../../../events/control/config-control.ts';
import type { DeadLetters, LetterSelection } from '../../../events/dead-letters/store.ts';
import { type Event, EventSchema } from '../../../events/gen/io/opensergo/proto/event/v1/event_pb.ts';
import type {
  ConfigProblemSchema,
  ConfigVersionSchema,
  DeadLetterSelection,
  EventConfigService,
} from '../../../events/gen/modelgate/events/v1/event_config_service_pb.ts';
import type { Caller } from '../../../http/resource.ts';
import { withAudit } from '../../collection/audit.ts';
import type { Change } from '../../collection/collection.ts';
import { etagOf } from '../config-routes.ts';
import { filterOf } from '../dead-letter-routes.ts';
import { statusOf } from '../status.ts';
import { createServiceCalls, type ServiceCallsInput } from './calls.ts';
import type { QueueLimit } from './message-queue.ts';

export interface ServiceInput extends ServiceCallsInput {
  record(change: Change): Promise<void>;
}

const PAGE = 100;
const MOST_IN_PAGE = 1_000;

/** Of events, a client that does not keep up misses some; of configurations it needs the last. */
const waitingEvents: QueueLimit = { most: 1_000, leaveOut: 'newest' };
const waitingConfigs: QueueLimit = { most: 16, leaveOut: 'oldest' };

/** The service over the functions that the paths below `/api/events` use. */
export function eventConfigService({
  events,
  auth,
  record,
  watchers,
}: ServiceInput): ServiceImpl<typeof EventConfigService> {
  const { opened, stream } = createServiceCalls({ events, auth, watchers });
  const changed = async <T extends Record<string, unknown>>(
    caller: Caller,
    action: string,
    run: () => Promise<{ value: T; after: Record<string, unknown>; failed: string | null }>,
  ): Promise<T> =>
    withAudit({ record }, { caller, resource: { name: 'events' } }, { action, target: null }, async () => {
      const { after, failed, value } = await run();
      return { value, failed, facts: { after } };
    });
  return {
    async getConfig(_, context) {
      const { config } = await opened(context, 'events:inspect');
      return shown(config.inForce());
    },
    async validateConfig({ config: message }, context) {
      const { config } = await opened(context, 'events:inspect');
      const checked = config.validate(sourceOf(message));
      return problemsOf(checked.ok ? checked.warnings : checked.problems);
    },
    async applyConfig({ config: message, expectedVersion }, context) {
      const { caller, config } = await opened(context, 'events:update');
      const expected = expectedVersion === undefined ? null : Number(expectedVersion);
      return changed(caller, 'put_event_config', async () => {
        const result = await config.apply(sourceOf(message), { author: caller.name, expected });
        switch (result.kind) {
          case 'conflict':
            throw new ConnectError(`Version ${result.version} is in force`, Code.Aborted);
          case 'invalid':
            return { value: problemsOf(result.problems), after: {}, failed: 'invalid_event_config' };
          case 'applied': {
            const { version } = result.inForce;
            const value = { version: versionOf(result.inForce), ...problemsOf(result.inForce.warnings) };
            return { value, after: { version: version.number }, failed: null };
          }
        }
      });
    },
    async *watchConfig(_, context) {
      const { caller, config } = await opened(context, 'events:inspect');
      let sent: ConfigInForce | null = null;
      const changes = stream<ConfigInForce>(
        caller,
        'events:inspect',
        context.signal,
        waitingConfigs,
        (queue) => {
          queue.add(config.inForce());
          return config.onChange(() => queue.add(config.inForce()));
        },
      );
      for await (const { message } of changes) {
        if (message !== sent) yield shown(message);
        sent = message;
      }
    },
    async getStatus(_, context) {
      await opened(context, 'events:read');
      return { status: JSON.parse(JSON.stringify(await statusOf(events.opened()))) as JsonObject };
    },
    async listDeadLetters({ cesql, pageSize, pageToken, triggerId }, context) {
      const { engine } = await opened(context, 'events:inspect');
      const { letters, next } = await engine.deadLetters.list({
        ...selectionOf(triggerId, cesql),
        after: pageToken === '' ? null : pageToken,
        limit: pageSize <= 0 ? PAGE : Math.min(pageSize, MOST_IN_PAGE),
      });
      return {
        nextPageToken: next ?? '',
        deadLetters: letters.map(({ at, attempts, channel, error, event, id, reason, status, trigger }) => ({
          id,
          triggerId: trigger,
          channelId: channel,
          reason,
          attempts,
          status: status ?? 0,
          error,
          createTime: timestampFromMs(at),
          event: event === null ? new Uint8Array() : encodeJsonEvent(event),
        })),
      };
    },
    async replayDeadLetters({ selection }, context) {
      const { caller, engine } = await opened(context, 'events:operate');
      return changed(caller, 'replay_dead_letters', async () => {
        const count = await ofSelection(selection, engine.deadLetters.replay, engine.deadLetters.replayAll);
        return { value: { count }, after: { count }, failed: null };
      });
    },
    async purgeDeadLetters({ selection }, context) {
      const { caller, engine } = await opened(context, 'events:operate');
      return changed(caller, 'purge_dead_letters', async () => {
        const count = await ofSelection(selection, engine.deadLetters.remove, engine.deadLetters.purge);
        return { value: { count }, after: { count }, failed: null };
      });
    },
    async *tailEvents({ cesql }, context) {
      const { caller, engine } = await opened(context, 'events:inspect');
      const filter = cesql === '' ? null : expressionOf(cesql);
      const tailed = stream<{ sourceId: string; result: string; event: Uint8Array }>(
        caller,
        'events:inspect',
        context.signal,
        waitingEvents,
        (queue) =>
          engine.tail.listen(({ event, result, sourceId }) => {
            const attributes = { ...event.attributes, eventsourceid: sourceId };
            if (filter === null || filter.matches(attributes))
              queue.add({ sourceId, result, event: encodeJsonEvent({ attributes, data: event.data }) });
          }),
      );
      for await (const { message, missed } of tailed) yield { ...message, missed };
    },
  };
}

/** An empty configuration where there is none. */
function sourceOf(message: Event | undefined): ConfigSource {
  return { format: 'protobuf', bytes: toBinary(EventSchema, message ?? create(EventSchema)) };
}

function shown(inForce: ConfigInForce) {
  return { version: versionOf(inForce), config: inForce.config.message };
}

function versionOf({ version }: ConfigInForce): MessageInitShape<typeof ConfigVersionSchema> {
  const { at, author, number, via } = version;
  return {
    number: BigInt(number),
    etag: etagOf(number),
    author,
    via,
    ...(via === 'built-in' ? {} : { createTime: timestampFromMs(at) }),
  };
}

function problemsOf(problems: readonly ConfigProblem[]) {
  const of = (ofSeverity: ConfigProblem['severity']): MessageInitShape<typeof ConfigProblemSchema>[] =>
    problems
      .filter(({ severity }) => severity === ofSeverity)
      .map(({ message, path }) => ({ message, path }));
  return { errors: of('error'), warnings: of('warning') };
}

const selectionOf = (triggerId: string, cesql: string): LetterSelection => ({
  trigger: triggerId === '' ? null : triggerId,
  filter: cesql === '' ? null : expressionOf(cesql),
});

async function ofSelection(
  selection: DeadLetterSelection | undefined,
  byId: DeadLetters['remove'],
  bySelection: DeadLetters['purge'],
): Promise<number> {
  const { all = false, cesql = '', ids = [], triggerId = '' } = selection ?? {};
  if (ids.length > 0) return byId(ids);
  if (!all && cesql === '' && triggerId === '')
    throw new ConnectError('Name ids, trigger_id or cesql, or say all', Code.InvalidArgument);
  return bySelection(selectionOf(triggerId, cesql));
}

function expressionOf(cesql: string): ReturnType<typeof filterOf> {
  try {
    return filterOf(cesql);
  } catch (error) {
    throw new ConnectError(error instanceof Error ? error.message : String(error), Code.InvalidArgument);
  }
}
