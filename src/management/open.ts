import type { Gatekeeper } from '../access/gatekeeper.ts';
import { tokensResource } from '../access/tokens-resource.ts';
import { usersResource } from '../access/users-resource.ts';
import type { Resource } from '../http/resource.ts';
import type { Exchange } from '../http/server.ts';
import { serveManagement } from './app.ts';
import type { ManagementContext } from './context.ts';
import { openApiDocument } from './openapi.ts';
import { createPace } from './pace.ts';
import { createTurns } from './turns.ts';

export interface ManagementInput
  extends Pick<
    ManagementContext,
    'audit' | 'finishLogin' | 'hosts' | 'live' | 'now' | 'once' | 'report' | 'trusted' | 'version'
  > {
  gatekeeper: Gatekeeper;
  /** What the other units show, beside users and tokens. */
  resources: readonly Resource[];
}

export interface Management {
  serve(exchange: Exchange): Promise<void>;
}

/** Puts the management API together. */
export function openManagement(input: ManagementInput): Management {
  const { gatekeeper, version } = input;
  const resources = [usersResource(gatekeeper.parts), tokensResource(gatekeeper.parts), ...input.resources];
  // Made when it is first asked for: that takes as long as a tenth of the whole start.
  let document: object | null = null;
  const openapi = () => (document ??= openApiDocument(resources, version));
  const context: ManagementContext = {
    ...{ audit: input.audit, finishLogin: input.finishLogin, gatekeeper, hosts: input.hosts },
    ...{ live: input.live, now: input.now, openapi, report: input.report },
    ...{
      turns: createTurns(),
      once: input.once,
      trusted: input.trusted,
      pace: createPace(input.now),
      resources,
      version,
    },
  };
  return { serve: (exchange) => serveManagement(context, exchange) };
}
