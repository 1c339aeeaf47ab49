import { withoutFoundPages, withoutThinking } from '../history/anthropic-messages.ts';
import { withoutSignatures } from '../history/gemini.ts';
import { withoutDetailsAndSeals } from '../history/openai-chat.ts';
import { withoutReasoningAndIds } from '../history/openai-responses.ts';
import type { Stripping } from '../history/stripping.ts';
import type { WireFormat } from '../wire-format.ts';

/**
 * What a vendor says when it does not take sealed reasoning back, and how a request looks without it. Seals are bound
 * to an account, a model family or even the words before them, so a conversation that moved on to another of these
 * would fail for ever (gateways' survey, 4.1).
 */
interface Unsealing {
  refused: RegExp;
  /** What is taken out, as callers are told. */
  name: string;
  /** The request without what is sealed; the same buffer when it holds none. */
  strip(request: Buffer, stripping: Stripping): Buffer;
}

const reasoning = 'reasoning';
const unsealings: Readonly<Partial<Record<WireFormat, readonly Unsealing[]>>> = {
  'anthropic-messages': [
    {
      refused: /signature|thinking.{0,20} block|redacted_thinking|block_binding/i,
      name: reasoning,
      strip: withoutThinking,
    },
    { refused: /encrypted_(content|index)/i, name: 'web_search_tool_result', strip: withoutFoundPages },
  ],
  'openai-responses': [
    {
      // An item of another server is not found by its id.
      refused: /encrypted[ _]content|reasoning.{0,20} item|item with id 'rs_/i,
      name: reasoning,
      strip: withoutReasoningAndIds,
    },
  ],
  'openai-chat': [
    {
      refused:
        /thought[ _]?signature|signature.{0,20}thinking|thinking.{0,20} block|reasoning_details|encrypted/i,
      name: reasoning,
      strip: withoutDetailsAndSeals,
    },
  ],
  gemini: [{ refused: /thought[ _]?signature/i, name: reasoning, strip: withoutSignatures }],
};

/**
 * The request without what its vendor sealed and refused, and the name of that.
 * @param message the vendor's error
 * @returns null when the error is about something else, or the request holds nothing sealed
 * @throws GatewayError `invalid_json`
 */
export function unsealed(
  { format, model }: { format: WireFormat; model: string },
  request: Buffer,
  message: string,
): { request: Buffer; name: string } | null {
  for (const { name, refused, strip } of unsealings[format] ?? []) {
    const without = refused.test(message) ? strip(request, { model, takes: () => true }) : request;
    if (without !== request) return { request: without, name };
  }
  return null;
}
