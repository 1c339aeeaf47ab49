import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../json/values.ts';
import { extraMembers } from '../../json/wire-check.ts';
import type { FunctionDeclaration, GeminiRequest, GenerationConfig, ToolConfig, ToolOffer } from '../wire.ts';
import { messageAt, messagesAt } from '../wire-names.ts';

/** Objects of a request whose own members are known. */
const inside = ['generationConfig', 'toolConfig'] as const satisfies (keyof GeminiRequest)[];
/** Members that the neutral model has words for, by the object that they stand in. */
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
 * What only this format can say: members of the request, and by their path those of its parts. What a member of
 * functions says is listed by the function's name. `body` has its names in camel case. Null when there is nothing.
 */
export function ownMembers(body: GeminiRequest): JsonObject | null {
  const members = new Map<string, unknown>();
  const add = (prefix: string, found: JsonObject | null) => {
    if (found !== null) for (const name of Object.keys(found)) members.set(prefix + name, found[name]);
  };
  add('', extraMembers(body, knownFields));
  for (const name of inside) {
    const holder = messageAt(body, name, name);
    if (holder !== null) add(`${name}.`, extraMembers(holder, knownInside[name]));
  }
  const ofFunctions = new Map<string, Map<string, unknown>>();
  for (const [tool] of messagesAt(body, 'tools', 'tools')) {
    for (const [declaration] of messagesAt<ToolOffer>(tool, 'functionDeclarations', 'tools')) {
      const found = extraMembers(declaration, knownOfFunction);
      if (found === null) continue;
      for (const [key, value] of Object.entries(found)) {
        const byName = ofFunctions.get(key) ?? new Map<string, unknown>();
        ofFunctions.set(key, byName.set(textOf(objectOf<FunctionDeclaration>(declaration).name), value));
      }
    }
  }
  for (const [key, byName] of ofFunctions) members.set(FUNCTIONS + key, Object.fromEntries(byName));
  return members.size === 0 ? null : Object.fromEntries(members);
}

/** The request with the members that `ownMembers` found, where they were. */
export function putBack(request: GeminiRequest, members: JsonObject): GeminiRequest {
  const result: GeminiRequest & JsonObject = { ...request };
  for (const [path, value] of Object.entries(members)) {
    const holder = inside.find((name) => path.startsWith(`${name}.`));
    if (path.startsWith(FUNCTIONS))
      result.tools = withMember(result.tools, path.slice(FUNCTIONS.length), objectOf(value));
    else if (holder === undefined) result[path] = value;
    else result[holder] = { ...objectOf(result[holder]), [path.slice(holder.length + 1)]: value };
  }
  return result;
}

function withMember(tools: unknown, key: string, byName: JsonObject): unknown {
  return listOf(tools).map((tool) => {
    const declarations = objectOf<ToolOffer>(tool).functionDeclarations;
    if (!Array.isArray(declarations)) return tool;
    return {
      functionDeclarations: declarations.map((declaration) => {
        const name = textOf(objectOf<FunctionDeclaration>(declaration).name);
        if (!isObject(declaration) || !Object.hasOwn(byName, name)) return declaration;
        return { ...declaration, [key]: byName[name] };
      }),
    };
  });
}
