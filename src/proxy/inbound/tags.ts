import type { Principal } from '../../access/authenticate.ts';
import type { Config, HeaderTags, TagRule } from '../../config.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import { GatewayError } from '../../lib/error.ts';
import { MOST_TAGS, mergedTags, partsOf, splitTags, tagFault } from '../../lib/tags.ts';

/** Where a client names what its request is for: `x-gateway-tags: app=review,batch`. */
const tagsHeader = 'x-gateway-tags';
const MOST_CHARACTERS = 2_000;

/** What the tags of a request are made of. */
export interface TaggedRequest {
  exchange: Pick<AnyExchange, 'path' | 'request'>;
  principal: Principal;
  /** The model as the client named it. */
  requestedModel: string;
}

/**
 * The tags of a request: those of its key, then those of the rules of `config.json`, then those of its header. What one
 * of them says of a name hides what a later one says of it.
 * @throws GatewayError `invalid_request` for a header that is no list of tags, or that names a tag which only the key or a
 *   rule may set
 */
export function requestTags(
  { headerTags, tagRules }: Pick<Config, 'headerTags' | 'tagRules'>,
  tagged: TaggedRequest,
): readonly string[] {
  const { exchange, principal } = tagged;
  const header = exchange.request.headers[tagsHeader];
  const { tags = none } = principal;
  if (header === undefined && tagRules.length === 0) return tags;
  const trusted = mergedTags(tags, ruledTags(tagRules, tagged));
  if (header === undefined) return trusted;
  const merged = mergedTags(trusted, tagsIn(String(header)));
  refuseReserved(merged.slice(trusted.length), headerTags, principal.name);
  return merged;
}

/** Names that decide whose budget a request counts in. */
const reservedNames: readonly string[] = ['owner', 'team'];

/**
 * A header is the client's own claim, so it may not put a request into a budget that is not its key's.
 * @throws GatewayError `invalid_request`
 */
function refuseReserved(
  fromHeader: readonly string[],
  { names, trustedKeys }: HeaderTags,
  key: string,
): void {
  if (trustedKeys.some((pattern) => fits(pattern, key))) return;
  const allowed = (name: string) =>
    names === null ? !reservedNames.includes(name) : names.some((pattern) => fits(pattern, name));
  const name = fromHeader.map((tag) => partsOf(tag).name).find((one) => !allowed(one));
  if (name === undefined) return;
  const message = `${tagsHeader} names the tag "${name}", which this key may not set. Leave it out, set it on the key (\`gateway keys edit\`), or allow it with header_tags in config.json`;
  throw new GatewayError('invalid_request', message, { param: tagsHeader });
}

const none: readonly string[] = [];

/** @throws GatewayError `invalid_request` */
function tagsIn(header: string): string[] {
  const tags = splitTags(header);
  const names = new Set(tags.map((tag) => partsOf(tag).name));
  const fault =
    header.length > MOST_CHARACTERS
      ? `it has more than ${MOST_CHARACTERS} characters`
      : tags.length > MOST_TAGS
        ? `it names ${tags.length} tags, and may name ${MOST_TAGS}`
        : (tags.map(faultOf).find((one) => one !== null) ??
          (names.size < tags.length ? 'it names one tag twice' : null));
  if (fault === null) return tags;
  const message = `${tagsHeader} cannot be read: ${fault}. Send names or name=value with commas between, e.g. app=review,batch`;
  throw new GatewayError('invalid_request', message, { param: tagsHeader });
}

function faultOf(tag: string): string | null {
  const fault = /[^\x20-\x7e]/.test(tag) ? 'a tag in a header has ASCII characters only' : tagFault(tag);
  return fault === null ? null : `${fault} ("${tag.replace(/[^\x20-\x7e]/g, '?').slice(0, 80)}")`;
}

function ruledTags(rules: readonly TagRule[], tagged: TaggedRequest): string[] {
  return rules.filter((rule) => applies(rule, tagged)).flatMap(({ tags }) => tags);
}

/** Whether everything holds that a rule asks for. */
function applies({ when }: TagRule, { exchange, principal, requestedModel }: TaggedRequest): boolean {
  const { client, key, model, path } = when;
  return (
    fits(client, exchange.request.headers['user-agent'] ?? '') &&
    fits(key, principal.name) &&
    fits(model, requestedModel) &&
    fits(path, exchange.path)
  );
}

/** Whether a text fits a pattern, in which `*` stands for any text, whatever the case; no pattern fits everything. */
function fits(pattern: string | undefined, text: string): boolean {
  if (pattern === undefined) return true;
  const [first = '', ...rest] = pattern.toLowerCase().split('*');
  const last = rest.pop();
  const folded = text.slice(0, MOST_CHARACTERS).toLowerCase();
  if (last === undefined) return folded === first;
  if (!folded.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const next = folded.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return folded.length - last.length >= at && folded.endsWith(last);
}
