import type { ModelInPath } from '../providers/provider.ts';
import type { Call } from './call.ts';
import { withMembers } from './members.ts';
import { joined } from './meter.ts';
import { streamFlag } from './wants-stream.ts';

/** A request whose model stands in its path although its format has it in the body. */
export interface InPath {
  /** Behind the path of the format. */
  end: string;
  body: readonly Buffer[];
  /** What the caller asked for in its headers and this provider does not know. */
  dropped: string[];
}

/** @throws GatewayError `invalid_json` */
export function modelInPath(call: Call, rule: ModelInPath): InPath {
  const { target, translated } = call;
  const stream = translated?.stream ?? streamFlag(call);
  const { betas, members, without } = rule;
  const asked = translated === null && betas !== undefined ? betasOf(call) : [];
  const known = asked.filter((beta) => betas?.known.includes(beta));
  const added = {
    ...members,
    ...(betas === undefined || known.length === 0 ? {} : { [betas.member]: known }),
  };
  const body = translated === null ? joined(call.body) : translated.body;
  return {
    // A name of the provider's own may have slashes and colons (an ARN), which are part of it.
    end: (stream ? rule.stream : rule.whole).replace('{model}', () => encodeURIComponent(target.model)),
    body: withMembers(body, without, added),
    dropped: asked.filter((beta) => !known.includes(beta)).map((beta) => `anthropic-beta:${beta}`),
  };
}

/** The betas that the caller's header names. */
function betasOf({ exchange }: Call): string[] {
  const header = exchange.request.headers['anthropic-beta'];
  const named = String(header ?? '')
    .split(',')
    .map((one) => one.trim());
  return [...new Set(named)].filter((one) => one !== '');
}
