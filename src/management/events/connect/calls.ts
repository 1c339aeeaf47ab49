import { Code, ConnectError, createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { Permission } from '../../../access/permissions.ts';
import type { EventControl, Events } from '../../../events/open.ts';
import type { Caller } from '../../../http/resource.ts';
import { GatewayError } from '../../../lib/error.ts';
import type { ManagementAuth } from '../../context.ts';
import type { Watchers } from '../../live/watchers.ts';
import { createMessageQueue, type MessageQueue, type QueueLimit } from './message-queue.ts';

/** Who makes a call. */
export const callerKey = createContextKey<Caller | null>(null);

export interface ServiceCallsInput {
  events: Events;
  auth: Pick<ManagementAuth, 'endOf' | 'lasts'>;
  watchers: Watchers;
}

/** What calls of services have in common: who may make them, and how long their streams last. */
export interface ServiceCalls {
  /** The engine, for a caller who has the permission. @throws ConnectError */
  opened(context: HandlerContext, permission: Permission): Promise<EventControl & { caller: Caller }>;
  /** Sends what is added, for as long as the client reads and its login lasts. @throws ConnectError */
  stream<T>(
    caller: Caller,
    permission: Permission,
    client: AbortSignal,
    limit: QueueLimit,
    begin: (queue: Pick<MessageQueue<T>, 'add'>) => () => void,
  ): AsyncGenerator<{ message: T; missed: number }>;
}

export function createServiceCalls({ events, auth, watchers }: ServiceCallsInput): ServiceCalls {
  return {
    async opened(context, permission) {
      const caller = context.values.get(callerKey);
      if (caller === null) throw new ConnectError('Log in first', Code.Unauthenticated);
      if (!caller.can(permission))
        throw new ConnectError(`This needs the permission ${permission}`, Code.PermissionDenied);
      return { ...(await events.control()), caller };
    },
    async *stream<T>(
      caller: Caller,
      permission: Permission,
      client: AbortSignal,
      limit: QueueLimit,
      begin: (queue: Pick<MessageQueue<T>, 'add'>) => () => void,
    ) {
      const ended = new AbortController();
      const login = {
        userId: caller.userId,
        until: auth.endOf(caller),
        lasts: () => auth.lasts(caller, [permission]),
      };
      const leave = entered(() => watchers.enter(login, () => ended.abort()));
      const queue = createMessageQueue<T>(AbortSignal.any([client, ended.signal]), limit);
      const stop = begin(queue);
      try {
        yield* queue;
      } finally {
        stop();
        leave();
      }
      if (ended.signal.aborted) throw new ConnectError('Your login has ended', Code.Unauthenticated);
    },
  };
}

/** @throws ConnectError where too many watch already */
function entered<T>(enter: () => T): T {
  try {
    return enter();
  } catch (error) {
    if (error instanceof GatewayError) throw new ConnectError(error.message, Code.ResourceExhausted);
    throw error;
  }
}
