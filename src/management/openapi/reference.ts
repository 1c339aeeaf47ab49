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
  style?: 'form';
  explode?: boolean;
}

/** Bodies by media type. */
export type Content = Record<string, { schema: JsonSchema; example?: unknown }>;

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

/** What the page shows. */
interface ReferenceEntry {
  document: ApiDocument;
  /** Words that an operation has to have, all of them; none for all operations. */
  search: string;
}

/** The paths of a tag, with those of their operations that are shown. */
interface Section {
  name: string;
  description: string;
  paths: { path: string; operations: { verb: string; operation: Operation }[] }[];
}

/**
 * The document as one page of HTML, without scripts, with everything escaped: an index of all operations, a search that the
 * server answers, and for each operation its parameters, its body and one response, with examples.
 */
export function renderReference({ document, search }: ReferenceEntry): string {
  const { components, info } = document;
  const sections = sectionsOf(document, search);
  const total = sections.reduce(
    (sum, { paths }) => sum + paths.reduce((all, { operations }) => all + operations.length, 0),
    0,
  );
  const records = components['schemas'] ?? {};
  const schemas = Object.entries(records)
    .filter(([name]) => !isDerived(name, records))
    .map(([name, schema]) => renderSchema(name, schema as JsonSchema))
    .join('');
  const heading =
    search === ''
      ? ''
      : `<p role="status">${total} operations with “${escaped(search)}”. <a href="docs">Show all</a></p>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(info.title)}</title><style>${style}</style></head><body><nav aria-label="Operations">
<form role="search"><input type="search" name="q" value="${escaped(search)}" placeholder="Search operations" aria-label="Search operations"><button>Search</button></form>
${sections.map(renderIndex).join('')}${search === '' ? '<p><a href="#records">Records</a></p>' : ''}</nav>
<main><h1>${escaped(info.title)} <small>${escaped(info.version)}</small></h1><p>${prose(info.description)}</p>
<p>For programs: <a href="openapi.json">openapi.json</a></p>${heading}${sections.map((section) => renderSection(section, records)).join('')}
${search === '' ? `<section id="records"><h2>Records</h2><p>${prose(derivedText)}</p>${schemas}</section>` : ''}</main></body></html>`;
}

function sectionsOf({ paths, tags }: ApiDocument, search: string): Section[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const sections = tags.map(({ description, name }) => ({
    name,
    description,
    paths: Object.entries(paths)
      .map(([path, item]) => ({
        path,
        operations: verbs.flatMap((verb) => {
          const operation = item[verb];
          if (!operation?.tags.includes(name)) return [];
          const text =
            `${verb} ${path} ${name} ${operation.summary} ${operation.description ?? ''}`.toLowerCase();
          return words.every((word) => text.includes(word)) ? [{ verb, operation }] : [];
        }),
      }))
      .filter(({ operations }) => operations.length > 0),
  }));
  return sections.filter((section) => section.paths.length > 0);
}

function renderIndex({ name, paths }: Section): string {
  const items = paths.flatMap(({ operations }) =>
    operations.map(
      ({ operation, verb }) =>
        `<li><a href="#${escaped(operation.operationId)}"><b class="${verb}">${verb.toUpperCase()}</b> ${escaped(operation.summary)}</a></li>`,
    ),
  );
  return `<details><summary><a href="#${escaped(name)}">${escaped(name)}</a></summary><ul>${items.join('')}</ul></details>`;
}

function renderSection(
  { description, name, paths }: Section,
  records: Readonly<Record<string, unknown>>,
): string {
  const articles = paths.map(
    ({ operations, path }) =>
      `<article><h3><code>${escaped(path)}</code></h3>${operations
        .map(({ operation, verb }) => renderOperation(verb, operation, records))
        .join('')}</article>`,
  );
  return `<section id="${escaped(name)}"><h2>${escaped(name)}</h2><p>${prose(description)}</p>${articles.join('')}</section>`;
}

