import { z } from 'zod';

/** The data of the gateway's own events: names, numbers and reasons in a few words. Nothing of it is a prompt, a credential or a file. */

const text = z.string().nullable();
const time = z.iso.datetime();

export const requestData = z.strictObject({
  id: z.string().describe('The id of the request'),
  outcome: z.enum(['ok', 'failed', 'aborted']).describe('`aborted`: the client left'),
  status: z.int().describe('The HTTP status that the client saw'),
  error_code: text,
  key_id: text,
  requested_model: text,
  model: text,
  provider: text,
  connection: text,
  streamed: z.boolean(),
  attempts: z.int(),
  input_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
  cost_usd: z.number().nullable().describe('Null where no price is known'),
  ttft_ms: z.number().nullable().describe('Milliseconds until the first token'),
  duration_ms: z.number(),
});

export const budgetData = z.strictObject({
  budget_id: z.string(),
  scope: z.enum(['global', 'key', 'combo', 'connection', 'team', 'owner', 'tag']),
  subject_id: text.describe(
    'The id of the key, combo or connection, the name of the team or owner, or the tag',
  ),
  subject_name: text,
  metric: z.enum(['usd', 'tokens', 'requests', 'concurrency']),
  period: z.enum(['minute', 'hour', 'day', 'week', 'month']).nullable(),
  limit: z.number(),
  used: z.number(),
  percent: z.number().describe('What is used, in percent of the limit'),
});

export const providerData = z.strictObject({
  connection_id: z.string(),
  connection: text,
  provider: text,
  model: text.describe('Null: the whole connection'),
  reason: text.describe('Why, in a few words: `rate limit`, `credential refused`'),
  until: time.nullable().describe('When it is tried again'),
});

export const circuitData = z.strictObject({
  kind: z.enum(['model', 'source', 'trigger']).describe('What the circuit breaker stands before'),
  name: z.string().describe('`connection/model`, or the id of the source or trigger'),
  reason: text,
  until: time.nullable(),
});

export const keyData = z.strictObject({ key_id: z.string(), name: z.string() });

export const revokedKeyData = keyData.extend({ reason: z.enum(['removed', 'disabled']) });

/** Who did it: at the command line, or through the management API. */
const by = z.strictObject({ name: text, via: z.string() });

export const comboData = z.strictObject({
  combo_id: text.describe('Null: the model `auto` stands for no combo any more'),
  name: text,
});

export const toolData = z.strictObject({ tool: z.string(), by });

export const detectedToolData = z.strictObject({ tool: z.string(), version: text });

export const exportData = z.strictObject({ by });

export const refusalData = z.strictObject({
  reason: text,
  user_id: text.describe('The user whose name was given, where there is one'),
  address: text,
  repeated: z.int().nullable().describe('How many more there were that are not told one by one'),
});

export const backupData = z.strictObject({ name: text, by, reason: text.describe('Why it failed') });

export const prunedData = z.strictObject({
  before: z.string().describe('Requests that began before this were removed'),
  requests: z.int(),
  by,
});

export const configData = z.strictObject({
  origin: z.string().describe('`file`, `api`, `rollback` or `built-in`'),
  version: z.string().nullable(),
  problems: z.array(z.string()).describe('Why it was rejected; none when it was applied'),
});

export const droppedData = z.strictObject({
  where: z.string().describe('The source or trigger that dropped them'),
  count: z.int(),
  reason: text,
});

export const deadLetterData = z.strictObject({
  trigger: z.string(),
  event_id: z.string(),
  event_source: z.string(),
  event_type: z.string(),
  reason: z.string(),
  attempts: z.int(),
  status: z.int().nullable(),
});

export const triggerData = z.strictObject({ trigger: z.string(), reason: text });

export const channelData = z.strictObject({
  channel: z.string(),
  task: z
    .string()
    .describe('What the channel does in the background: e.g. `delete-handled` or `renew-leases`'),
});

export const storeData = z.strictObject({
  reason: text.describe('Why the database cannot be used; null when it can be again'),
  since: time.describe('When that began'),
  rows_waiting: z.int().describe('Records that wait on the local disk'),
});

export const sharedLimitsData = z.strictObject({
  reason: text.describe('Why the limits are not shared with other gateways; null when they are again'),
  failure_mode: z
    .enum(['refuse', 'local'])
    .describe('What happens to requests beyond what was granted before: `redis.failure_mode`'),
});

export const digestData = z.strictObject({
  alert_id: z.string(),
  alert: z.string(),
  since: time,
  until: time,
  count: z.int().describe('Events that are summed up here'),
  groups: z.array(
    z.strictObject({ type: z.string(), subject: text, count: z.int(), first: time, last: time }),
  ),
  more_groups: z.int().describe('Groups that found no place in the list'),
});

export const testData = z.strictObject({ alert_id: z.string(), alert: z.string(), text: z.string() });
