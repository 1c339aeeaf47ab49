import { isUtf8 } from 'node:buffer';
import { OPEN_LIST, OPEN_OBJECT } from '../../codecs/json/bytes.ts';
import { JsonCursor } from '../../codecs/json/cursor.ts';
import { fieldsOf } from '../../codecs/json/fields.ts';
import { GatewayError } from '../../lib/error.ts';
import { joined } from './joined.ts';

/**
 * Fields beside `model` by which an upstream may run another model, in lower case; beside these, all that speak of
 * fall-backs. `models`, `route`, `preset` and `plugins`: OpenRouter (openrouter.ai/docs/guides/routing,
 * …/features/presets). `provideroptions`: Vercel's AI gateway, whose `gateway.models` are fall-backs. The others: LiteLLM,
 * whose `user_config` is a whole list of models and which lays `extra_body` over the body
 * (docs.litellm.ai/docs/proxy/clientside_auth).
 */
const choosingFields: ReadonlySet<string> = new Set([
  'models',
  'route',
  'preset',
  'plugins',
  'provideroptions',
  'model_list',
  'litellm_params',
  'user_config',
  'router_settings_override',
  'extra_body',
]);

/**
 * `fallbacks`: Anthropic's server-side fallback, LiteLLM, AssemblyAI; `context_window_fallbacks` and
 * `content_policy_fallbacks`: LiteLLM.
 */
const FALLBACK = 'fallback';

/** Longer than any field that is looked for, and short enough to be compared. */
const LONGEST_FIELD = 100;
/** Requests have a few dozen. */
const MAX_FIELDS = 1_000;
const MAX_ELEMENTS = 10_000;

const MODEL_WORD = Buffer.from('model');
const ESCAPE = Buffer.from('\\u');

export interface ModelCheckInput {
  body: readonly Buffer[];
  /** The model that the path names; null where the body names it. */
  inPath: string | null;
  /** Whose request it is, for the message. */
  keyName: string;
}

/**
 * Refuses a request that could make its upstream run another model than the one that was judged: for keys that may use
 * some models only, and for requests that a budget in USD is charged for. Names of fields are compared without regard to
 * case, as servers written in Go do (encoding/json).
 * @throws GatewayError `invalid_json`, `duplicate_field`, `ambiguous_model`
 */
export function refuseOtherModels({ body, inPath, keyName }: ModelCheckInput): void {
  const whole = joined(body);
  // A parser that reads other text than this one might find other fields.
  if (!isUtf8(whole) || whole.includes(0))
    throw new GatewayError('invalid_json', 'The request body is not a valid JSON object');
  let named = false;
  let fields = 0;
  for (const { end, name, value } of fieldsOf(whole)) {
    fields += 1;
    if (fields > MAX_FIELDS) throw tooMany();
    const folded = foldedField(name);
    if (folded === 'model') {
      if (name !== 'model') throw ambiguous(name, keyName);
      if (named) throw duplicate();
      named = true;
      if (inPath !== null && !sameModel(whole.toString('utf8', value, end), inPath))
        throw ambiguous(name, keyName);
    } else if (isChoosing(folded) && !isEmpty(whole.toString('utf8', value, end)))
      throw ambiguous(name, keyName);
    else refuseNestedModels(folded, whole.subarray(value, end), keyName);
  }
}

/**
 * A field's name as servers compare it that are lax about names: regardless of case and blanks, up to a NUL, compatibility
 * characters included.
 */
export function foldedField(name: string): string {
  if (name.length > LONGEST_FIELD) return name;
  const [folded = ''] = name.normalize('NFKC').toLowerCase().split('\0', 1);
  return folded.trim();
}

/** Whether a field of this folded name may have another model run. */
export function isChoosing(folded: string): boolean {
  return choosingFields.has(folded) || (folded.length <= LONGEST_FIELD && folded.includes(FALLBACK));
}

