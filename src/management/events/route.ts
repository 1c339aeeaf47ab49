import type { Permission } from '../../access/permissions.ts';
import type { Events } from '../../events/open.ts';
import type { Caller } from '../../http/resource.ts';
import type { Exchange } from '../../http/server/server.ts';
import type { Answer } from '../answer.ts';
import type { ManagementContext } from '../context.ts';
import type { Operation } from '../openapi/reference.ts';

/** One request below `/api/events`, whose caller may make it. */
export interface EventsCall {
  context: ManagementContext;
  events: Events;
  exchange: Exchange;
  caller: Caller;
  /** What stands in the path for `{id}`; empty where it has none. */
  id: string;
  /** What hrefs begin with. */
  prefix: string;
  params: URLSearchParams;
  /** As it came, decompressed. */
  body: Buffer;
}

/** Something that can be asked for below `/api/events`: how it is served, and how it is documented. */
export interface EventsRoute {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Behind `/api/events`, with at most one `{id}`: `/config/versions/{id}:restore`. */
  path: string;
  permission: Permission;
  parameters: readonly { name: string; description: string }[];
  /** Whether it is carried out once for each `Idempotency-Key`. */
  once?: boolean;
  /** How it is documented, beside its parameters and permission; made when the document is, for its schemas take a while. */
  operation(): Pick<Operation, 'operationId' | 'summary' | 'requestBody' | 'responses'> & {
    headers?: readonly { name: string; description: string }[];
  };
  /** @returns null when it has answered by itself */
  run(call: EventsCall): Promise<Answer | null>;
}
