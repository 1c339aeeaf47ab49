import type { z } from 'zod';
import type { ConfigSource } from '../../events/config/decode.ts';
import type { ConfigProblem } from '../../events/config/problem.ts';
import type { AppliedConfig, ConfigControl } from '../../events/control/config-control.ts';
import type { ConfigVersion } from '../../events/control/config-versions.ts';
import type { ConfigChanges, MemberChanges } from '../../events/engine/config-changes.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import { withAudit } from '../collection/audit.ts';
import { checkAccept } from '../guard/origin.ts';
import { anyObject, failures, json, text } from '../openapi/fixed.ts';
import { schemaOf } from '../openapi/paths.ts';
import { problem } from '../problem.ts';
import {
  appliedRecord,
  type configProblem,
  configVersionRecord,
  configVersionsRecord,
  validatedRecord,
} from './config-schema.ts';
import type { EventsCall, EventsRoute } from './route.ts';

const dryRun = { name: 'dry_run', description: '`true` changes nothing and shows what would be changed' };
const ifMatch = {
  name: 'If-Match',
  description: 'The version that this request replaces, as in `ETag`, or `*` for any',
};
const { 400: _, ...otherFailures } = failures;
const conditional = {
  ...otherFailures,
  400: { description: 'The configuration is wrong: nothing was changed', content: json(anyObject) },
  409: { $ref: '#/components/responses/Problem' },
  412: { $ref: '#/components/responses/Problem' },
  422: { $ref: '#/components/responses/Problem' },
  428: { $ref: '#/components/responses/Problem' },
};
const document = { 'application/json': { schema: anyObject }, 'application/yaml': { schema: text } };
const message = { ...document, 'application/x-protobuf': { schema: { type: 'string', format: 'binary' } } };
const applied = () => ({
  200: {
    description: 'It is in force; for a dry run, its problems',
    content: json({ anyOf: [schemaOf(appliedRecord, 'output'), schemaOf(validatedRecord, 'output')] }),
  },
  ...conditional,
});

export const configRoutes: readonly EventsRoute[] = [
  {
    method: 'GET',
    path: '/config',
    permission: 'events:inspect',
    parameters: [],
    operation: () => ({
      operationId: 'get_event_config',
      summary: 'The configuration that is in force, as JSON, as the YAML of its file, or as protobuf',
      responses: {
        200: { description: 'The message `io.opensergo.proto.event.v1.Event`', content: message },
        ...failures,
      },
    }),
    run: shown,
  },
  {
    method: 'PUT',
    path: '/config',
    permission: 'events:update',
    parameters: [dryRun],
    operation: () => ({
      operationId: 'put_event_config',
      summary: 'Apply a configuration as a whole',
      headers: [ifMatch],
      requestBody: { required: true, content: message },
      responses: applied(),
    }),
    run: put,
  },
  {
    method: 'POST',
    path: '/config:validate',
    permission: 'events:inspect',
    parameters: [dryRun],
    operation: () => ({
      operationId: 'validate_event_config',
      summary: 'Check a configuration, and show what it would change',
      requestBody: { required: true, content: message },
      responses: {
        200: { description: 'What is wrong with it', content: json(schemaOf(validatedRecord, 'output')) },
        ...failures,
      },
    }),
    run: validated,
  },
  {
    method: 'GET',
    path: '/config/versions',
    permission: 'events:inspect',
    parameters: [],
    operation: () => ({
      operationId: 'list_event_config_versions',
      summary: 'All configurations that were in force, newest first',
      responses: {
        200: { description: 'At most 100', content: json(schemaOf(configVersionsRecord, 'output')) },
        ...failures,
      },
    }),
    run: versions,
  },
  {
    method: 'GET',
    path: '/config/versions/{id}',
    permission: 'events:inspect',
    parameters: [],
    operation: () => ({
      operationId: 'get_event_config_version',
      summary: 'A configuration that was in force, with its text',
      responses: {
        200: { description: 'The version', content: json(schemaOf(configVersionRecord, 'output')) },
        ...failures,
      },
    }),
    run: version,
  },
  {
    method: 'POST',
    path: '/config/versions/{id}:restore',
    permission: 'events:update',
    parameters: [dryRun],
    once: true,
    operation: () => ({
      operationId: 'restore_event_config_version',
      summary: 'Roll back to an earlier configuration, as a new version',
      headers: [ifMatch],
      responses: applied(),
    }),
    run: restored,
  },
];

