import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../json/values.ts';
import { extraMembers } from '../../json/wire-check.ts';
import { messageAt, messagesAt } from '../wire-names.ts';

/** Members that the neutral model has words for, by the object that they stand in. */
const known: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'contents',
  'systemInstruction',
  'tools',
  'serviceTier',
  'cachedContent',
]);
const knownInside: Readonly<Record<string, ReadonlySet<string>>> = {
  generationConfig: new Set([
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
  toolConfig: new Set(['functionCallingConfig']),
};
const knownOfFunction: ReadonlySet<string> = new Set([
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
export function ownMembers(body: JsonObject): JsonObject | null {
  const holders = new Set([...known, ...Object.keys(knownInside)]);
  const members = new Map(Object.entries(extraMembers(body, holders) ?? {}));
  for (const [name, names] of Object.entries(knownInside)) {
    for (const [key, value] of Object.entries(extraMembers(messageAt(body, name, name) ?? {}, names) ?? {}))
      members.set(`${name}.${key}`, value);
  }
  const ofFunctions = new Map<string, Map<string, unknown>>();
  for (const [tool] of messagesAt(body, 'tools', 'tools')) {
    for (const [declaration] of messagesAt(tool, 'functionDeclarations', 'tools')) {
      for (const [key, value] of Object.entries(extraMembers(declaration, knownOfFunction) ?? {})) {
        const byName = ofFunctions.get(key) ?? new Map<string, unknown>();
        ofFunctions.set(key, byName.set(textOf(declaration['name']), value));
      }
    }
  }
  for (const [key, byName] of ofFunctions) members.set(FUNCTIONS + key, Object.fromEntries(byName));
  return members.size === 0 ? null : Object.fromEntries(members);
}

/** The request with the members that `ownMembers` found, where they were. */
export function putBack(request: JsonObject, members: JsonObject): JsonObject {
  const result: JsonObject = { ...request };
  for (const [path, value] of Object.entries(members)) {
    const holder = Object.keys(knownInside).find((name) => path.startsWith(`${name}.`));
    if (path.startsWith(FUNCTIONS))
      result['tools'] = withMember(result['tools'], path.slice(FUNCTIONS.length), objectOf(value));
    else if (holder === undefined) result[path] = value;
    else result[holder] = { ...objectOf(result[holder]), [path.slice(holder.length + 1)]: value };
  }
  return result;
}

function withMember(tools: unknown, key: string, byName: JsonObject): unknown {
  return listOf(tools).map((tool) => {
    const declarations = objectOf(tool)['functionDeclarations'];
    if (!Array.isArray(declarations)) return tool;
    return {
      functionDeclarations: declarations.map((declaration) => {
        const name = textOf(objectOf(declaration)['name']);
        if (!isObject(declaration) || !Object.hasOwn(byName, name)) return declaration;
        return { ...declaration, [key]: byName[name] };
      }),
    };
  });
}
