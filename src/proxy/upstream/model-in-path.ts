import type { AnyExchange } from '../../http/exchange.ts';
import type { ModelInPath } from '../../providers/provider.ts';
import type { Call } from '../dispatch/call.ts';
import { withFields } from '../json/with-fields.ts';
import { joined } from '../metering/meter.ts';
import { streamFlag } from '../inbound/wants-stream.ts';

/** A request whose model stands in its path although its format has it in the body. */
export interface InPath {
  /** Behind the path of the format. */
  end: string;
  body: readonly Buffer[];
  /** What the caller asked for in its headers and this provider does not know. */
  dropped: string[];
}

/**
 * @param sent the body as it is sent otherwise
 * @throws GatewayError `invalid_json`
 */
export function modelInPath(call: Call, rule: ModelInPath, sent: readonly Buffer[]): InPath {
  const { target, translated } = call;
  const stream = translated?.stream ?? streamFlag(call);
  const { betas, members, without } = rule;
  const asked = translated === null && betas !== undefined ? betasOf(call.exchange) : [];
  const known = asked.filter((beta) => betas?.known.includes(beta));
  const added = {
    ...members,
    ...(betas === undefined || known.length === 0 ? {} : { [betas.member]: known }),
  };
  return {
    // A name of the provider's own may have slashes and colons (an ARN), which are part of it.
    end: (stream ? rule.stream : rule.whole).replace('{model}', () => encodeURIComponent(target.model)),
    body: withFields(joined(sent), without, added),
    dropped: translated === null ? unknownBetas(call.exchange, rule) : [],
  };
}

/** What the caller asks for in its headers and a provider does not know, as it is named in `x-gateway-dropped`. */
export function unknownBetas(exchange: Pick<AnyExchange, 'request'>, { betas }: ModelInPath): string[] {
  if (betas === undefined) return [];
  return betasOf(exchange)
    .filter((beta) => !betas.known.includes(beta))
    .map((beta) => `anthropic-beta:${beta}`);
}

/** The betas that the caller's header names. */
function betasOf({ request }: Pick<AnyExchange, 'request'>): string[] {
  const header = request.headers['anthropic-beta'];
  const named = String(header ?? '')
    .split(',')
    .map((one) => one.trim());
  return [...new Set(named)].filter((one) => one !== '');
}
