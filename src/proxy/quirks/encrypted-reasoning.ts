import { stripEncryptedReasoning } from '../../codecs/encrypted-reasoning/strip.ts';
import { withNoReasoning } from '../../codecs/openai-chat/request/history.ts';
import type { Target } from '../../combos/target.ts';
import type { GatewayError } from '../../lib/error.ts';
import { providerDialect } from '../../providers/dialect.ts';
import { joined } from '../json/joined.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';

/**
 * The request without what is encrypted in it (reasoning, found pages), when `error` says that the upstream does not take it
 * back; or with a word for reasoning that is wanted there. Null when the error is another one or there is nothing to do.
 */
export function withoutEncryptedReasoning(
  request: OutgoingRequest,
  error: GatewayError,
): OutgoingRequest | null {
  const { dropped, target } = request;
  const bytes = joined(request.body);
  const stripped = stripEncryptedReasoning(target, bytes, error.message);
  const body = stripped?.request ?? withReasoning(target, bytes, error.message);
  if (body === null) return null;
  return {
    ...request,
    body: [body],
    dropped: stripped === null ? dropped : [...dropped, stripped.name],
    reasoningStripped: true,
  };
}

/** The errors of servers that require the reasoning before each call. */
const missingReasoning =
  /reasoning_content.{0,60}(must be passed|is missing)|missing.{0,10}reasoning_content/i;

/** The request with a word for reasoning that another model did not have; null where that is not what `message` asks for. */
function withReasoning(target: Target, request: Buffer, message: string): Buffer | null {
  const { noReasoning, reasoningField } = providerDialect(target.provider);
  if (target.format !== 'openai-chat' || !missingReasoning.test(message)) return null;
  const withPlaceholder = withNoReasoning(request, reasoningField ?? 'reasoning_content', noReasoning ?? '');
  return withPlaceholder === request ? null : withPlaceholder;
}
