import type { EndedRequests } from '../budgets/ended-requests.ts';
import type { Limits } from '../budgets/limits.ts';
import type { RemainingLimit } from '../budgets/rate-headers.ts';
import type { ChargedRequest, ChargeScope } from '../budgets/reservation.ts';
import type { Routing } from '../combos/routing/routing.ts';
import type { AccessTokens } from '../connections/credentials/access-tokens.ts';
import type { OpenConnection } from '../connections/schema.ts';
import type { Accounts } from '../health/accounts.ts';
import { GatewayError } from '../lib/error.ts';
import { describe, type LineLog, type Log } from '../lib/log.ts';
import type { ResponsePlaces } from '../responses/places.ts';
import type { ResponseMemory, StoredResponse } from '../responses/stored.ts';
import type { Value } from '../store/database.ts';
import type { ProcessCounts } from '../telemetry/metrics/process-counts.ts';
import type { Answers } from './channel.ts';
import { type Member, ownReservation, type Reservation } from './member.ts';
import type {
  FinishedRequestDetails,
  FinishedRequests,
  JoinedState,
  OwnerQuestions,
  WorkerEvent,
} from './message.ts';
import { responseOf, responseText } from './response-text.ts';
import { eachSettlement } from './settlements.ts';

export interface OwnerInput {
  log: Log;
  /** The log of requests; null where they are not logged. */
  accessLog: LineLog | null;
  /** Milliseconds since the epoch. */
  now(): number;
  limits: Pick<Limits, 'reservationFor' | 'reserveInAdvance'>;
  accounts: Pick<Accounts, 'receivedHints' | 'ownStates' | 'take' | 'takeLimits'>;
  routing: Pick<Routing, 'takeSession'>;
  responses: Pick<ResponseMemory, 'get' | 'put'>;
  places: Pick<ResponsePlaces, 'find' | 'note'>;
  tokens: Pick<AccessTokens, 'fresh' | 'newest'>;
  /** The connection of an id; null where there is none in use. */
  connection(id: string): OpenConnection | null;
  agentModels(): Promise<readonly string[]>;
  hosts: ReadonlySet<string>;
  serving(): boolean;
  /**
   * Records a request that is over and is in the journal of its worker.
   * @param row its row of the ledger
   * @param details null where nothing is known of it beside its row
   */
  onFinished(row: readonly Value[], details: FinishedRequestDetails | null): void;
  /**
   * Resolves once the database has all requests of a worker that were recorded until now.
   * @param readFirst whether its journal has requests that it did not tell
   */
  whenStored(journal: string, readFirst: boolean): Promise<void>;
  /** Adds what a worker has counted. */
  addCounts(counts: ProcessCounts): void;
  /** Told of each change of a worker's state. */
  onChange(): void;
}

/** The workers that there are, as whoever answers them needs to know them. */
export interface OtherWorkers {
  /** Those that are told of changes. */
  joined(): readonly Member[];
  isRunning(member: Member): boolean;
  /** Resolves once everything that they have told until now has arrived, or after a second. */
  flush(): Promise<void>;
}

/** What the owner of the data directory does for its workers. */
export interface Owner {
  hear(member: Member, event: WorkerEvent): void;
  answersFor(member: () => Member): Answers<OwnerQuestions>;
  /** Whose event is being handled; null while none is. */
  teller(): Member | null;
}

interface SpareRequest {
  request: ChargedRequest;
  scope: ChargeScope;
  /** The number of all of them. */
  number: number;
  count: number;
}

