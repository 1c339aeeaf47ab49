import { isEmpty } from '../../adapt/joined-texts.ts';
import { type JsonObject, listOf, objectOf } from '../../json/values.ts';
import type { Message, Part, ToolCallPart, ToolResultPart } from '../../model/conversation.ts';
import { NO_SIGNATURE } from '../signature.ts';
import type { Content, ContentPart, GeminiRequest } from '../wire.ts';
import { partsOf, resultOf, resultText } from './content-encode.ts';
import { isThirdGeneration } from './models.ts';

interface Turn {
  role: 'user' | 'model';
  parts: ContentPart[];
}

/** The text of a user turn that the vendor requires and the client did not send. */
const OPENING: ContentPart = { text: 'Go on.' };

/** Whether the contents of an encoded request hold a turn that the client did not write. */
export function addsTurn({ contents }: GeminiRequest): boolean {
  return listOf(contents).some((content) => listOf(objectOf<Content>(content).parts).includes(OPENING));
}

/**
 * Messages as the vendor requires them: neighbours of one role are one turn, the first turn is the user's, and every
 * call is answered in the turn after it, in the order of the calls.
 */
export function contentsOf(messages: readonly Message[], model: string): JsonObject[] {
  const third = isThirdGeneration(model);
  const turns: Turn[] = [];
  for (const { calls, parts, role } of joined(messages)) {
    const wire = role === 'model' ? partsOf(parts) : answering(parts, calls, third);
    if (wire.length > 0) turns.push({ role, parts: wire });
    else if (role === 'user' && turns.length > 0) turns.push({ role, parts: [OPENING] });
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', parts: [OPENING] });
  return (third ? signed(turns) : turns).map((turn) => ({ ...turn }));
}

interface GeminiTurn {
  role: Turn['role'];
  parts: Part[];
  /** The calls of the turn before, which wait for their results. */
  calls: ToolCallPart[];
}

/** Neighbours of one role as one. A turn of calls without results has an empty one after it. */
function joined(messages: readonly Message[]): GeminiTurn[] {
  const result: GeminiTurn[] = [];
  const push = (role: Turn['role'], parts: readonly Part[]) => {
    const last = result.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else result.push({ role, parts: [...parts], calls: last?.role === 'model' ? callsIn(last.parts) : [] });
  };
  for (const { parts, role } of messages) {
    const turnParts = role === 'system' ? remindersOf(parts) : parts;
    // An empty turn of the user is kept: without it the vendor would continue its own turn.
    if (turnParts.some(speaks) || (role === 'user' && isEmpty({ parts })))
      push(role === 'assistant' ? 'model' : 'user', turnParts);
  }
  const last = result.at(-1);
  if (last?.role === 'model' && callsIn(last.parts).length > 0) push('user', []);
  return result;
}

function callsIn(parts: readonly Part[]): ToolCallPart[] {
  return parts.filter((part) => part.type === 'tool-call');
}

/** Whether a part is written to the request at all. */
function speaks(part: Part): boolean {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text !== '';
    case 'reasoning':
      return part.encrypted?.format === 'gemini';
    case 'native':
      return part.format === 'gemini';
    case 'search':
      return false;
    default:
      return true;
  }
}

/** Instructions in the middle of a conversation, as text of the user's turn. */
function remindersOf(parts: readonly Part[]): Part[] {
  return parts.flatMap((part) =>
    part.type === 'text' && part.text.trim() !== ''
      ? [{ type: 'text', text: `<system-reminder>\n${part.text}\n</system-reminder>` }]
      : [],
  );
}

/** A turn of the user: a result for every call, the images of results, then everything else. */
function answering(parts: readonly Part[], calls: readonly ToolCallPart[], third: boolean): ContentPart[] {
  const waiting = new Map<string, ToolResultPart[]>();
  for (const part of parts) {
    if (part.type !== 'tool-result') continue;
    const others = waiting.get(part.callId);
    if (others === undefined) waiting.set(part.callId, [part]);
    else others.push(part);
  }
  const answered = new Set<Part>();
  const wire = calls.map(({ id, name }) => {
    const result = waiting.get(id)?.shift() ?? missing(id);
    answered.add(result);
    return resultOf(result, name, third);
  });
  const rest = parts.flatMap((part) => {
    if (part.type !== 'tool-result') return partsOf([part]);
    return answered.has(part) ? [] : resultText(part);
  });
  return [...wire.map(({ part }) => part), ...wire.flatMap(({ beside }) => beside), ...rest];
}

function missing(callId: string): ToolResultPart {
  const parts: ToolResultPart['parts'] = [{ type: 'text', text: 'No result was given.' }];
  return { type: 'tool-result', callId, parts, isError: true, kind: 'function' };
}

/**
 * The turns with a placeholder where the vendor would refuse them for lack of a signature: on the first call of every
 * answer. Real signatures are left alone, and so are the calls beside the first, which need none ("Thought
 * signatures"). Calls before the user last spoke need none either, but keep theirs: what was sent once stays as it was,
 * so that the vendor finds it in its prompt cache.
 */
function signed(turns: readonly Turn[]): Turn[] {
  return turns.map((turn) => {
    const first = turn.parts.findIndex((part) => 'functionCall' in part);
    const call = turn.parts[first];
    if (turn.role !== 'model' || call === undefined || 'thoughtSignature' in call) return turn;
    const parts = turn.parts.with(first, { ...call, thoughtSignature: NO_SIGNATURE });
    return { ...turn, parts };
  });
}
