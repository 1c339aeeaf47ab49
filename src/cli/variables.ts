import { otelVariables } from '../lib/otel-variables.ts';
import { usageError } from './terminal/failure.ts';

/** An environment variable that the gateway reads. */
export interface Variable {
  name: string;
  summary: string;
  /** Its value is never shown. */
  secret: boolean;
}

/** Every variable of the gateway itself, as `docs/configuration.md` explains them. */
export const variables: readonly Variable[] = [
  { name: 'DATA_DIR', summary: 'where the gateway keeps its state', secret: false },
  { name: 'GATEWAY_HOST', summary: 'address to listen on', secret: false },
  { name: 'GATEWAY_PORT', summary: 'port to listen on', secret: false },
  { name: 'GATEWAY_WORKERS', summary: 'processes that serve the model endpoints', secret: false },
  { name: 'GATEWAY_AUTH_REQUIRED', summary: '`false` allows model requests without a key', secret: false },
  { name: 'GATEWAY_LOG_LEVEL', summary: 'debug, info, warn, error or silent', secret: false },
  { name: 'GATEWAY_ACCESS_LOG', summary: '`false` writes no line for each request', secret: false },
  { name: 'EVENTS_LFS_DIR', summary: 'where events of sources wait on this disk', secret: false },
  {
    name: 'EVENTS_DFS_URL',
    summary: 'where they wait in an object store, PostgreSQL or a mounted folder',
    secret: true,
  },
  {
    name: 'EVENTS_DATABASE_URL',
    summary: 'where gateways remember together which events were handled',
    secret: true,
  },
  {
    name: 'EVENTS_PRIVATE_NETWORKS',
    summary: '`true` allows webhooks that were set up by the API to reach private networks',
    secret: false,
  },
  {
    name: 'ALERTS_COMMANDS_BY_API',
    summary: '`true` allows alerts that run a program to be set up by the API',
    secret: false,
  },
  {
    name: 'ACP_COMMANDS',
    summary: 'programs that agents may run that are added by the API, with commas between them',
    secret: false,
  },
  { name: 'SMTP_URL', summary: 'the mail server for alerts', secret: true },
  { name: 'SMTP_FROM', summary: 'the address that mails come from', secret: false },
  {
    name: 'DATABASE_URL',
    summary: 'the PostgreSQL database that keeps the state of several gateways',
    secret: true,
  },
  { name: 'REDIS_URL', summary: 'limits that several gateways share', secret: true },
  ...otelVariables,
  { name: 'STORAGE_ENCRYPTION_KEY', summary: 'encrypts stored credentials', secret: true },
];

/** @throws a usage error for a variable that the gateway does not read */
export function variableNamed(name: string): Variable {
  const variable = variables.find((one) => one.name === name);
  if (variable !== undefined) return variable;
  throw usageError(`The gateway reads no variable ${name}: ${variables.map((one) => one.name).join(', ')}`);
}
