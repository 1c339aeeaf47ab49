import { estimateTokenCount } from 'tokenx';
import type { Conversation, Part, Tool } from '../model/conversation.ts';

/** The tokens of a message or a tool beside its text: roles, field names, brackets. */
const PER_MESSAGE = 4;
const PER_TOOL = 8;
/** A picture of a usual size (Anthropic's guide to vision: width × height / 750, about 1,600 at most). */
const PER_IMAGE = 1_500;
/** Anthropic's guide to PDFs: 1,500 to 3,000 tokens of text a page; a page of text has about 50 kB. */
const PDF_BYTES_PER_TOKEN = 25;
/** 32 tokens a second (Gemini's guide to audio), at 16 kB a second (128 kbit/s). */
const AUDIO_BYTES_PER_TOKEN = 500;

/** About how many tokens a conversation is. Within some 10 % of OpenAI's own count for prose and code. */
export function conversationTokens({ messages, output, system, tools }: Conversation): number {
  let tokens = PER_MESSAGE;
  for (const part of system) tokens += partTokens(part);
  for (const tool of tools) tokens += PER_TOOL + textTokens(describe(tool));
  for (const { parts } of messages) {
    tokens += PER_MESSAGE;
    for (const part of parts) tokens += partTokens(part);
  }
  if (output.kind === 'schema') tokens += textTokens(JSON.stringify(output.schema));
  return tokens;
}

function describe(tool: Tool): string {
  switch (tool.kind) {
    case 'function':
      return `${tool.name} ${tool.description ?? ''} ${JSON.stringify(tool.schema ?? {})}`;
    case 'custom':
      return `${tool.name} ${tool.description ?? ''} ${tool.grammar?.definition ?? ''}`;
    case 'web-search':
      return JSON.stringify(tool.native.value);
    case 'native':
      return JSON.stringify(tool.value);
  }
}

function partTokens(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
    case 'search':
      return textTokens(part.text);
    case 'image':
      return PER_IMAGE;
    case 'file':
      if (part.source.kind === 'text') return textTokens(part.source.text);
      return part.source.kind === 'data' ? bytesIn(part.source.base64) / PDF_BYTES_PER_TOKEN : PER_IMAGE;
    case 'audio':
      return bytesIn(part.base64) / AUDIO_BYTES_PER_TOKEN;
    case 'tool-call':
      return PER_MESSAGE + textTokens(`${part.name} ${part.input}`);
    case 'tool-result':
      return part.parts.reduce((sum, inner) => sum + partTokens(inner), PER_MESSAGE);
    case 'native':
      return textTokens(part.text ?? JSON.stringify(part.value));
  }
}

function bytesIn(base64: string): number {
  return base64.length * 0.75;
}

/** Runs of more than this have no word ends, e.g. data in base64; they are counted by their length. */
const LONG_TEXT = 2_000_000;
const CHARACTERS_PER_TOKEN = 4;

function textTokens(text: string): number {
  return text.length > LONG_TEXT ? Math.ceil(text.length / CHARACTERS_PER_TOKEN) : estimateTokenCount(text);
}
