import type { Target } from '../../combos/target.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import type { ModelInPath } from '../../providers/provider.ts';
import { joined } from '../json/joined.ts';
import { withFields } from '../json/with-fields.ts';

/** A request whose model stands in its path although its format has it in the body. */
export interface InPath {
  /** Behind the path of the format. */
  end: string;
  body: readonly Buffer[];
  /** What the client requested in its headers and this provider does not support. */
  dropped: string[];
}

/** A request as it would be sent otherwise. */
export interface InBody {
  exchange: Pick<AnyExchange, 'request'>;
  target: Pick<Target, 'model'>;
  body: readonly Buffer[];
  stream: boolean;
  isTranslated: boolean;
}

/** @throws GatewayError `invalid_json` */
export function modelInPath(
  { body, exchange, isTranslated, stream, target }: InBody,
  rule: ModelInPath,
): InPath {
  const { betas, members, without } = rule;
  const requestedBetas = !isTranslated && betas !== undefined ? betasOf(exchange) : [];
  const supported = requestedBetas.filter((beta) => betas?.supported.includes(beta));
  const added = {
    ...members,
    ...(betas === undefined || supported.length === 0 ? {} : { [betas.member]: supported }),
  };
  return {
    // A name of the provider's own may have slashes and colons (an ARN), which are part of it.
    end: (stream ? rule.stream : rule.whole).replace('{model}', () => encodeURIComponent(target.model)),
    body: withFields(joined(body), without, added),
    dropped: isTranslated ? [] : unknownBetas(exchange, rule),
  };
}

/** What the client requests in its headers and a provider does not support, as named in `x-gateway-dropped`. */
export function unknownBetas(exchange: Pick<AnyExchange, 'request'>, { betas }: ModelInPath): string[] {
  if (betas === undefined) return [];
  return betasOf(exchange)
    .filter((beta) => !betas.supported.includes(beta))
    .map((beta) => `anthropic-beta:${beta}`);
}

/** The betas that the client's header names. */
function betasOf({ request }: Pick<AnyExchange, 'request'>): string[] {
  const header = request.headers['anthropic-beta'];
  const named = String(header ?? '')
    .split(',')
    .map((one) => one.trim());
  return [...new Set(named)].filter((one) => one !== '');
}
