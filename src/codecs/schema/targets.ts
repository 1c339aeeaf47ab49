import type { WireFormat } from '../wire-format.ts';
import { full, type SchemaRules } from './rules.ts';

/**
 * `400 input_schema does not support oneOf, allOf, or anyOf at the top level` (anthropics/claude-code#5319, #5878).
 * Schemas are held to draft 2020-12.
 */
const anthropic: SchemaRules = { ...full, root: 'object' };

/** Not in strict schemas: OpenAI's guide "Structured outputs", supported schemas, and what is refused by experience. */
const openaiStrictRefused: ReadonlySet<string> = new Set([
  'allOf',
  'oneOf',
  'not',
  'dependentRequired',
  'dependentSchemas',
  'if',
  'then',
  'else',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
  'minProperties',
  'maxProperties',
  'uniqueItems',
  'contains',
  'minContains',
  'maxContains',
  'prefixItems',
  'default',
]);

/**
 * `400 schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level`
 * (langchain-ai/langchainjs#9804), `array schema missing items`.
 */
const openai: SchemaRules = {
  ...full,
  refused: new Set(['prefixItems']),
  root: 'object',
  itemsNeeded: true,
  strictRefused: openaiStrictRefused,
};

/** GenerationConfig.responseJsonSchema: "only the following properties are supported" (ai.google.dev/api/generate-content). */
const geminiJsonKeywords: ReadonlySet<string> = new Set([
  'type',
  'format',
  'title',
  'description',
  'enum',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'properties',
  'additionalProperties',
  'required',
  'propertyOrdering',
  '$ref',
  '$defs',
]);

/**
 * `parametersJsonSchema` and `responseJsonSchema`. `$ref` is refused beside other keywords
 * (google-gemini/gemini-cli#4758) and when it leads elsewhere than `$defs` (#13326); `oneOf` means `anyOf`.
 * Requiring what is not declared: `property is not defined` (probelabs/probe#569).
 */
const geminiJson: SchemaRules = {
  ...full,
  keywords: geminiJsonKeywords,
  references: 'recursive',
  root: 'object',
  itemsNeeded: true,
  declaredOnly: true,
};

/** Fields of the message Schema (ai.google.dev/api/caching#Schema); any other name is an error. */
const geminiOpenapiKeywords: ReadonlySet<string> = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'items',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'minProperties',
  'maxProperties',
  'anyOf',
  'properties',
  'required',
  'propertyOrdering',
]);

/**
 * `parameters` and `responseSchema`. `enum: only allowed for STRING type` (decolua/9router#380) and
 * `Invalid value (TYPE_STRING), 7` (weave-os/router#65); formats by the reference of the same message at Vertex AI.
 */
const geminiOpenapi: SchemaRules = {
  ...geminiJson,
  keywords: geminiOpenapiKeywords,
  references: 'inline',
  formats: new Set(['float', 'double', 'int32', 'int64', 'enum', 'date-time']),
  types: 'one',
  typed: true,
  upperTypes: true,
  textEnums: true,
  unionAlone: true,
};

/** Google's OpenAI surface makes function declarations of the tools: `items: missing field` (hermes-agent#71804). */
const geminiChat: SchemaRules = { ...geminiOpenapi, upperTypes: false };

/**
 * "Moonshot Flavored JSON Schema" (MoonshotAI/walle, docs/mfjs-spec.md and its validator): every schema an object
 * that says its type, `type should be defined in anyOf items instead of the parent schema`,
 * `references must start with #/$defs/`, `conflicting keywords found after $ref expansion`, one kind of enum.
 */
const moonshot: SchemaRules = {
  ...full,
  keywords: new Set([
    'type',
    'title',
    'description',
    'default',
    'enum',
    'anyOf',
    'properties',
    'additionalProperties',
    'required',
    'items',
    'minimum',
    'maximum',
    'minLength',
    'maxLength',
    'pattern',
    'minItems',
    'maxItems',
  ]),
  references: 'inline',
  root: 'object',
  types: 'one',
  nulls: 'branch',
  typed: true,
  unionAlone: true,
  itemsNeeded: true,
  declaredOnly: true,
};

/**
 * Schemas become grammars. A pattern must be anchored and may hold no \d, \w or \s (ggml-org/llama.cpp#26930,
 * #27580), long repetitions do not parse (#25746), a schema that says nothing known is "unrecognized" (#14227), and beside
 * `anyOf` nothing is looked at.
 */
