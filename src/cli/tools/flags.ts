import { keyVariable } from '../../tools/tool.ts';
import type { Flag } from '../command.ts';

/** Flags of the commands that point tools at a gateway. */
export const toolFlags = {
  model: {
    name: 'model',
    names: 'model',
    value: 'MODEL',
    summary: 'what it asks for: a model id, a combo, an alias, or auto',
  },
  apiKey: {
    name: 'api-key',
    value: 'KEY',
    summary: `the gateway key; other users of this machine can see it (env ${keyVariable} or GATEWAY_API_KEY)`,
  },
  remote: {
    name: 'remote',
    value: 'URL',
    summary: 'a gateway on another machine (default: the one of this machine)',
  },
  dryRun: { name: 'dry-run', summary: 'print the change as a unified diff, and write nothing' },
  yes: { name: 'yes', short: 'y', summary: 'do not ask' },
  noTest: { name: 'no-test', summary: 'do not send a request to try the route' },
} as const satisfies Record<string, Flag>;