function renderOperation(
  verb: string,
  operation: Operation,
  records: Readonly<Record<string, unknown>>,
): string {
  const { description = '', operationId, parameters = [], requestBody, responses, summary } = operation;
  const rows = parameters
    .map(
      ({ description: meaning, name, schema }) =>
        `<tr><td><code>${escaped(name)}</code></td><td>${escaped(schemaText(schema))}</td><td>${prose(meaning)}</td></tr>`,
    )
    .join('');
  const [status, response] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  return `<div id="${escaped(operationId)}"><h4><b class="${verb}">${verb.toUpperCase()}</b> ${escaped(summary)}</h4>
${description === `${summary}.` ? '' : list(description)}${rows === '' ? '' : `<table>${rows}</table>`}
${requestBody === undefined ? '' : renderBody('Body', requestBody.content, records)}
${status === undefined ? '' : renderBody(`${status} ${response?.description ?? ''}`, response?.content ?? {}, records)}</div>`;
}

/** A body with its example and its schema, or only what it is where there is none. */
function renderBody(title: string, content: Content, records: Readonly<Record<string, unknown>>): string {
  const [type, media] = Object.entries(content)[0] ?? [];
  if (type === undefined || media === undefined) return `<p class="body">${prose(title)}</p>`;
  const { $ref } = media.schema;
  const named = $ref?.slice($ref.lastIndexOf('/') + 1);
  const link =
    named !== undefined && named in records
      ? ` <a href="#record-${escaped(named)}">${escaped(named)}</a>`
      : '';
  const example = typeof media.example === 'string' ? media.example : JSON.stringify(media.example, null, 2);
  return `<details class="body"><summary>${prose(title)} <small>${escaped(type)}</small>${link}</summary>
<pre>${escaped(example ?? '')}</pre>${named === undefined ? `<details><summary>Schema</summary><p>${escaped(schemaText(media.schema))}</p></details>` : ''}</details>`;
}

function renderSchema(name: string, { description, properties }: JsonSchema): string {
  const rows = Object.entries(properties ?? {})
    .map(([member, schema]) => {
      const cells = [escaped(schemaText(schema)), prose(String(schema['description'] ?? ''))];
      return `<tr><td><code>${escaped(member)}</code></td>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
    })
    .join('');
  return `<article id="record-${escaped(name)}"><h3>${escaped(name)}</h3><p>${prose(String(description ?? ''))}</p><table>${rows}</table></article>`;
}

const derivedText =
  '`openapi.json` has two more schemas beside each record: `KeyPart` and the like have only the fields that were asked for, and `KeyResult` and the like have those of `Outcome` too, and what is shown once.';

/** Whether it is made of another record, with the same fields. */
function isDerived(name: string, records: Readonly<Record<string, unknown>>): boolean {
  const record = /^(.+)(?:Part|Result)$/.exec(name)?.[1];
  return record !== undefined && Object.hasOwn(records, record);
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
body{margin:0;display:grid;grid-template-columns:20rem minmax(0,1fr);gap:2rem}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem;border-right:1px solid #8884;box-sizing:border-box}
nav form{display:flex;gap:.5rem;margin-bottom:1rem}nav input{flex:1;min-width:0;font:inherit;padding:.25rem .5rem}
nav button{font:inherit}nav ul{list-style:none;padding:0 0 .5rem 1rem;margin:0;font-size:.875rem}nav li{margin:.25rem 0}
nav a,summary a{color:inherit;text-decoration:none}nav a:hover,summary a:hover{text-decoration:underline}
main{padding:1rem 2rem 4rem 0;max-width:60rem;min-width:0;overflow-wrap:anywhere}
h3{font-size:1rem;margin:1.5rem 0 .25rem}h4{font-size:1rem;font-weight:500;margin:1.25rem 0 .25rem}article{border-top:1px solid #8884}
article>div{padding-left:1rem;border-left:2px solid #8883;margin-bottom:1rem}
code,pre{font-family:ui-monospace,monospace;font-size:.875rem}pre{overflow:auto;padding:1rem;background:#8881}
summary{cursor:pointer}.body{margin:.25rem 0}small{opacity:.75;font-weight:400}
table{border-collapse:collapse}td{padding:.15rem 1rem .15rem 0;vertical-align:top}td:nth-child(-n+2){overflow-wrap:normal}
b.get{color:light-dark(#07825a,#3fc795)}b.post{color:light-dark(#a15c00,#e6a23c)}
b.put,b.patch{color:light-dark(#5a4fcf,#a59cff)}b.delete{color:light-dark(#c0263a,#ff7b8a)}
@media(max-width:60rem){body{display:block;padding:0 1rem}nav{position:static;height:auto;border:0;padding:1rem 0}main{padding:0 0 4rem}}`;
