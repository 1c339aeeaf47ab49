import { unsealed } from '../../codecs/encrypted-reasoning/strip.ts';
import { withNoReasoning } from '../../codecs/history/openai-chat.ts';
import { dialectOf } from '../../codecs/model/dialect.ts';
import type { GatewayError } from '../../lib/error.ts';
import type { Call } from '../dispatch/call.ts';
import { findModel } from '../json/splice.ts';
import { joined } from '../metering/meter.ts';

/**
 * Takes what is sealed (reasoning, found pages) out of the call's request, when `error` says that the upstream does not take it back.
 * Or puts in a word for
 * reasoning that is wanted there. False when the error is another one or there is nothing to do; the request is then as it was.
 */
export function leaveOutSeals(call: Call, error: GatewayError): boolean {
  if (error.status !== 400 && error.status !== 422) return false;
  const { target, translated } = call;
  const sent = translated?.body ?? joined(call.body);
  const without = unsealed(target, sent, error.message);
  const body = without?.request ?? withReasoning(call, sent, error.message);
  if (body === null) return false;
  if (without !== null) call.dropped = [...call.dropped, without.name];
  if (translated !== null) {
    call.translated = { ...translated, body };
    return true;
  }
  call.body = [body];
  const found = findModel(body);
  if (found.ok) call.span = { start: found.start, end: found.end };
  return true;
}

/** What servers say that want the reasoning before each call back. */
const wanted = /reasoning_content.{0,60}(must be passed|is missing)|missing.{0,10}reasoning_content/i;

/** The request with a word for reasoning that another model did not have; null where that is not what `message` asks for. */
function withReasoning({ target }: Call, request: Buffer, message: string): Buffer | null {
  const { noReasoning, reasoningField } = dialectOf(target.provider.dialect);
  if (target.format !== 'openai-chat' || !wanted.test(message)) return null;
  const filled = withNoReasoning(request, reasoningField ?? 'reasoning_content', noReasoning ?? '');
  return filled === request ? null : filled;
}