function refuseNestedModels(folded: string, value: Buffer, keyName: string): void {
  switch (folded) {
    case 'tools':
      refuseToolModels(value, keyName);
      return;
    case 'generationconfig':
    case 'generation_config':
      refuseManualRouting(value, keyName);
      return;
  }
}

/** Vertex AI runs the model that `generationConfig.routingConfig` names, not that of the path. */
function refuseManualRouting(config: Buffer, keyName: string): void {
  for (const { name, text } of fieldsIn(config))
    if (foldedField(name).replace('_', '') === 'routingconfig' && !isEmpty(text.toString('utf8')))
      throw ambiguous(`generationConfig.${name}`, keyName);
}

/**
 * Tools that run a model of their own: Anthropic's and OpenRouter's advisors and OpenAI's image generation name it as
 * `model`, directly or below `parameters`, where a JSON Schema never has it.
 */
function refuseToolModels(tools: Buffer, keyName: string): void {
  if (!tools.includes(MODEL_WORD) && !tools.includes(ESCAPE)) return;
  let index = 0;
  for (const tool of toolsIn(tools)) {
    for (const { name, text } of fieldsIn(tool)) {
      const folded = foldedField(name);
      if (folded === 'model' && isText(text)) throw ambiguous(`tools[${index}].model`, keyName);
      if (folded !== 'parameters') continue;
      for (const inner of fieldsIn(text))
        if (foldedField(inner.name) === 'model' && isText(inner.text))
          throw ambiguous(`tools[${index}].parameters.model`, keyName);
    }
    index += 1;
  }
}

const QUOTED = '"'.charCodeAt(0);

function isText(literal: Buffer): boolean {
  return literal[0] === QUOTED;
}

/** The fields of a JSON object with their literals; none of what is no object. @throws GatewayError for too many */
function* fieldsIn(object: Buffer): Generator<{ name: string; text: Buffer }> {
  if (object[0] !== OPEN_OBJECT) return;
  let count = 0;
  for (const { end, name, value } of fieldsOf(object)) {
    count += 1;
    if (count > MAX_FIELDS) throw tooMany();
    yield { name, text: object.subarray(value, end) };
  }
}

/** The tools in a JSON array that was scanned before; none of what is no array. @throws GatewayError for too many */
function* toolsIn(array: Buffer): Generator<Buffer> {
  if (array[0] !== OPEN_LIST) return;
  const cursor = new JsonCursor(array, 0);
  for (let count = 0; cursor.next() && cursor.end() !== -1; count += 1) {
    if (count === MAX_ELEMENTS) throw tooMany();
    yield array.subarray(cursor.start, cursor.end());
  }
}

function tooMany(): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The request body has more than ${MAX_FIELDS} fields in an object, or more than ${MAX_ELEMENTS} tools`,
  );
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new GatewayError('invalid_json', 'The request body is not a valid JSON object');
  }
}

/** Google's clients may write the model of the path in the body too, with or without its `models/`. */
function sameModel(literal: string, inPath: string): boolean {
  const bare = (model: string) => model.replace(/^models\//, '');
  const named: unknown = parse(Buffer.from(literal));
  return typeof named === 'string' && bare(named) === bare(inPath);
}

function isEmpty(literal: string): boolean {
  return (
    /^(?:null|false|0|"")$/.test(literal) ||
    /^\[[ \t\r\n]*\]$/.test(literal) ||
    /^\{[ \t\r\n]*\}$/.test(literal)
  );
}

function duplicate(): GatewayError {
  return new GatewayError('duplicate_field', 'The request body names "model" twice: send it once', {
    param: 'model',
  });
}

function ambiguous(field: string, keyName: string): GatewayError {
  return new GatewayError(
    'ambiguous_model',
    `With "${field.slice(0, 100)}" a provider may run another model than "model" names, and the key "${keyName}" has a list of models or a budget in USD to keep to: leave it out. For fallbacks, ask for a combo`,
    { param: field.slice(0, 100) },
  );
}
