import type { WireFormat } from '../../src/codecs/wire-format.ts';
import type { DirectoryEntry } from '../../src/providers/directory.ts';
import type { CheckedOut } from './checkout.ts';
import { type Correction, corrections, leftOut, withOwnFile } from './corrections.ts';

/** The end of an address in each format that the data set's clients speak. */
const ends = {
  '@ai-sdk/openai-compatible': ['openai-chat', '/chat/completions'],
  '@ai-sdk/openai': ['openai-responses', '/responses'],
  '@ai-sdk/anthropic': ['anthropic-messages', '/messages'],
} as const satisfies Record<string, readonly [WireFormat, string]>;

/** The providers of the data set that have no file of their own, in the order of their ids. @throws Error for one without an address */
export function directoryOf(providers: Readonly<Record<string, CheckedOut>>): DirectoryEntry[] {
  return Object.values(providers)
    .filter(({ id }) => withOwnFile[id] === undefined && leftOut[id] === undefined)
    .map((provider) => entryOf(provider, corrections[provider.id] ?? {}))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

function entryOf(provider: CheckedOut, correction: Correction): DirectoryEntry {
  const { doc, env, name } = provider;
  const { keyVariables, more: _, root, urls: __, ...rest } = correction;
  const id = provider.id.replaceAll('.', '-');
  const documentation = doc.replace(/\?utm_.*$/, '').replace(/\/+$/, '');
  const entry: DirectoryEntry = {
    id,
    name: name.trim(),
    website: documentation,
    documentation,
    // What a plan has costs nothing more than the plan.
    ...(/-(coding|token)-plan(-|$)/.test(id) && { zeroIsFree: true as const }),
    ...rest,
    keyVariables: keyVariables ?? env.filter((variable) => /^[A-Z]/.test(variable)).slice(0, 1),
    ...(id !== provider.id && { modelsDev: provider.id }),
  };
  if (root !== undefined) return { ...entry, baseUrl: root };
  const addresses = addressesOf(provider, correction);
  return { ...entry, ...split(addresses), ...modelsPathOf(addresses, correction) };
}

function addressesOf(
  { api, id, npm }: CheckedOut,
  { more, urls }: Correction,
): Partial<Record<WireFormat, string>> {
  if (urls !== undefined) return urls;
  const end = ends[npm as keyof typeof ends];
  if (api === undefined || end === undefined)
    throw new Error(`${id}: the data set names no address; say it in corrections.ts, or leave it out there`);
  const [format, path] = end;
  return { [format]: `${api.replace(/\/+$/, '')}${path}`, ...more };
}

const versionSegment = /^v\d[a-z0-9]*$/;

/**
 * What all addresses begin with as the base, without the version with which paths begin, and the rest as paths.
 * @throws Error where they are not on one host
 */
function split(
  addresses: Partial<Record<WireFormat, string>>,
): Pick<DirectoryEntry, 'baseUrl' | 'baseUrlOf' | 'formats'> {
  const urls = Object.values(addresses).map((url) => url.split('/'));
  const [first = []] = urls;
  let shared = 0;
  while (shared < first.length - 1 && urls.every((url) => url[shared] === first[shared])) shared++;
  if (shared < 3) throw new Error(`not on one host: ${Object.values(addresses).join(', ')}`);
  const short = urls.some((url) => url.length - shared < 2) ? shared - 1 : shared;
  const end = versionSegment.test(first[short - 1] ?? '') ? short - 1 : short;
  const base = first.slice(0, end).join('/');
  const formats = Object.fromEntries(
    Object.entries(addresses).map(([format, url]) => [format, url.slice(base.length)]),
  );
  return { ...(base.includes('{') ? { baseUrlOf: base } : { baseUrl: base }), formats };
}

/** Servers of the chat format list their models beside it, and so do OpenAI's own formats. */
function modelsPathOf(
  addresses: Partial<Record<WireFormat, string>>,
  { modelsPath }: Correction,
): Pick<DirectoryEntry, 'modelsPath'> {
  if (modelsPath !== undefined) return { modelsPath };
  const { formats = {} } = split(addresses);
  const path =
    formats['openai-chat']?.replace(/\/chat\/completions$/, '/models') ??
    formats['openai-responses']?.replace(/\/responses$/, '/models');
  return { modelsPath: path ?? null };
}
