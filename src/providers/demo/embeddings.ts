import { invalid, type JsonObject } from './json.ts';
import type { Context, FormatAnswer } from './question.ts';
import { tokensOfText } from './tokens.ts';

const DEFAULT_DIMENSIONS = 256;
const MOST_DIMENSIONS = 3072;
const MOST_INPUTS = 2048;
/** The limits of the API that this one stands in for. */
const MOST_TOKENS_EACH = 8192;
const MOST_TOKENS = 300_000;

/**
 * OpenAI embeddings (API reference, "Create embeddings"). The vectors are unit vectors made from the words and
 * letter triples of the input, so that equal inputs are equal and alike inputs are near.
 */
export function answerEmbeddings(body: JsonObject, context: Context): FormatAnswer {
  const dimensions = readDimensions(body['dimensions']);
  const encoding = body['encoding_format'] ?? 'float';
  if (encoding !== 'float' && encoding !== 'base64') {
    throw invalid('encoding_format must be "float" or "base64"', 'encoding_format');
  }
  if (context.inputTokens > MOST_TOKENS)
    throw invalid(`the inputs may have ${MOST_TOKENS} tokens together`, 'input');
  const data = readInputs(body['input']).map((features, index) => {
    const vector = vectorOf(features, dimensions);
    const embedding = encoding === 'base64' ? base64Of(vector) : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const usage = { prompt_tokens: context.inputTokens, total_tokens: context.inputTokens };
  return { kind: 'json', body: { object: 'list', data, model: context.model, usage } };
}

function readDimensions(value: unknown): number {
  if (value === undefined || value === null) return DEFAULT_DIMENSIONS;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_DIMENSIONS)
    return value;
  throw invalid(`dimensions must be a whole number from 1 to ${MOST_DIMENSIONS}`, 'dimensions');
}

/** The features of each input: a string, several, or token numbers in one list or several. */
function readInputs(input: unknown): string[][] {
  if (typeof input === 'string') return [readInput(input, 'input')];
  if (!Array.isArray(input) || input.length === 0) {
    throw invalid('input must be a non-empty string or a non-empty array', 'input');
  }
  if (input.every((item) => typeof item === 'number')) return [readInput(input, 'input')];
  if (input.length > MOST_INPUTS) throw invalid(`input may have ${MOST_INPUTS} members`, 'input');
  return input.map((item, index) => readInput(item, `input[${index}]`));
}

function readInput(input: unknown, field: string): string[] {
  if (typeof input === 'string' && input !== '') {
    refuseLong(tokensOfText(input), field);
    return featuresOf(input);
  }
  const isTokens =
    Array.isArray(input) && input.length > 0 && input.every((item) => typeof item === 'number');
  if (!isTokens) throw invalid(`${field} must be a non-empty string or an array of numbers`, 'input');
  refuseLong(input.length, field);
  return input.map(String);
}

function refuseLong(tokens: number, field: string): void {
  if (tokens <= MOST_TOKENS_EACH) return;
  throw invalid(`${field} has ${tokens} tokens and may have ${MOST_TOKENS_EACH}`, 'input');
}

function featuresOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const features: string[] = [`=${text}`];
  for (const word of words) {
    features.push(word, word);
    const marked = `<${word}>`;
    for (let start = 0; start + 3 <= marked.length; start += 1) features.push(marked.slice(start, start + 3));
  }
  return features;
}

/** Feature hashing with two signed positions for each feature, scaled to length 1 in 32-bit floats. */
function vectorOf(features: readonly string[], dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions);
  for (const feature of features) {
    const hash = hashOf(feature);
    add(sums, hash % dimensions, hash & 0x40000000 ? 1 : -1);
    const second = Math.imul(hash ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
    add(sums, second % dimensions, second & 0x40000000 ? 0.5 : -0.5);
  }
  let length = Math.hypot(...sums);
  if (length === 0) {
    // The features cancelled each other out.
    sums[0] = 1;
    length = 1;
  }
  return Float32Array.from(sums, (sum) => sum / length);
}

function add(sums: Float64Array, index: number, value: number): void {
  sums[index] = (sums[index] ?? 0) + value;
}

/** FNV-1a over UTF-16 code units, finished so that every bit depends on every unit. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Little-endian 32-bit floats, whatever this machine's own order. */
function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4);
  });
  return bytes.toString('base64');
}
