import type { Conversation, Message, ToolChoice } from '../model/conversation.ts';
import type { PartReader, StreamPart } from '../model/stream-part.ts';

/**
 * The conversation with a sentence at its end that names the allowed tools, for a target that has no field for
 * them. All tools are sent: without some of them the beginning would no longer match the vendor's prompt cache.
 */
export function tellingAllowedTools(conversation: Conversation): Conversation {
  const { messages, toolChoice } = conversation;
  // A begun answer must stay the last.
  if (toolChoice?.kind !== 'allowed' || messages.at(-1)?.role === 'assistant') return conversation;
  const names = allowedNames(conversation)
    .map((name) => `"${name}"`)
    .join(', ');
  const text =
    names === ''
      ? 'Call no tool in your next answer.'
      : `In your next answer call no other tools than ${names}.`;
  const reminder: Message = { role: 'system', parts: [{ type: 'text', text }] };
  return { ...conversation, messages: [...messages, reminder] };
}

/** The tools that may be called, by the target's names. */
function allowedNames(conversation: Conversation): string[] {
  const { toolChoice, tools } = conversation;
  const toolNames = new Set(tools.flatMap((tool) => ('name' in tool ? [tool.name] : [])));
  return toolChoice?.kind === 'allowed' ? toolChoice.names.filter((name) => toolNames.has(name)) : [];
}

/** The tool choice, for a target that cannot allow only some tools: the nearest that it supports. */
export function knownChoice(conversation: Conversation): ToolChoice | null {
  const { toolChoice } = conversation;
  if (toolChoice?.kind !== 'allowed') return toolChoice;
  const [only, ...others] = allowedNames(conversation);
  if (only === undefined) return { kind: 'none' };
  if (toolChoice.required && others.length === 0) return { kind: 'tool', name: only };
  return { kind: toolChoice.required ? 'required' : 'auto' };
}

interface HeldBack {
  block: number;
  name: string;
}

/**
 * An answer with calls of allowed tools alone, whether or not the request could name them: in place of any other call the
 * client gets a sentence.
 * @param names the client's names
 */
export function onlyAllowedCalls(reader: PartReader, names: ReadonlySet<string>): PartReader {
  let calls = 0;
  let hasText = false;
  const heldBackCalls = new Map<number, HeldBack>();
  const allowed = (part: StreamPart): StreamPart[] => {
    switch (part.type) {
      case 'tool-call-start': {
        if (names.has(part.name)) {
          calls += 1;
          return [part];
        }
        heldBackCalls.set(part.block, part);
        return [];
      }
      case 'text-delta':
        hasText = true;
        return [part];
      case 'tool-call-delta':
        return heldBackCalls.has(part.block) ? [] : [part];
      case 'tool-call-end': {
        const call = heldBackCalls.get(part.block);
        if (call === undefined) return [part];
        heldBackCalls.delete(part.block);
        return asText(call, hasText);
      }
      case 'message-end':
        // What was called decides, and nothing was.
        return [part.reason === 'tool-calls' && calls === 0 ? { ...part, reason: 'stop' } : part];
      default:
        return [part];
    }
  };
  return {
    push: (frame) => reader.push(frame).flatMap(allowed),
    end: () => reader.end().flatMap(allowed),
  };
}

/** @param hasText whether the model wrote something before, from which the sentence is set off */
function asText({ block, name }: HeldBack, hasText: boolean): StreamPart[] {
  const sentence = `[The model called the tool "${name}", which this request does not allow. The call was left out.]`;
  return [
    { type: 'text-start', block },
    { type: 'text-delta', block, text: hasText ? `\n\n${sentence}` : sentence },
    { type: 'text-end', block },
  ];
}
