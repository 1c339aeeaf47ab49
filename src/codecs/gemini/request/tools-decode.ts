import { isObject, type JsonObject, objectOf } from '../../json/values.ts';
import { textAt, wrong } from '../../json/wire-check.ts';
import type { FunctionTool, Tool, ToolChoice, WebSearchTool } from '../../model/conversation.ts';
import type { CallingConfig, FunctionDeclaration, GeminiRequest, SearchOption, ToolConfig } from '../wire.ts';
import { messageAt, messagesAt } from '../wire-names.ts';
import { inCapitals, jsonSchemaOf } from './schema-decode.ts';

/** The `tools` of a request, each of which may hold several. */
export function readTools(body: GeminiRequest): Tool[] {
  return messagesAt(body, 'tools', 'tools').flatMap(([tool, path]) =>
    Object.keys(tool).flatMap((name) => readTool(tool, name, path)),
  );
}

function readTool(tool: JsonObject, name: string, path: string): Tool[] {
  const value = tool[name];
  if (value === undefined || value === null) return [];
  switch (name) {
    case 'functionDeclarations':
      return messagesAt(tool, name, `${path}.${name}`).map(([declaration, at]) =>
        readDeclaration(declaration, at),
      );
    case 'googleSearch':
    case 'googleSearchRetrieval':
      return [searchTool(name, value)];
    default:
      return [{ kind: 'native', format: 'gemini', name, value: { [name]: value } }];
  }
}

function readDeclaration(declaration: FunctionDeclaration, path: string): FunctionTool {
  const name = textAt(declaration, 'name', `${path}.name`);
  if (name === null) throw wrong(`${path}.name`, 'a string');
  return {
    kind: 'function',
    name,
    description: textAt(declaration, 'description', `${path}.description`),
    schema: schemaIn(declaration, 'parameters', 'parametersJsonSchema', path),
    strict: null,
  };
}

/** The JSON Schema in one of two fields: the first speaks the API's own language, the second JSON Schema. */
export function schemaIn<Wire extends JsonObject>(
  holder: Wire,
  own: keyof Wire & string,
  json: keyof Wire & string,
  path: string,
): JsonObject | null {
  const schema: unknown = holder[json] ?? holder[own];
  if (schema === undefined || schema === null) return null;
  const isJson = holder[json] !== undefined && holder[json] !== null;
  const at = `${path}.${isJson ? json : own}`;
  if (!isObject(schema)) throw wrong(at, 'an object');
  return isJson && !inCapitals(schema) ? schema : jsonSchemaOf(schema, at);
}

function searchTool(name: string, value: unknown): WebSearchTool {
  const excluded = objectOf<SearchOption>(value).excludeDomains;
  const blocked = Array.isArray(excluded) ? excluded.filter((one) => typeof one === 'string') : null;
  return {
    kind: 'web-search',
    maxUses: null,
    allowedDomains: null,
    blockedDomains: blocked,
    location: null,
    native: { format: 'gemini', value: { [name]: value } },
  };
}

/** `toolConfig.functionCallingConfig`. Calls that are held to their schemas (`VALIDATED`) are calls as the model likes. */
export function readChoice(toolConfig: ToolConfig | null): ToolChoice | null {
  const path = 'toolConfig.functionCallingConfig';
  const config: CallingConfig | null =
    toolConfig === null ? null : messageAt(toolConfig, 'functionCallingConfig', path);
  if (config === null) return null;
  const mode = (textAt(config, 'mode', `${path}.mode`) ?? '').toUpperCase();
  const names = namesIn(config, `${path}.allowedFunctionNames`);
  switch (mode) {
    case 'NONE':
      return { kind: 'none' };
    case 'ANY':
      if (names.length === 0) return { kind: 'required' };
      return names.length === 1
        ? { kind: 'tool', name: names[0] ?? '' }
        : { kind: 'allowed', names, required: true };
    case 'AUTO':
    case 'VALIDATED':
      return names.length === 0 ? { kind: 'auto' } : { kind: 'allowed', names, required: false };
    case 'MODE_UNSPECIFIED':
    case '':
      return names.length === 0 ? null : { kind: 'allowed', names, required: false };
    default:
      throw wrong(`${path}.mode`, '"AUTO", "ANY", "NONE" or "VALIDATED"');
  }
}

function namesIn(config: CallingConfig, path: string): string[] {
  const names = config.allowedFunctionNames ?? [];
  if (!Array.isArray(names)) throw wrong(path, 'a list');
  return names.map((name, index) => {
    if (typeof name !== 'string') throw wrong(`${path}[${index}]`, 'a string');
    return name;
  });
}
