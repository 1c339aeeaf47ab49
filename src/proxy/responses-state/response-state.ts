import type { Principal } from '../../access/authenticate.ts';
import { containNeedle } from '../../codecs/json/byte-search.ts';
import { needleOf } from '../../codecs/json/needle.ts';
import { type JsonObject, parseObject } from '../../codecs/json/values.ts';
import { textAt } from '../../codecs/json/wire-check.ts';
import type { Conversation } from '../../codecs/model/conversation.ts';
import { SUMMARY_PREFIX } from '../../codecs/openai-responses/request/compaction.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import type { Config } from '../../config.ts';
import { GatewayError } from '../../lib/error.ts';
import {
  chainOf,
  itemsOf,
  portable,
  previousNotFound,
  type ResponseReader,
  readable,
  readableItem,
  resolved,
} from '../../responses/chain.ts';
import { isTrigger, withSummaryRequest } from '../../responses/compact.ts';
import { continueResponse, inputItems } from '../../responses/continuation.ts';
import type { ResponsePlaces } from '../../responses/places.ts';
import type { ResponseMemory, SizedResponse } from '../../responses/stored.ts';
import { type RequestedModel, requestedModel } from '../inbound/request.ts';
import { joined } from '../json/joined.ts';
import type { ResponseState } from '../request/response-state.ts';

type Targets = readonly [Target, ...Target[]];

export interface ResponseStateInput extends ResponseReader {
  places: Pick<ResponsePlaces, 'find'>;
  model: RequestedModel;
  targets: Targets;
  /** The request came to `/v1/responses/compact`. */
  endpoint: boolean;
  limitBytes: number;
}

export interface ResolvedResponseState {
  responseState: ResponseState;
  /** The body, rewritten where it refers to something that only the gateway stores. */
  model: RequestedModel;
  /** Those that can serve it as it is now. */
  targets: Targets;
}

/** A request, and its state if it is of the responses format. */
export interface RequestWithState extends Pick<ResolvedResponseState, 'model' | 'targets'> {
  responseState: ResponseState | null;
}

interface StateInput extends Pick<ResponseStateInput, 'model' | 'targets'> {
  format: WireFormat;
  endpoint?: boolean;
}

/** What the gateway remembers of responses. */
export interface ResponseStateContext {
  readonly config: Pick<Config, 'limits'>;
  readonly places: ResponsePlaces;
  readonly responses: ResponseMemory;
}

/** Resolves what a request of the responses format refers to, with the gateway's memory and limits; those of other formats stay as they are, at once. */
export function withResponseState(
  { config, places, responses }: ResponseStateContext,
  { keyId }: Pick<Principal, 'keyId'>,
  { endpoint = false, format, model, targets }: StateInput,
): RequestWithState | Promise<RequestWithState> {
  if (format !== 'openai-responses') return { responseState: null, model, targets };
  const limitBytes = config.limits.bodyBytes;
  return resolveResponseState({ endpoint, keyId, limitBytes, memory: responses, model, places, targets });
}

/** Texts of which a body has at least one, if it refers to anything: others are not parsed. */
const markers = ['previous_response_id', 'item_reference', 'compaction_trigger', SUMMARY_PREFIX].map(
  needleOf,
);

/**
 * Puts in what a request refers to: the response that it continues, stored items, summaries of the gateway's own.
 * A body that refers to nothing of that kind stays as it came.
 * @throws GatewayError `previous_response_not_found`, `invalid_request`, `request_too_large`
 */
export async function resolveResponseState(input: ResponseStateInput): Promise<ResolvedResponseState> {
  const { endpoint, keyId, model, targets } = input;
  const compaction = endpoint ? 'endpoint' : null;
  const responseState: ResponseState = {
    keyId,
    previousId: null,
    input: null,
    compaction,
    compacts: false,
    shown: [],
  };
  if (!endpoint && !markers.some((marker) => containNeedle(model.pieces, marker)))
    return { responseState, model, targets };
  const body = parseObject(joined(model.pieces).toString('utf8'));
  if (body === null) throw new GatewayError('invalid_json', 'The request body is not a valid JSON object');
  try {
    return await rewritten(input, responseState, body);
  } catch (error) {
    // JSON can be read to any depth and written only as deep as the stack goes.
    if (!(error instanceof RangeError)) throw error;
    throw new GatewayError('invalid_json', 'The request body is nested too deeply');
  }
}