async function configOf({ events }: EventsCall): Promise<ConfigControl> {
  return (await events.control()).config;
}

async function shown(call: EventsCall): Promise<Answer> {
  const { config, version } = (await configOf(call)).inForce();
  const headers = { etag: etagOf(version.number), vary: 'accept' };
  const form = wantedForm(call);
  // Nobody else who starts a gateway needs them.
  const { toBinary, toJson } = await import('@bufbuild/protobuf');
  const { EventSchema } = await import('../../events/gen/io/opensergo/proto/event/v1/event_pb.ts');
  switch (form) {
    case 'yaml':
      return { status: 200, body: null, content: { type: 'application/yaml', bytes: version.text }, headers };
    case 'protobuf': {
      const bytes = toBinary(EventSchema, config.message);
      return { status: 200, body: null, content: { type: 'application/x-protobuf', bytes }, headers };
    }
    case 'json':
      return { status: 200, body: Object(toJson(EventSchema, config.message)), headers };
  }
}

/** The first form that the caller names and that there is. @throws GatewayError `not_acceptable` */
function wantedForm({ exchange: { request } }: EventsCall): 'json' | 'yaml' | 'protobuf' {
  for (const part of (request.headers.accept ?? '').split(',')) {
    if (/protobuf/i.test(part)) return 'protobuf';
    if (/yaml/i.test(part)) return 'yaml';
    if (/json|\*/i.test(part)) return 'json';
  }
  checkAccept(request);
  return 'json';
}

async function put(call: EventsCall): Promise<Answer> {
  const source = sourceOf(call);
  if (call.params.get('dry_run') === 'true') return validated(call);
  checkAccept(call.exchange.request);
  const control = await configOf(call);
  const expected = expectedVersion(call, control);
  return changed(call, 'put_event_config', null, async () =>
    control.apply(source, { author: call.caller.name, expected }),
  );
}

async function restored(call: EventsCall): Promise<Answer> {
  checkAccept(call.exchange.request);
  const control = await configOf(call);
  const version = await control.versions.find(versionNumber(call.id));
  if (version === null) throw noSuchVersion(call.id);
  if (call.params.get('dry_run') === 'true') return verdict(control, { format: 'text', text: version.text });
  const header = call.exchange.request.headers['if-match'];
  const expected = header === undefined ? null : expectedVersion(call, control);
  return changed(call, 'restore_event_config_version', call.id, async () => {
    const result = await control.rollback(version.number, { author: call.caller.name, expected });
    if (result === null) throw noSuchVersion(call.id);
    return result;
  });
}

async function validated(call: EventsCall): Promise<Answer> {
  checkAccept(call.exchange.request);
  return verdict(await configOf(call), sourceOf(call));
}

function verdict(control: ConfigControl, source: ConfigSource): Answer {
  const checked = control.validate(source);
  const problems = checked.ok ? checked.warnings : checked.problems;
  const body: z.output<typeof validatedRecord> = {
    valid: checked.ok,
    errors: problemsOf(problems, 'error'),
    warnings: problemsOf(problems, 'warning'),
    changes: checked.ok ? copyOf(checked.changes) : null,
  };
  return { status: 200, body, headers: {} };
}

/** Changes the configuration, and has it recorded. */
async function changed(
  { caller, context, exchange }: EventsCall,
  action: string,
  target: string | null,
  run: () => Promise<AppliedConfig>,
): Promise<Answer> {
  const recording = {
    record: (change: Parameters<Parameters<typeof withAudit>[0]['record']>[0]) =>
      context.audit({ kind: 'change', change }),
  };
  return withAudit(recording, { caller, resource: { name: 'events' } }, { action, target }, async () => {
    const result = await run();
    switch (result.kind) {
      case 'conflict':
        throw changedSince(result.version);
      case 'invalid':
        return { value: invalid(result.problems, exchange.id), failed: 'invalid_event_config' };
      case 'applied': {
        const { changes, inForce, lostComments } = result;
        const body: z.output<typeof appliedRecord> = {
          version: inForce.version.number,
          changes: copyOf(changes),
          warnings: problemsOf(inForce.warnings, 'warning'),
          lost_comments: lostComments,
        };
        const value = { status: 200, body, headers: { etag: etagOf(body.version) } };
        return { value, facts: { after: { version: body.version, changes: body.changes } } };
      }
    }
  });
}

