import { OwnFields, withOwnFields } from '../../adapt/own-fields.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../json/values.ts';
import type { FunctionDeclaration, GeminiRequest, GenerationConfig, ToolConfig, ToolOffer } from '../wire.ts';
import { messageAt, messagesAt } from '../wire-names.ts';

/** Objects of a request whose own fields are known. */
const inside = ['generationConfig', 'toolConfig'] as const satisfies (keyof GeminiRequest)[];
/** Fields that the neutral model can express, by the object that contains them. */
const knownFields: ReadonlySet<string> = new Set<keyof GeminiRequest>([
  ...inside,
  'model',
  'stream',
  'contents',
  'systemInstruction',
  'tools',
  'serviceTier',
  'cachedContent',
]);
const knownInside: Readonly<Record<(typeof inside)[number], ReadonlySet<string>>> = {
  generationConfig: new Set<keyof GenerationConfig>([
    'candidateCount',
    'stopSequences',
    'maxOutputTokens',
    'temperature',
    'topP',
    'topK',
    'seed',
    'presencePenalty',
    'frequencyPenalty',
    'responseLogprobs',
    'logprobs',
    'responseMimeType',
    'responseSchema',
    'responseJsonSchema',
    '_responseJsonSchema',
    'thinkingConfig',
    'responseModalities',
  ]),
  toolConfig: new Set<keyof ToolConfig>(['functionCallingConfig']),
};
const knownOfFunction: ReadonlySet<string> = new Set<keyof FunctionDeclaration>([
  'name',
  'description',
  'parameters',
  'parametersJsonSchema',
]);

const FUNCTIONS = 'tools.functionDeclarations.';

/**
 * Fields of the request that only this format has, and those of its parts by their path. A field of a function is listed
 * under the function's name. `body` has its names in camel case. Null if there are none.
 */
export function ownFields(body: GeminiRequest): JsonObject | null {
  const fields = new OwnFields();
  fields.addFrom(body, knownFields);
  for (const name of inside) {
    const holder = messageAt(body, name, name);
    if (holder !== null) fields.addFrom(holder, knownInside[name], `${name}.`);
  }
  for (const [tool] of messagesAt(body, 'tools', 'tools'))
    for (const [declaration] of messagesAt<ToolOffer>(tool, 'functionDeclarations', 'tools'))
      fields.addOfTool(declaration, nameOf(declaration), knownOfFunction, FUNCTIONS);
  return fields.collected();
}

/** The request with the fields that `ownFields` found, where they were. */
export function putBack(request: GeminiRequest, fields: JsonObject): GeminiRequest {
  return withOwnFields(request, fields, {
    holders: inside,
    tools: FUNCTIONS,
    mapTools: (tools, change) =>
      listOf(tools).map((tool) => {
        const declarations = objectOf<ToolOffer>(tool).functionDeclarations;
        if (!Array.isArray(declarations)) return tool;
        return {
          functionDeclarations: declarations.map((declaration) =>
            isObject(declaration) ? change(declaration, nameOf(declaration)) : declaration,
          ),
        };
      }),
  });
}

function nameOf(declaration: FunctionDeclaration): string {
  return textOf(declaration.name);
}
