import { GatewayError } from '../../../lib/error.ts';
import { readOnce, type SharedSettings } from '../../adapt/shared-tools.ts';
import { textOf } from '../../json/values.ts';
import { flagAt, listAt, numberAt, textAt, wrong } from '../../json/wire-check.ts';
import { type Conversation, emptyConversation, type OutputShape } from '../../model/conversation.ts';
import type { GeminiRequest, GenerationConfig } from '../wire.ts';
import { camel, messageAt } from '../wire-names.ts';
import { readContents, readInstruction } from './contents-decode.ts';
import { ownFields } from './own-fields.ts';
import { readThinking } from './thinking.ts';
import { readChoice, readTools, schemaIn } from './tools-decode.ts';

const CONFIG = 'generationConfig';

/**
 * A generateContent request (Gemini API reference, "GenerateContentRequest") as a conversation. The fields `model` and
 * `stream` hold what the path contains.
 */
export function decodeRequest(request: GeminiRequest, shared: SharedSettings | null = null): Conversation {
  const body: GeminiRequest = camel(request);
  const messages = readContents(body);
  return { ...readOnce(shared, () => readSettings(body)), messages };
}

function readSettings(body: GeminiRequest): Conversation {
  const config: GenerationConfig = messageAt(body, CONFIG, CONFIG) ?? {};
  refuseForeign(body, config);
  const fields = ownFields(body);
  const number = (name: keyof GenerationConfig) => numberAt(config, name, `${CONFIG}.${name}`);
  return {
    ...emptyConversation(textOf(body.model)),
    system: readInstruction(body.systemInstruction),
    tools: readTools(body),
    toolChoice: readChoice(messageAt(body, 'toolConfig', 'toolConfig')),
    maxOutputTokens: number('maxOutputTokens'),
    temperature: number('temperature'),
    topP: number('topP'),
    topK: number('topK'),
    stop: textsAt(config, 'stopSequences'),
    seed: number('seed'),
    frequencyPenalty: number('frequencyPenalty'),
    presencePenalty: number('presencePenalty'),
    candidates: number('candidateCount'),
    logprobs: logprobsOf(config, number('logprobs')),
    reasoning: readThinking(messageAt(config, 'thinkingConfig', `${CONFIG}.thinkingConfig`)),
    output: readOutput(config),
    serviceTier: readTier(textAt(body, 'serviceTier')),
    stream: flagAt(body, 'stream') ?? false,
    includeUsage: true,
    extras: fields === null ? null : { format: 'gemini', fields },
  };
}

function textsAt(config: GenerationConfig, name: keyof GenerationConfig): string[] {
  const path = `${CONFIG}.${name}`;
  return listAt(config, name, path).map((text, index) => {
    if (typeof text !== 'string') throw wrong(`${path}[${index}]`, 'a string');
    return text;
  });
}

function logprobsOf(config: GenerationConfig, alternatives: number | null): number | null {
  const enabled = flagAt(config, 'responseLogprobs', `${CONFIG}.responseLogprobs`);
  return enabled === true ? (alternatives ?? 0) : null;
}

const JSON_TYPE = 'application/json';
const mimeTypes: ReadonlySet<string> = new Set(['', 'text/plain', JSON_TYPE]);

/**
 * What decides what the answer is, and what only Google has: sounds and pictures, values of a list without quotes
 * (`text/x.enum`), and a beginning of the conversation that is kept there.
 */
function refuseForeign(body: GeminiRequest, config: GenerationConfig): void {
  const modalities = textsAt(config, 'responseModalities');
  if (modalities.some((one) => !/^(MODALITY_UNSPECIFIED|TEXT)$/i.test(one)))
    throw refusal(`${CONFIG}.responseModalities`, 'Answers other than text');
  const mimeType = textAt(config, 'responseMimeType', `${CONFIG}.responseMimeType`) ?? '';
  if (!mimeTypes.has(mimeType))
    throw refusal(`${CONFIG}.responseMimeType`, `Answers of the type ${mimeType}`);
  if ((textAt(body, 'cachedContent') ?? '') !== '') throw refusal('cachedContent', "Google's cached content");
}

function refusal(param: string, what: string): GatewayError {
  return new GatewayError(
    'not_translatable',
    `${what} is not available from the provider of this model: leave "${param}" out, or choose a model of Google`,
    { param },
  );
}

function readOutput(config: GenerationConfig): OutputShape {
  // The vendor's first SDKs for JSON Schema wrote the field with an underscore before it.
  const normalized: GenerationConfig = {
    ...config,
    responseJsonSchema: config.responseJsonSchema ?? config._responseJsonSchema,
  };
  const schema = schemaIn(normalized, 'responseSchema', 'responseJsonSchema', CONFIG);
  if (schema !== null) return { kind: 'schema', name: null, description: null, schema, strict: null };
  return { kind: config.responseMimeType === JSON_TYPE ? 'json' : 'text' };
}

/** The vendor's tiers under the names that other vendors use. */
function readTier(tier: string | null): string | null {
  const word = tier?.toLowerCase() ?? '';
  if (word === '' || word.endsWith('unspecified')) return null;
  return word === 'standard' ? 'default' : word;
}
