import type { JsonSchema } from '../json-schema.ts';
import type { ApiDocument, Content, Operation } from '../reference.ts';
import { type Components, exampleOf } from './example.ts';

const verbs = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The document with an example and a description for each body, where it has none of its own yet. */
export function withExamples(document: ApiDocument): ApiDocument {
  const components = (document.components['schemas'] ?? {}) as Components;
  for (const item of Object.values(document.paths))
    for (const verb of verbs) {
      const operation = item[verb];
      if (operation !== undefined) completeOperation(operation, components);
    }
  return document;
}

function completeOperation({ requestBody, responses, summary }: Operation, components: Components): void {
  if (requestBody !== undefined) completeContent(requestBody.content, summary, components);
  for (const { content, description = summary } of Object.values(responses))
    if (content !== undefined) completeContent(content, description, components);
}

function completeContent(content: Content, description: string, components: Components): void {
  for (const [type, media] of Object.entries(content)) {
    if (media.schema.$ref === undefined && media.schema['description'] === undefined)
      media.schema = { ...media.schema, description };
    if (media.example === undefined) media.example = exampleFor(type, media.schema, components);
  }
}

function exampleFor(type: string, schema: JsonSchema, components: Components): unknown {
  if (type === 'text/event-stream') return 'id: 1\nevent: services\ndata: {"id":"data-plane"}\n\n';
  if (type === 'text/html') return '<!doctype html>';
  return type === 'text/plain' ? 'pong' : exampleOf(schema, components);
}
