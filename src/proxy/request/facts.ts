import type { Principal } from '../../access/authenticate.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Codec } from '../../codecs/wire-codec.ts';
import type { Usage, WireFormat } from '../../codecs/wire-format.ts';
import type { RoutingPlan } from '../../combos/routing/routing.ts';
import type { Target } from '../../combos/target.ts';
import type { Trace } from '../../combos/trace.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import type { GatewayError } from '../../lib/error.ts';
import type { AnswerCost, TieredUsage } from './answer-usage.ts';
import type { ResponseState } from './response-state.ts';
import type { Upload } from './upload.ts';

/** What the ledger records of a request, as far as it is known: complete once the request was read. */
export interface LedgerFacts {
  readonly exchange: AnyExchange;
  readonly format: WireFormat;
  readonly principal: Principal;
  /** The model as the client named it. */
  readonly requestedModel: string | null;
  /** The combo through which it was resolved. */
  readonly comboId: string | null;
  /** Why it goes where it goes; null before that is decided. */
  readonly trace: Trace | null;
  /** What it is counted under, beside its key; those of the key alone before the request was read. */
  readonly tags: readonly string[];
  /** The service tier that was asked for, as `tierWord` has it; null where none was named, or the request is not read yet. */
  readonly requestedTier: string | null;
}

/** A request whose path contains its model and the form of the answer. */
export interface NamedInPath {
  readonly model: string;
  readonly stream: boolean;
  /** A stream as one JSON array instead of events. */
  readonly array: boolean;
}

/** The reservation of one request in the budgets. */
export interface RequestReservation {
  /** Reserves what an attempt at a target may use, and releases what was reserved for an earlier target. Null: the attempt may be made. */
  moveTo(target: Target): GatewayError | null | Promise<GatewayError | null>;
  /** Counts what was used; null gives everything back. */
  settle(charge: { usage: Usage | null; costUsd: number | null } | null): void;
  /** What is left of the limits, in the client's convention, flat. */
  headers(): string[];
}

/**
 * A model request as it was read, once and for all. Nothing of it changes on the way; its bytes are not among it, for they
 * are let go of before it ends.
 */
export interface RequestFacts extends LedgerFacts {
  readonly requestedModel: string;
  readonly trace: Trace;
  readonly codec: Codec;
  /** What the path said of the request; null where the body says it. */
  readonly named: NamedInPath | null;
  /** For requests of the responses format: what the gateway does about their state. */
  readonly responseState: ResponseState | null;
  /** The request, where it is a form that passes through; its body is empty then. */
  readonly upload: Upload | null;
  /** Best first. */
  readonly targets: readonly [Target, ...Target[]];
  /** The combo's options, and the callback for the target that answered. */
  readonly plan: Pick<RoutingPlan, 'options' | 'first' | 'remember'>;
  /** Its reservation in the budgets, made for the first target; null where no budget counts it. */
  readonly reservation: RequestReservation | null;
  /** The models as they were when it was planned. */
  readonly catalog: Pick<Catalog, 'describe'>;
  /** What it costs at a target, at the price of the request's own time. */
  price(this: void, target: Pick<Target, 'provider' | 'model'>, served: TieredUsage): AnswerCost;
}