async function rewritten(
  input: ResponseStateInput,
  plain: ResponseState,
  body: JsonObject,
): Promise<ResolvedResponseState> {
  const items = inputItems(body['input']);
  const previousId = textAt(body, 'previous_response_id');
  const chain = previousId === null ? [] : await chainOf(input, previousId, input.limitBytes);
  const compaction = plain.compaction ?? (items.some(isTrigger) ? 'item' : null);
  const foreign = chain === null && previousId !== null ? await foreignOf(input, previousId) : null;
  const { compacts, targets } = servedBy(input.targets, { compaction, foreign });
  const responseState: ResponseState = { ...plain, previousId, compaction, compacts };
  const newItems = await resolved(
    compacts ? items.filter((item) => !isTrigger(item)) : items,
    chain ?? [],
    input,
  );
  const convert = compacts ? whole : itemsFor(targets);
  const sentItems = newItems.flatMap((item, index) =>
    item === items[index] ? [readable(item)] : convert(readable(item)),
  );
  const unchanged =
    sentItems.length === items.length && sentItems.every((item, index) => item === items[index]);
  if (unchanged && !compacts && (chain === null || chain.length === 0))
    return { responseState, model: input.model, targets };
  const request = {
    ...body,
    input: sentItems,
    ...(compacts && compaction === 'endpoint' ? { stream: false } : {}),
  };
  return {
    responseState: {
      ...responseState,
      input: newItems,
      shown: compacts ? [...itemsOf(chain ?? []), ...newItems] : [],
    },
    model: bodyOf(chain === null ? request : joinedTo(chain, convert, request), input),
    targets,
  };
}

const whole = (item: unknown): unknown[] => [item];

/** How stored items go to providers: those of another format get everything, through the codec. */
function itemsFor(targets: Targets): typeof whole {
  const native = targets.filter(({ format }) => format === 'openai-responses');
  if (native.length === 0) return whole;
  return native.some(({ provider }) => provider.keepsResponses) ? portable : readableItem;
}

function joinedTo(chain: readonly SizedResponse[], convert: typeof whole, request: JsonObject): JsonObject {
  const earlier = itemsOf(chain).flatMap((item) => convert(readable(item)));
  return continueResponse({ input: earlier, output: [] }, request);
}

/** The conversation as its provider is to see it: what is kept of it is the gateway's affair. */
export function conversationOf(conversation: Conversation, { compacts }: ResponseState): Conversation {
  const withoutStore = { ...conversation, store: null };
  return compacts ? withSummaryRequest(withoutStore) : withoutStore;
}

/** A request with what its response is to say about its state. */
export function echoOf(request: JsonObject, { compaction, previousId }: ResponseState): JsonObject {
  const store = compaction !== 'endpoint' && request['store'] !== false;
  return { ...request, store, previous_response_id: previousId };
}

/** A response that only its provider can have stored. */
interface Foreign {
  id: string;
  /** The connection that made it; null where the gateway has not seen it, and any may. */
  connectionId: string | null;
}

/** @throws GatewayError `previous_response_not_found` for one that another key made */
async function foreignOf({ keyId, places }: ResponseStateInput, id: string): Promise<Foreign> {
  const place = await places.find(id, keyId);
  if (place === 'foreign') throw previousNotFound(id, NOT_HERE);
  return { id, connectionId: place?.connectionId ?? null };
}

const NOT_HERE = 'it was not stored here for this key, was deleted or has expired';

interface TargetNeeds {
  compaction: ResponseState['compaction'];
  foreign: Foreign | null;
}

/**
 * The targets that can serve the request. A response that only its provider can have stored goes to providers of the
 * format; a compaction to those that make it themselves if the first one does, else to the others.
 * @throws GatewayError `previous_response_not_found`
 */
function servedBy(
  targets: Targets,
  { compaction, foreign }: TargetNeeds,
): { targets: Targets; compacts: boolean } {
  const native = ({ format }: Target) => format === 'openai-responses';
  const isMaker = ({ connection }: Target) =>
    foreign === null || foreign.connectionId === null || connection.id === foreign.connectionId;
  const holders =
    foreign === null ? targets : nonEmpty(targets.filter((target) => native(target) && isMaker(target)));
  if (holders === null) {
    const elsewhere = 'it is kept by an account that does not serve this model here, or not now';
    throw previousNotFound(foreign?.id ?? '', foreign?.connectionId == null ? NOT_HERE : elsewhere);
  }
  if (compaction === null) return { targets: holders, compacts: false };
  const compactsItself = (target: Target) =>
    native(target) && (target.provider.compacts?.includes(compaction) ?? false);
  const compacts = !compactsItself(holders[0]);
  return {
    targets: nonEmpty(holders.filter((target) => compactsItself(target) !== compacts)) ?? holders,
    compacts,
  };
}

function nonEmpty([first, ...others]: readonly Target[]): Targets | null {
  return first === undefined ? null : [first, ...others];
}

/** A request as a body, its model first so that it is found at once. */
function bodyOf(request: JsonObject, { limitBytes, model }: ResponseStateInput): RequestedModel {
  const { model: _, ...members } = request;
  const bytes = Buffer.from(JSON.stringify({ model: model.value, ...members }));
  if (bytes.length > limitBytes)
    throw new GatewayError(
      'request_too_large',
      `The request has ${bytes.length} bytes with everything that it refers to, ${limitBytes} at most`,
    );
  return requestedModel([bytes]);
}