const llamaCpp: SchemaRules = {
  ...full,
  refused: new Set([
    'pattern',
    'not',
    'if',
    'then',
    'else',
    'contains',
    'propertyNames',
    'patternProperties',
  ]),
  root: 'object',
  typed: true,
  unionAlone: true,
  largestBound: 256,
};

/**
 * inference-docs.cerebras.ai/capabilities/structured-outputs, "Schema limitations": no list of types, no
 * `items: true`; `Unsupported JSON schema fields: {'minItems', ...}` (musistudio/claude-code-router#708).
 */
const cerebras: SchemaRules = {
  ...full,
  refused: new Set([
    'pattern',
    'format',
    'minItems',
    'maxItems',
    'prefixItems',
    'uniqueItems',
    'allOf',
    'oneOf',
  ]),
  references: 'inline',
  root: 'object',
  types: 'one',
  nulls: 'branch',
  itemsNeeded: true,
  strictRefused: openaiStrictRefused,
};

/**
 * console.groq.com/docs/structured-outputs: strict mode needs all fields required and objects closed;
 * `minItems is not supported` there (i-am-bee/beeai-framework#1215). Without strict any schema will do.
 */
const groq: SchemaRules = {
  ...openai,
  strictRefused: new Set([...openaiStrictRefused, 'minItems', 'maxItems', 'pattern', 'format']),
};

/**
 * docs.x.ai, "Structured outputs": references that are not circular, `allOf` of one schema, the formats named
 * there, "additionalProperties defaults to false"; tools with a `pattern` are refused (NousResearch/hermes-agent#27575).
 */
const xai: SchemaRules = {
  ...full,
  refused: new Set(['pattern', 'allOf']),
  formats: new Set(['date', 'time', 'date-time', 'email', 'uuid', 'ipv4']),
  references: 'inline',
  root: 'object',
  closesObjects: true,
};

/** `Grammar error: failed to compile JSON schema` for these two (BerriAI/litellm#13389). */
const mistral: SchemaRules = { ...full, refused: new Set(['$id', '$schema']) };

/**
 * Ollama reads tools into structures of these names and forgets the others, `$ref` among them (ollama/ollama#11444,
 * #13508).
 */
const ollama: SchemaRules = {
  ...full,
  keywords: new Set(['type', 'description', 'enum', 'items', 'properties', 'required', 'anyOf']),
  references: 'inline',
  root: 'object',
};

/** The name of the rules that a server has for the schemas of tools and answers; `full` takes every schema as it is. */
export type SchemaRuleName =
  | 'full'
  | 'anthropic'
  | 'openai'
  | 'gemini-json'
  | 'gemini-openapi'
  | 'gemini-chat'
  | 'moonshot'
  | 'llama-cpp'
  | 'cerebras'
  | 'groq'
  | 'xai'
  | 'mistral'
  | 'ollama';

/** The rules by the name that a dialect calls them by. `full` changes nothing. */
export const schemaRules: Readonly<Record<SchemaRuleName, SchemaRules>> = {
  full,
  anthropic,
  openai,
  'gemini-json': geminiJson,
  'gemini-openapi': geminiOpenapi,
  'gemini-chat': geminiChat,
  moonshot,
  'llama-cpp': llamaCpp,
  cerebras,
  groq,
  xai,
  mistral,
  ollama,
};

/** Formats that have rules of their own, at every provider. */
const ofFormat: Partial<Record<WireFormat, SchemaRuleName>> = { gemini: 'gemini-json', ollama: 'ollama' };

/** The rules for the schemas of tools. */
export function rulesFor(format: WireFormat, name: SchemaRuleName): SchemaRules {
  return schemaRules[ofFormat[format] ?? name];
}

/**
 * Where answers are held to other rules than tools: nothing brings an answer back, so that no value may be sent as a
 * text; Ollama makes a grammar of the schema as it is.
 */
const ofOutput: Partial<Record<SchemaRuleName, SchemaRuleName>> = {
  'gemini-openapi': 'gemini-json',
  'gemini-chat': 'gemini-json',
  ollama: 'llama-cpp',
};

/**
 * The rules for the schema of an answer. What its root may be is the client's choice; and the messages format has
 * rules of its own (`structured-output.ts`).
 */
export function outputRulesFor(format: WireFormat, name: SchemaRuleName): SchemaRules {
  const own = ofFormat[format] ?? name;
  if (format === 'anthropic-messages' || own === 'full') return full;
  return { ...schemaRules[ofOutput[own] ?? own], root: 'any' };
}
