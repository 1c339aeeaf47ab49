import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { temporaryFolder } from '../../support/machine/folder.ts';
import { managed } from '../../support/management/management.ts';

const run = promisify(execFile);
const workspace = fileURLToPath(new URL('../../../tools/openapi/', import.meta.url));

interface Media {
  schema: Record<string, unknown>;
  example?: unknown;
}

interface Operation {
  parameters?: { name: string; schema: { type?: string } }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { description?: string; example?: unknown }> };
}

/** `GET /api/openapi.json` is what clients are generated from. */
describe('the document of the management API', () => {
  const at = managed();
  let document: ApiDocument;
  let operations: (Operation & { title: string })[];
  before(async () => {
    const reply = await at.call('GET', '/api/openapi.json', { token: at.admin.token });
    document = reply.json<ApiDocument>();
    operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, operation]) => 'responses' in operation)
        .map(([verb, operation]) => ({ title: `${verb} ${path}`, ...operation })),
    );
  });

  it('describes every schema, and shows an example that fits it', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
    ajv.addSchema(document, 'api');
    const faults: string[] = [];
    const check = (where: string, pointer: string, example: unknown) => {
      const validate = ajv.getSchema(`api#${pointer}`);
      if (example === undefined) faults.push(`${where} has no example`);
      else if (!validate?.(example)) faults.push(`${where}: ${ajv.errorsText(validate?.errors)}`);
    };
    const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
    for (const [name, { description, example }] of Object.entries(document.components.schemas)) {
      if (description === undefined) faults.push(`${name} has no description`);
      if (name !== 'Problem') check(name, `/components/schemas/${name}`, example);
    }
    for (const [path, item] of Object.entries(document.paths))
      for (const [verb, { requestBody, responses }] of Object.entries(item)) {
        const bodies = [
          ['requestBody', requestBody] as const,
          ...Object.entries(responses ?? {}).map(([status, one]) => [`responses/${status}`, one] as const),
        ];
        for (const [place, body] of bodies)
          for (const [type, { example, schema }] of Object.entries(body?.content ?? {})) {
            const where = `${verb} ${path} ${place}`;
            if (schema['$ref'] === undefined && schema['description'] === undefined)
              faults.push(`${where} has no description`);
            check(where, `/paths/${escaped(path)}/${verb}/${place}/content/${escaped(type)}/schema`, example);
          }
      }
    assert.deepEqual(faults, []);
  });

  it('has lists, numbers and booleans where they are meant', () => {
    const types: Record<string, string> = {
      'filter[]': 'array',
      limit: 'integer',
      offset: 'integer',
      dry_run: 'boolean',
      refresh: 'boolean',
    };
    let looked = 0;
    for (const { parameters = [], title } of operations)
      for (const { name, schema } of parameters) {
        const type = types[name];
        if (type === undefined) continue;
        looked += 1;
        assert.equal(schema.type, type, `${name} of ${title}`);
      }
    assert.ok(looked > 100);
  });

  it('is a page for people, with each path once, which the server searches', async () => {
    const page = async (query = '') => {
      const reply = await at.call('GET', `/api/docs${query}`, { token: at.admin.token });
      assert.equal(reply.status, 200);
      assert.match(reply.header('content-security-policy') ?? '', /default-src 'none'/);
      return reply.text;
    };
    const all = await page();
    for (const path of Object.keys(document.paths)) {
      const headings = all.split(`<h3><code>${path}</code></h3>`).length - 1;
      assert.equal(headings, 1, path);
    }
    for (const operationId of ['list_keys', 'create_keys', 'log_in', 'entry_point'])
      assert.match(all, new RegExp(`href="#${operationId}"[\\s\\S]*id="${operationId}"`));
    assert.match(all, /<summary>200 The collection/);
    assert.doesNotMatch(all, /<script/);
    const found = await page('?q=create+KEYS');
    assert.match(found, /id="create_keys"/);
    assert.doesNotMatch(found, /id="list_keys"|id="create_budgets"/);
    const strange = await page(`?q=${encodeURIComponent('"><script>')}`);
    assert.doesNotMatch(strange, /<script/);
    assert.match(strange, /0 operations with/);
  });

  it('makes a client that compiles without casts and works', async (test) => {
    // Below the packages that the client imports, and in no node_modules: Node.js takes no types out of files there.
    const scratch = join(workspace, '.scratch');
    mkdirSync(scratch, { recursive: true });
    const folder = temporaryFolder({ after: (end) => test.after(end) }, scratch);
    const node = (...args: string[]) => run(process.execPath, args, { cwd: folder });
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    writeFileSync(join(folder, 'client.ts'), client);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(compilerOptions));
    await node(
      join(workspace, 'node_modules/openapi-typescript/bin/cli.js'),
      'openapi.json',
      '-o',
      'api.d.ts',
    );
    await node(join(workspace, '../../node_modules/typescript/bin/tsc'), '-p', '.');
    const { stdout } = await node('client.ts', `http://127.0.0.1:${at.gateway.port}`, at.admin.token);
    assert.deepEqual(JSON.parse(stdout), {
      made: ['typed', true],
      named: ['typed'],
      counted: [1, 1],
      label: 'ci',
      disabled: true,
      planned: 'core',
      entry: ['admin', true],
      missing: 404,
      gone: 204,
    });
  });
});

const compilerOptions = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(workspace, '../../node_modules/@types')],
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
  },
  files: ['client.ts'],
};

/** What a program does with the generated types: no `as`, no `any`. */
const client = `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

const [baseUrl = '', token = ''] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl, headers: { 'X-Auth-Token': token } });

const created = await api.POST('/api/keys', { body: { name: 'typed', labels: { env: 'ci' }, budget_usd: 5 } });
if (created.error !== undefined) throw new Error(created.error.detail);
const [made] = created.data.results;
const secret: string | undefined = made?.key;

const filter = ["name = 'typed'", "disabled = false"];
const query = { 'filter[]': filter, expand: 'resources' as const, limit: 10, offset: 0 };
const { data: page } = await api.GET('/api/keys', { params: { query } });
const names: (string | undefined)[] = page?.resources?.map(({ name }) => name) ?? [];
const matching: number | undefined = page?.subquery_count;

const id = made?.id ?? '';
const path = { id };
const shown = await api.GET('/api/keys/{id}', { params: { path } });
const label: string | undefined = shown.data?.labels?.['env'];
const planned = await api.PATCH('/api/keys/{id}', {
  params: { path, query: { dry_run: true } },
  body: { team: 'core' },
});
const acted = await api.POST('/api/keys/{id}', { params: { path }, body: { action: 'disable' } });
const entry = await api.GET('/api');
const missing = await api.GET('/api/keys/{id}', { params: { path: { id: 'nobody' } } });
const status: number | undefined = missing.error?.status;
const removed = await api.DELETE('/api/keys/{id}', { params: { path } });

console.log(
  JSON.stringify({
    made: [made?.name, secret?.startsWith('sk-')],
    named: names,
    counted: [page?.subcount, matching],
    label,
    disabled: acted.data !== undefined && 'success' in acted.data && acted.data.success,
    planned: planned.data !== undefined && 'changes' in planned.data && planned.data.changes?.['team']?.to,
    entry: [entry.data?.identity.name, entry.data?.collections.some(({ name }) => name === 'keys')],
    missing: status,
    gone: removed.response.status,
  }),
);
`;