function invalid(problems: readonly ConfigProblem[], requestId: string): Answer {
  const errors = problemsOf(problems, 'error');
  const [first] = errors;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const error = new GatewayError('invalid_event_config', `${where}${first?.message ?? 'It is wrong'}${more}`);
  const body = { ...problem(error, requestId), errors, warnings: problemsOf(problems, 'warning') };
  return { status: error.status, body, headers: {} };
}

async function versions(call: EventsCall): Promise<Answer> {
  checkAccept(call.exchange.request);
  const control = await configOf(call);
  const list = await control.versions.list();
  const current = control.inForce().version.number;
  const body: z.output<typeof configVersionsRecord> = {
    name: 'versions',
    count: list.length,
    subcount: list.length,
    resources: list.map((one) => versionRow(one, current)),
  };
  return { status: 200, body, headers: {} };
}

async function version(call: EventsCall): Promise<Answer> {
  checkAccept(call.exchange.request);
  const control = await configOf(call);
  const version = await control.versions.find(versionNumber(call.id));
  if (version === null) throw noSuchVersion(call.id);
  const body: z.output<typeof configVersionRecord> = {
    ...versionRow(version, control.inForce().version.number),
    text: version.text,
  };
  return { status: 200, body, headers: {} };
}

function versionRow({ at, author, number, via }: Omit<ConfigVersion, 'text'>, current: number) {
  const created = new Date(at).toISOString();
  return { version: number, created_at: created, author, via, in_force: number === current };
}

/** JSON and YAML are distinguished by their content, so that a file can be sent without naming its format. */
function sourceOf({ body, exchange: { request } }: EventsCall): ConfigSource {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (/^application\/(?:x-|vnd\.google\.)?protobuf$/.test(type)) return { format: 'protobuf', bytes: body };
  if (/^$|json$|yaml$|^text\/plain$|^application\/(?:octet-stream|x-www-form-urlencoded)$/.test(type))
    return { format: 'text', text: body.toString('utf8') };
  throw new GatewayError(
    'unsupported_content_type',
    'A configuration is application/json, application/yaml or application/x-protobuf',
    { param: 'content-type' },
  );
}

/**
 * The version that the caller expects to change; null for any. @throws GatewayError where it is not in force, or none
 * is named
 */
function expectedVersion({ exchange }: EventsCall, control: ConfigControl): number | null {
  const header = exchange.request.headers['if-match'];
  if (header === undefined)
    throw new GatewayError(
      'precondition_required',
      'Send If-Match with the ETag of the configuration that you have read, or * for the one in force',
      { param: 'if-match' },
    );
  const current = control.inForce().version.number;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (tags.includes('*')) return null;
  if (tags.includes(etagOf(current))) return current;
  throw changedSince(current);
}

function changedSince(current: number): GatewayError {
  return new GatewayError(
    'precondition_failed',
    `Version ${current} of the configuration is in force: read it again and repeat the change`,
    { param: 'if-match' },
  );
}

const noSuchVersion = (id: string) =>
  new GatewayError('not_found', `There is no version "${id.slice(0, 20)}" of the configuration`);
const versionNumber = (id: string): number => (/^\d{1,15}$/.test(id) ? Number(id) : -1);
/** The ETag of a version of the configuration. */
export const etagOf = (version: number): string => `"${version}"`;

function problemsOf(
  problems: readonly ConfigProblem[],
  ofSeverity: ConfigProblem['severity'],
): z.output<typeof configProblem>[] {
  return problems
    .filter(({ severity }) => severity === ofSeverity)
    .map(({ column = null, line = null, message: sentence, path }) => ({
      path,
      message: sentence,
      line,
      column,
    }));
}

/** For a record of the API, whose lists are not read-only. */
function copyOf({ channels, routers, sources, triggers }: ConfigChanges) {
  const members = ({ added, changed, removed }: MemberChanges) => ({
    added: [...added],
    changed: [...changed],
    removed: [...removed],
  });
  return {
    channels: members(channels),
    sources: members(sources),
    triggers: members(triggers),
    routers: { ...routers },
  };
}
