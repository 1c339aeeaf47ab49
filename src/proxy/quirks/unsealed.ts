import { unsealed } from '../../codecs/encrypted-reasoning/strip.ts';
import { withNoReasoning } from '../../codecs/openai-chat/request/history.ts';
import type { Target } from '../../combos/target.ts';
import type { GatewayError } from '../../lib/error.ts';
import { providerDialect } from '../../providers/dialect.ts';
import { joined } from '../json/joined.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';

/**
 * The request without what is sealed in it (reasoning, found pages), when `error` says that the upstream does not take it
 * back; or with a word for reasoning that is wanted there. Null when the error is another one or there is nothing to do.
 */
export function withoutEncryptedReasoning(
  sent: OutgoingRequest,
  error: GatewayError,
): OutgoingRequest | null {
  const { dropped, target } = sent;
  const bytes = joined(sent.body);
  const without = unsealed(target, bytes, error.message);
  const body = without?.request ?? withReasoning(target, bytes, error.message);
  if (body === null) return null;
  return {
    ...sent,
    body: [body],
    dropped: without === null ? dropped : [...dropped, without.name],
    unsealed: true,
  };
}

/** What servers say that want the reasoning before each call back. */
const wanted = /reasoning_content.{0,60}(must be passed|is missing)|missing.{0,10}reasoning_content/i;

/** The request with a word for reasoning that another model did not have; null where that is not what `message` asks for. */
function withReasoning(target: Target, request: Buffer, message: string): Buffer | null {
  const { noReasoning, reasoningField } = providerDialect(target.provider);
  if (target.format !== 'openai-chat' || !wanted.test(message)) return null;
  const filled = withNoReasoning(request, reasoningField ?? 'reasoning_content', noReasoning ?? '');
  return filled === request ? null : filled;
}
