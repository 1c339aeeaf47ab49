import { type JsonSchema, schemaText } from './json-schema.ts';

/** As much of OpenAPI 3.1 as the document uses. */
export interface ApiDocument {
  openapi: string;
  info: {
    title: string;
    version: string;
    summary: string;
    description: string;
    license: { name: string; identifier: string };
    contact: { name: string; url: string };
  };
  servers: { url: string; description: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, PathItem>;
  components: Record<string, Record<string, unknown>>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description: string;
  schema: JsonSchema;
}

type Content = Record<string, { schema: JsonSchema }>;

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required: boolean; description?: string; content: Content };
  responses: Record<string, { description?: string; content?: Content; $ref?: string }>;
  security?: Record<string, string[]>[];
  'x-permission'?: string;
  'x-roles'?: readonly string[];
  'x-actions'?: Record<string, string>;
}

export interface PathItem {
  parameters?: Parameter[];
  get?: Operation;
  put?: Operation;
  post?: Operation;
  patch?: Operation;
  delete?: Operation;
}

const verbs = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The document as one page of HTML, without scripts, with everything escaped. */
export function renderReference({ components, info, paths, tags }: ApiDocument): string {
  const sections = tags.map(({ description, name }) => {
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      verbs.flatMap((verb) => {
        const operation = item[verb];
        return operation?.tags.includes(name) ? [renderOperation(verb, path, operation)] : [];
      }),
    );
    return `<section id="${escaped(name)}"><h2>${escaped(name)}</h2><p>${prose(description)}</p>${operations.join('')}</section>`;
  });
  const index = tags.map(({ name }) => `<li><a href="#${escaped(name)}">${escaped(name)}</a></li>`).join('');
  const records = components['schemas'] ?? {};
  const schemas = Object.entries(records)
    .filter(([name]) => !isPart(name, records))
    .map(([name, schema]) => renderSchema(name, schema as JsonSchema))
    .join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(info.title)}</title><style>${style}</style></head><body><nav><ul>${index}<li><a href="#records">records</a></li></ul></nav>
<main><h1>${escaped(info.title)} <small>${escaped(info.version)}</small></h1><p>${prose(info.description)}</p>
<p>For programs: <a href="openapi.json">openapi.json</a></p>${sections.join('')}
<section id="records"><h2>Records</h2><p>${prose(partsText)}</p>${schemas}</section></main></body></html>`;
}

function renderOperation(verb: string, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? [])
    .map(
      ({ description, name }) =>
        `<tr><td><code>${escaped(name)}</code></td><td>${prose(description)}</td></tr>`,
    )
    .join('');
  const { description = '' } = operation;
  const body = operation.requestBody?.content['application/json']?.schema;
  return `<article><h3><b class="${verb}">${verb.toUpperCase()}</b> <code>${escaped(path)}</code></h3>
<p>${escaped(operation.summary)}</p>${description === `${operation.summary}.` ? '' : list(description)}
${parameters === '' ? '' : `<table>${parameters}</table>`}
${body === undefined ? '' : `<details><summary>Body</summary><pre>${escaped(JSON.stringify(body, null, 2))}</pre></details>`}</article>`;
}

function renderSchema(name: string, { properties }: JsonSchema): string {
  const rows = Object.entries(properties ?? {})
    .map(([member, schema]) => {
      const cells = [escaped(schemaText(schema)), prose(String(schema['description'] ?? ''))];
      return `<tr><td><code>${escaped(member)}</code></td>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
    })
    .join('');
  return `<article><h3>${escaped(name)}</h3><table>${rows}</table></article>`;
}

const partsText =
  'Of `KeyPart` and the like, which `openapi.json` has beside each record, only the members are there that were asked for.';

/** Whether it is the shown part of another record, with the same members. */
function isPart(name: string, records: Readonly<Record<string, unknown>>): boolean {
  return name.endsWith('Part') && Object.hasOwn(records, name.slice(0, -'Part'.length));
}

/** Lines that begin with `- ` become a list. */
function list(text: string): string {
  const lines = text.split('\n');
  if (!lines.every((line) => line.startsWith('- '))) return `<p>${prose(text)}</p>`;
  return `<ul>${lines.map((line) => `<li>${prose(line.slice(2))}</li>`).join('')}</ul>`;
}

function prose(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

const style = `
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;display:grid;grid-template-columns:12rem minmax(0,1fr);gap:2rem}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem;border-right:1px solid #8884}
nav ul{list-style:none;padding:0;margin:0}main{padding:1rem 2rem 4rem 0;max-width:60rem;min-width:0;overflow-wrap:anywhere}
h3{font-size:1rem;margin:1.5rem 0 .25rem}article{border-top:1px solid #8884}
code,pre{font-family:ui-monospace,monospace;font-size:.875rem}pre{overflow:auto;padding:1rem;background:#8881}
table{border-collapse:collapse}td{padding:.15rem 1rem .15rem 0;vertical-align:top}td:first-child{overflow-wrap:normal}
b.get{color:light-dark(#07825a,#3fc795)}b.post{color:light-dark(#a15c00,#e6a23c)}
b.put,b.patch{color:light-dark(#5a4fcf,#a59cff)}b.delete{color:light-dark(#c0263a,#ff7b8a)}
@media(max-width:40rem){body{display:block;padding:0 1rem}nav{position:static;height:auto;border:0}}`;
