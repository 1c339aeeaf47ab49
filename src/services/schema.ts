import { z } from 'zod';

const instant = z.iso.datetime();

export const serviceKind = z.enum([
  'management_api',
  'data_plane',
  'store',
  'scheduler',
  'provider_connection',
  'dashboard',
  'event_engine',
  'mcp_server',
  'a2a_server',
  'tunnel',
  'acp_agent',
  'workers',
]);

export const serviceState = z.enum(['stopped', 'running', 'degraded', 'draining', 'failed', 'disabled']);

const reason = z.object({ code: z.string(), message: z.string() });
const linked = z.array(z.object({ id: z.string(), href: z.string() }));

/** Something that was looked at just now, or when it last happened. */
export const check = z.object({
  name: z.string(),
  status: z.enum(['pass', 'warn', 'fail', 'unknown']),
  observed_at: instant.nullable(),
  output: z.string(),
});

export const endpoint = z.object({
  protocol: z.literal('http'),
  host: z.string(),
  port: z.int(),
  path: z.string(),
  visibility: z.enum(['loopback', 'lan', 'public']),
  tls: z.boolean(),
});

const serviceOptions = z.strictObject({
  /** Of the data plane: how long open requests may finish when it stops; null for the setting `drain_ms`. */
  drain_seconds: z.int().min(0).max(3600).nullable(),
});

/** A service as it is shown. */
export const serviceRow = z.object({
  id: z.string(),
  /** Of this service for ever, also when it gets another name. */
  guid: z.uuid(),
  name: z.string(),
  description: z.string(),
  kind: serviceKind,
  /** What is wanted of it; survives a restart. */
  desired_state: z.enum(['running', 'stopped']),
  state: serviceState,
  /** The same in ManageIQ's words. */
  power_state: z.enum(['on', 'off']).nullable(),
  state_reason: reason.nullable(),
  state_changed_at: instant.nullable(),
  health: z.object({
    status: check.shape.status,
    checked_at: instant,
    checks: z.array(check),
  }),
  started_at: instant.nullable(),
  created_at: instant,
  updated_at: instant,
  uptime_seconds: z.int().nullable(),
  /** Since the gateway was started. */
  restarts: z.object({ count: z.int(), last_at: instant.nullable() }),
  endpoints: z.array(endpoint),
  depends_on: linked,
  dependents: linked,
  /** Whether the gateway is ready only when it passes. */
  critical: z.boolean(),
  version: z.string().nullable(),
  /** Counts its changes. */
  config_revision: z.int(),
  options: serviceOptions.partial(),
  labels: z.record(z.string(), z.string()),
  last_error: reason.extend({ at: instant.nullable() }).nullable(),
});

const labelName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/, 'a label begins with a letter or digit');

/** What may be changed of a service. */
export const serviceChange = z
  .strictObject({
    labels: z
      .record(labelName, z.string().max(200))
      .refine((labels) => Object.keys(labels).length <= 32, 'a service has at most 32 labels'),
    options: serviceOptions.partial(),
  })
  .partial();

const confirm = z.string().max(100).optional();

/** The options of stopping. */
export const stopInput = z.strictObject({
  /** The id of the service, where stopping it cuts callers off. */
  confirm,
  /** How long open requests may finish. */
  drain_seconds: z.int().min(0).max(3600).optional(),
  /** Ends open requests at once. */
  force: z.boolean().optional(),
});

export type StopInput = z.infer<typeof stopInput>;

const taskOutcome = z.enum(['Ok', 'Warn', 'Error']);

/** Work that continues after its request was answered, as it is shown. */
export const taskRow = z.object({
  id: z.string(),
  /** What is done: `stop`. */
  name: z.string(),
  /** The path of what it is done to. */
  target: z.string().nullable(),
  state: z.enum(['Queued', 'Active', 'Finished']),
  status: taskOutcome,
  message: z.string(),
  user_id: z.string().nullable(),
  /** From 0 to 1; null where it cannot be said. */
  progress: z.number().nullable(),
  result: z.record(z.string(), z.unknown()).nullable(),
  /** The gateway that does it, where several share a database; null where there is one. */
  node: z.string().nullable(),
  created_at: instant,
  updated_at: instant,
});

/** The process of the gateway, as it is shown. */
export const processRow = z.object({
  id: z.string(),
  /** Of Modelgate. */
  version: z.string(),
  /** Of Node.js. */
  node: z.string(),
  /** `linux x64`. */
  platform: z.string(),
  pid: z.int(),
  started_at: instant,
  /** How commands for this gateway are written on its machine: `PROGRAM status FLAGS`; null where it is part of another program. */
  cli: z.object({ program: z.string(), flags: z.string() }).nullable(),
});

export type TaskStatus = z.infer<typeof taskOutcome>;
export type ServiceState = z.infer<typeof serviceState>;
export type ServiceOptions = z.infer<typeof serviceRow>['options'];
export type Check = z.infer<typeof check>;
export type Endpoint = z.infer<typeof endpoint>;