export function openOwner(input: OwnerInput, workers: OtherWorkers): Owner {
  const { log, now } = input;
  let teller: Member | null = null;

  const hear = (member: Member, event: WorkerEvent): void => {
    teller = member;
    member.hasReported = true;
    try {
      handle(member, event);
    } finally {
      teller = null;
    }
  };
  const handle = (member: Member, event: WorkerEvent): void => {
    switch (event.kind) {
      case 'finished':
        recordAll(event.finished);
        return;
      case 'counted':
        input.addCounts(event.counts);
        return;
      case 'logged':
        writeLine(log, event.line);
        return;
      case 'access-logged':
        input.accessLog?.relay(event.lines);
        return;
      case 'health-state':
        input.accounts.take(event.changed);
        return;
      case 'limits':
        input.accounts.takeLimits(event.connectionId, event.limits);
        return;
      case 'session':
        input.routing.takeSession(event.place.session, event.place.entry);
        for (const other of workers.joined()) if (other !== member) other.process.tell(event);
        return;
      case 'response':
        input.responses.put(responseOf<StoredResponse>(event.text));
        return;
      case 'place':
        input.places.note(event.place);
        return;
      case 'settled':
        eachSettlement(event.settlements, (number, ended) => settle(member, number, ended));
        return;
      case 'load':
        member.load = event.load;
    }
  };
  const settle = ({ reservations }: Member, number: number, ended: EndedRequests): void => {
    const reservation = reservations.get(number);
    if (reservation === undefined) return;
    reservation.settle(ended);
    leave(reservations, number, reservation, ended.count);
  };
  const recordAll = ({ details, rows }: FinishedRequests): void => {
    let next = 0;
    for (const [index, row] of (JSON.parse(rows) as Value[][]).entries()) {
      const detail = details[next];
      if (detail?.index === index) next += 1;
      input.onFinished(row, detail?.index === index ? detail : null);
    }
  };
  /** Reserves for requests to come of a worker. @returns how many there was room for, and what was left before */
  const reserveSpares = (
    { reservations }: Member,
    { request, count, number, scope }: SpareRequest,
  ): { reserved: number; rates: readonly RemainingLimit[] } => {
    const group = input.limits.reserveInAdvance(request, scope, count);
    if (group.count > 0) {
      const reservedUsage = { tokens: scope.tokens(), usd: scope.usd() };
      reservations.set(number, {
        open: group.count,
        settle: group.settle,
        own: group.takeOne,
        reservedUsage,
      });
    }
    return { reserved: group.count, rates: group.rates };
  };
  const answersFor = (member: () => Member): Answers<OwnerQuestions> => ({
    async join() {
      member().joined = true;
      const state: JoinedState = {
        hosts: [...input.hosts],
        serving: input.serving(),
        healthStates: input.accounts.ownStates(),
        hints: input.accounts.receivedHints(),
      };
      return state;
    },
    async listening() {
      const one = member();
      one.state = 'serving';
      one.since = now();
      one.hasReported = true;
      one.silences = 0;
      one.listening.resolve();
      input.onChange();
      return null;
    },
    async cannotListen({ code, message }) {
      member().listening.reject(Object.assign(new Error(message), { code }));
      return null;
    },
    async reserve({ from, request, reservation: number, spares, tokens, usd, ...path }) {
      const { reservations } = member();
      const before = reservations.get(number) ?? takeSpare(reservations, from);
      const reservation = before?.own() ?? input.limits.reservationFor(request);
      // The budget was removed a moment ago.
      if (reservation === null) return { refusal: null, rates: [], spares: 0, at: now() };
      const existing = ownReservation(reservation, before?.reservedUsage ?? null);
      reservations.set(number, existing);
      const scope = { ...path, tokens: () => tokens, usd: () => usd };
      let isIn = false;
      try {
        let refusal = await reservation.reserve(scope, true);
        // What another worker's request has given back may still be on its way.
        if (refusal?.reason === 'full') {
          await workers.flush();
          refusal = await reservation.reserve(scope);
        }
        isIn = refusal === null;
        const rates = reservation.rates();
        // Before they are made: what a bucket of budgets counts may not be used later than it says.
        const at = now();
        const mayHaveSpares = isIn && spares > 0 && workers.isRunning(member());
        const granted = mayHaveSpares
          ? reserveSpares(member(), { request, number: number + 1, count: spares, scope }).reserved
          : 0;
        return { refusal, rates, spares: granted, at };
      } catch (error) {
        log.error(
          { worker: member().number, error: describe(error) },
          'a request could not be counted by the budgets',
        );
        throw error;
      } finally {
        if (isIn) existing.reservedUsage = { tokens, usd };
        else if (existing.reservedUsage === null) reservations.delete(number);
        // It ended meanwhile, and nobody is left to settle it: its target was not asked.
        if (!workers.isRunning(member())) reservation.settle(null);
      }
    },
    async reserveAhead({ request, reservation: number, spares, tokens, usd, ...path }) {
      const scope = { ...path, tokens: () => tokens, usd: () => usd };
      const at = now();
      if (!workers.isRunning(member())) return { rates: [], spares: 0, at };
      const { rates, reserved } = reserveSpares(member(), { request, number, count: spares, scope });
      return { rates, spares: reserved, at };
    },
    async response({ id, keyId }) {
      const response = await input.responses.get(id, keyId);
      return response === null || response === 'unreadable' ? response : { text: responseText(response) };
    },
    place: ({ id, keyId }) => input.places.find(id, keyId),
    async token({ connectionId, rejected }) {
      const connection = input.connection(connectionId);
      if (connection !== null) {
        await input.tokens.fresh(connection, rejected ?? undefined);
        const token = input.tokens.newest(connection);
        if (token !== null) return token;
      }
      throw new GatewayError(
        'connection_unusable',
        'The connection was removed while a request asked for it',
      );
    },
    agentModels: () => input.agentModels(),
    flushed: async () => null,
    async written() {
      await input.whenStored(member().journal, false);
      return null;
    },
    async writtenWithJournal() {
      await input.whenStored(member().journal, true);
      return null;
    },
  });

  return { hear, answersFor, teller: () => teller };
}

/** Notes that so many requests of a reservation have left it. */
function leave(reservations: Member['reservations'], number: number, one: Reservation, count: number): void {
  one.open -= count;
  if (one.open <= 0) reservations.delete(number);
}

/** Makes a reservation of its own of one that was made in advance; null where there is none. */
function takeSpare(reservations: Member['reservations'], number: number | null): Reservation | null {
  const group = number === null ? undefined : reservations.get(number);
  if (number === null || group === undefined) return null;
  leave(reservations, number, group, 1);
  return ownReservation(group.own(), group.reservedUsage);
}

type Level = 'debug' | 'info' | 'warn' | 'error';

function isLevel(text: unknown): text is Level {
  return text === 'debug' || text === 'info' || text === 'warn' || text === 'error';
}

/** Writes a line of a worker's log as if it were this process's own. */
function writeLine(log: Log, line: string): void {
  const { level, msg, time: _, ...fields } = JSON.parse(line) as Record<string, unknown>;
  log[isLevel(level) ? level : 'error'](fields, String(msg));
}
