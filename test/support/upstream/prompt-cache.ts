import { createHash } from 'node:crypto';
import { isObject, type JsonObject, listOf } from '../../../src/codecs/json/values.ts';

/** How a vendor's prompt cache works ("Prompt caching" of Anthropic's documentation). */
export interface CacheRules {
  /** Fewest tokens of a prompt that is stored. */
  minimum: number;
  /** In milliseconds since the epoch. */
  now(): number;
}

export interface CachedUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
}

/** What the vendor says to a request: how its input was counted, or why it is refused. */
export type CacheAnswer = { usage: CachedUsage } | { refused: string };

export interface PromptCache {
  ask(request: JsonObject): CacheAnswer;
}

const MAX_MARKS = 4;
const LOOK_BACK = 20;
const TTL_MS = 300_000;
const BYTES_PER_TOKEN = 4;

/** One block of the prompt, with all before it in its hash. */
interface Position {
  hash: string;
  /** Of the prompt up to here. */
  tokens: number;
  marked: boolean;
}

/**
 * A prompt cache that works as Anthropic documents its own, with blocks as the unit: it stores the prompt up to each
 * mark, and from each mark looks back at 20 blocks for what it has stored. Every block counts, although the vendor counts
 * a run of calls or results as one. Tokens are bytes, four each.
 */
export function promptCache({ minimum, now }: CacheRules): PromptCache {
  /** When what is stored ends, by the hash of the prompt. */
  const stored = new Map<string, number>();
  const isStored = ({ hash }: Position) => (stored.get(hash) ?? 0) > now();

  return {
    ask(request) {
      const blocks = blocksOf(request);
      const refused = refusalOf(blocks);
      if (refused !== null) return { refused };
      const positions = positionsOf(blocks);
      const marks = positions.flatMap(({ marked }, index) => (marked ? [index] : []));
      const found = marks.flatMap((mark) => lookBack(positions, mark, isStored));
      const read = Math.max(0, ...found.map(({ tokens }) => tokens));
      const kept = marks.flatMap((mark) => positions[mark] ?? []).filter(({ tokens }) => tokens >= minimum);
      for (const { hash } of [...found, ...kept]) stored.set(hash, now() + TTL_MS);
      const written = Math.max(0, ...kept.map(({ tokens }) => tokens - read));
      const all = positions.at(-1)?.tokens ?? 0;
      return {
        usage: {
          input_tokens: all - read - written,
          cache_creation_input_tokens: written,
          cache_read_input_tokens: read,
        },
      };
    },
  };
}

function lookBack(
  positions: readonly Position[],
  mark: number,
  isStored: (position: Position) => boolean,
): Position[] {
  for (let index = mark; index >= 0 && index > mark - LOOK_BACK; index -= 1) {
    const position = positions[index];
    if (position !== undefined && isStored(position)) return [position];
  }
  return [];
}

interface Block {
  value: JsonObject;
  /** What else tells it from another: the list that it is in, and whose turn. */
  place: string;
}

/** Everything in the order in which the vendor reads it. What it invalidates the messages by stands before them. */
function blocksOf(request: JsonObject): Block[] {
  const { messages, system, thinking, tool_choice, tools } = request;
  const settings = JSON.stringify([tool_choice, thinking]);
  return [
    ...entriesOf(tools).map((value) => ({ value, place: 'tools' })),
    ...entriesOf(system).map((value) => ({ value, place: 'system' })),
    ...entriesOf(messages).flatMap(({ content, role }, index) =>
      entriesOf(content).map((value) => ({ value, place: `${index} ${role} ${settings}` })),
    ),
  ];
}

function entriesOf(list: unknown): JsonObject[] {
  return typeof list === 'string' ? [{ type: 'text', text: list }] : listOf(list).filter(isObject);
}

/** The marks on a block, and on what is in a tool's result. */
function marksOn(value: JsonObject): JsonObject[] {
  const own = isObject(value['cache_control']) ? [value['cache_control']] : [];
  return [...own, ...listOf(value['content']).filter(isObject).flatMap(marksOn)];
}

function refusalOf(blocks: readonly Block[]): string | null {
  let count = 0;
  for (const { value } of blocks) {
    const marks = marksOn(value);
    count += marks.length;
    if (marks.some(({ type }) => type !== 'ephemeral')) return 'cache_control.type: must be ephemeral';
    if (marks.length === 0) continue;
    if (marks.length > 1 || !isObject(value['cache_control']))
      return 'cache_control: set it on the tool_result, not inside it';
    if (String(value['type']).includes('thinking')) return 'cache_control: Extra inputs are not permitted';
    if (value['type'] === 'text' && value['text'] === '')
      return 'cache_control cannot be set for empty text blocks';
  }
  if (count <= MAX_MARKS) return null;
  return `A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${count}.`;
}

function positionsOf(blocks: readonly Block[]): Position[] {
  const hash = createHash('sha256');
  let bytes = 0;
  return blocks.map(({ place, value }) => {
    const text = JSON.stringify(value, (key, inner) => (key === 'cache_control' ? undefined : inner));
    bytes += Buffer.byteLength(text);
    hash.update(`${place}\n${text}\n`);
    return {
      hash: hash.copy().digest('base64'),
      tokens: Math.ceil(bytes / BYTES_PER_TOKEN),
      marked: marksOn(value).length > 0,
    };
  });
}
