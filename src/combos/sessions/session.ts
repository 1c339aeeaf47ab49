import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { codecOf } from '../../codecs/index.ts';
import {
  CLOSE_OBJECT,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  stringEnd,
  valueStart,
} from '../../codecs/json/bytes.ts';
import { JsonCursor } from '../../codecs/json/cursor.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';

/** Which requests belong together. */
export interface Session {
  /** The same for all of them. */
  key: string;
  /** False for the first request of a conversation that is known by its words alone: others may begin alike. */
  continues: boolean;
}

/** Where tools name their session, as they were observed to (Claude Code, Codex, opencode, Kilo) or are configured to. */
const sessionHeaders = [
  'x-session-id',
  'x-claude-code-session-id',
  'x-session-affinity',
  'session-id',
  'session_id',
  'x-codex-session-id',
  'thread-id',
  'conversation_id',
] as const;

const MAX_NAME = 200;

/** The session as a header of the client names it; null where none does. */
export function sessionNameOf(headers: IncomingHttpHeaders): string | null {
  for (const name of sessionHeaders) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '' && value.length <= MAX_NAME) return value;
  }
  return null;
}

/**
 * The session of a request: as a header names it, else by the key of its prompt cache or Claude Code's `user_id`, else
 * by a hash of how the conversation began. Null when there is neither.
 */
export function sessionOf(
  headers: IncomingHttpHeaders,
  format: WireFormat,
  body: readonly Buffer[],
): Session | null {
  const named = sessionNameOf(headers);
  if (named !== null) return { key: `header:${named}`, continues: true };
  const { cacheKey, user } = namesIn(body);
  if (cacheKey !== null) return { key: `cache:${cacheKey}`, continues: true };
  // Anthropic's field is for any user; Claude Code writes its session into it.
  if (user?.includes('session')) return { key: `user:${user}`, continues: true };
  const first = body[0];
  return first === undefined ? null : beginningOf(first, format);
}

const CACHE_KEY = Buffer.from('"prompt_cache_key"');
const USER_ID = Buffer.from('"user_id"');
/** The last letters of both, as many of each: two words of one length are what an expression finds the fastest. */
const eitherName = /che_key|user_id/g;
/** Claude Code's is a JSON object in a string. */
const MAX_TEXT = 1_000;

/**
 * The literals of the texts of these fields, which may stand anywhere: the last of each, for tools write them behind the
 * turns, and the calls in those may have fields of the same names.
 */
function namesIn(body: readonly Buffer[]): { cacheKey: string | null; user: string | null } {
  let cacheKey: string | null = null;
  let user: string | null = null;
  for (const piece of body) {
    for (const { 0: text, index } of piece.toString('latin1').matchAll(eitherName)) {
      const end = index + text.length + 1;
      if (text === 'user_id') user = memberText(piece, USER_ID, end) ?? user;
      else cacheKey = memberText(piece, CACHE_KEY, end) ?? cacheKey;
    }
  }
  return { cacheKey, user };
}

/** The literal of the text of a field whose key ends at `end`. */
function memberText(piece: Buffer, key: Buffer, end: number): string | null {
  const start = end - key.length;
  if (start < 0 || end > piece.length || piece.compare(key, 0, key.length, start, end) !== 0) return null;
  const open = valueStart(piece, end);
  if (piece[open] !== QUOTE) return null;
  const close = stringEnd(piece, open);
  const isComplete = close !== -1 && close - open <= MAX_TEXT && close - open > 2;
  return isComplete ? piece.toString('utf8', open + 1, close - 1) : null;
}

/** What only a turn of the model has: from there on a conversation has begun. */
const answers = ['"assistant"', '"model"', '"function_call"', '"custom_tool_call"', '"reasoning"'].map(
  (text) => Buffer.from(text),
);

const MAX_TURNS = 8;
const MAX_BYTES = 1_048_576;
/** Of each turn, so that long ones cost no more than short ones. */
const HEAD_BYTES = 1_024;
const TAIL_BYTES = 256;

/** The session that a conversation is by its turns before the first answer. */
function beginningOf(body: Buffer, format: WireFormat): Session | null {
  const turns = codecOf(format).requestFields.turns;
  if (turns === undefined) return null;
  const key = `"${turns}"`;
  const at = body.indexOf(key);
  if (at === -1) return null;
  const open = valueStart(body, at + key.length);
  if (body[open] !== OPEN_LIST) return null;
  const texts: Buffer[] = [];
  let answered = false;
  const limit = open + MAX_BYTES;
  const cursor = new JsonCursor(body.subarray(0, limit), open, null);
  while (texts.length < MAX_TURNS * 2 && cursor.next() && body[cursor.start] === OPEN_OBJECT) {
    const end = cursor.end();
    const turn = body.subarray(cursor.start, end === -1 ? limit : end);
    if (end !== -1 && isAnswer(turn)) {
      answered = true;
      break;
    }
    texts.push(turn.subarray(0, HEAD_BYTES), turn.subarray(Math.max(HEAD_BYTES, turn.length - TAIL_BYTES)));
    // A turn of this length stands alone: the turns after it are not read.
    if (end === -1) break;
  }
  if (texts.length === 0) return null;
  return { key: `words:${hash('sha256', Buffer.concat(texts), 'base64url')}`, continues: answered };
}

/** Whether a turn is the model's, by a word that no other turn has outside of its texts. */
function isAnswer(turn: Buffer): boolean {
  return turn[turn.length - 1] === CLOSE_OBJECT && answers.some((word) => turn.includes(word));
}
