import { vendorMessage } from '../../codecs/failures/vendor-message.ts';
import { parseObject } from '../../codecs/json/values.ts';
import { transportFault } from '../../http/outbound/transport-fault.ts';
import type { Provider } from '../../providers/provider.ts';

export interface UpstreamAnswer {
  provider: Provider;
  url: string;
  statusCode: number;
  /** Its content type. */
  type: string;
  /** Its body, without the credential. */
  errorText: string;
}

/** What an answer that is no success means, and what to do about it. */
export function describeAnswer({ provider, errorText, statusCode, type, url }: UpstreamAnswer): string {
  const where = new URL(url).host;
  if (type.includes('html'))
    return `${where} answered ${statusCode} with a web page, not an API: check the base URL`;
  const detail = sentenceIn(errorText);
  switch (statusCode) {
    case 200:
      return `${where} answered, but not with a list of models: check the base URL`;
    case 401:
      return `${provider.name} does not accept the API key (401${detail}): make a new one at ${provider.website} and add it again`;
    case 403:
      return `${provider.name} forbids it (403${detail}): the key may lack a permission, or its account is not active`;
    case 404:
      return `${url} does not exist there (404): check the base URL`;
    case 402:
      return `${provider.name} requires payment first (402${detail})`;
    case 429:
      return `${provider.name} limits this account just now (429${detail}): try again later`;
    default:
      return `${where} answered ${statusCode}${detail}`;
  }
}

/**
 * What a failure to reach a server means, and what to do about it.
 * @param setting what its address was given as
 */
export function describeFailure(
  error: Error,
  url: string,
  timeoutMs: number,
  setting: 'base URL' | 'issuer' = 'base URL',
): string {
  const where = new URL(url).host;
  switch (transportFault(error).fault) {
    case 'name-unknown':
    case 'name-unresolved':
      return `the name ${new URL(url).hostname} cannot be resolved: check the ${setting} and the network`;
    case 'address-refused':
      return `nothing is sent to ${where}: ${error.message}`;
    case 'refused':
      return `nothing listens at ${where}: start the server there, or check the ${setting}`;
    case 'timeout':
    case 'no-answer':
    case 'connect-timeout':
      return `${where} did not answer within ${timeoutMs / 1000} s`;
    case 'closed':
      return `${where} closed the connection without an answer: is it http where it should be https, or the reverse?`;
    default:
      return `${where} cannot be used: ${error.message}`;
  }
}

/** The upstream's own sentence, bounded, as an addition to ours. */
function sentenceIn(body: string): string {
  const sentence = vendorMessage(parseObject(body));
  return sentence === '' ? '' : `: ${sentence.slice(0, MAX_SENTENCE)}`;
}

/** Characters. */
const MAX_SENTENCE = 200;
