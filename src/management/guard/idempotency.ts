import { createHmac } from 'node:crypto';
import { labelledKey, open, type StorageKey, seal } from '../../connections/credentials/seal.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Store } from '../../store/database.ts';
import type { Answer } from '../answer.ts';

/** A request that is to be carried out once, however often it comes. */
export interface IdempotentRequest {
  userId: string;
  /** The value of `Idempotency-Key`. */
  key: string;
  /** All that makes it another request: method, path, query, body. */
  content: readonly unknown[];
}

/**
 * Answers to requests that carried an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07), for a day.
 * They may hold what is shown once, so they are stored encrypted.
 */
export interface IdempotencyStore {
  /**
   * Carries a request out, or gives the answer that it had before. What was refused as wrong counts as not done.
   * @throws GatewayError `idempotency_key_reused` for another request with the same key; `conflict` while it is being
   *   carried out, and when it is not known whether it was
   */
  answer(request: IdempotentRequest, run: () => Promise<Answer>): Promise<Answer>;
  /** Forgets what is older than a day. */
  sweep(): Promise<void>;
}

export interface IdempotencyInput {
  store: Pick<Store, 'db'>;
  storageKey: Pick<StorageKey, 'key'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

const KEPT_MS = 24 * 3_600_000;
/** Answers of one user; the oldest go. */
const MAX_KEPT = 1000;

export function createIdempotencyStore({
  now,
  storageKey,
  store: { db },
}: IdempotencyInput): IdempotencyStore {
  const key = labelledKey(storageKey, 'modelgate/idempotency/v1');
  const underWay = new Set<string>();
  const fingerprintOf = (content: IdempotentRequest['content']) =>
    createHmac('sha256', key).update(JSON.stringify(content)).digest('base64url');
  const contextOf = ({ key: name, userId }: IdempotentRequest) => JSON.stringify([userId, name]);

  const begin = async (request: IdempotentRequest, fingerprint: string): Promise<Answer | null> => {
    const { key: name, userId } = request;
    await db
      .deleteFrom('idempotency')
      .where('user_id', '=', userId)
      .where('name', '=', name)
      .where('created_at', '<=', now() - KEPT_MS)
      .execute();
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('idempotency')
      .values({ user_id: userId, name, fingerprint, answer: null, created_at: now() })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 0n) return null;
    const storedRequest = await db
      .selectFrom('idempotency')
      .selectAll()
      .where('user_id', '=', userId)
      .where('name', '=', name)
      .executeTakeFirst();
    if (storedRequest !== undefined && storedRequest.fingerprint !== fingerprint)
      throw new GatewayError(
        'idempotency_key_reused',
        'This Idempotency-Key was used with a different request: use a new one',
        {
          param: 'idempotency-key',
        },
      );
    const storedAnswer = storedRequest?.answer ?? null;
    const text = storedAnswer === null ? null : open(key, storedAnswer, contextOf(request));
    if (text === null) throw notKnown(underWay.has(contextOf(request)));
    const answer = JSON.parse(text) as Answer;
    return { ...answer, headers: { ...answer.headers, 'idempotency-replayed': 'true' } };
  };

  return {
    async answer(request, run) {
      const context = contextOf(request);
      const before = await begin(request, fingerprintOf(request.content));
      if (before !== null) return before;
      underWay.add(context);
      try {
        const answer = await run();
        await keep(db, request, seal(key, JSON.stringify(answer), context));
        return answer;
      } catch (error) {
        // Refused before anything was done. How far a run got that failed later is unknown.
        if (error instanceof GatewayError && error.status < 500) await forget(db, request);
        throw error;
      } finally {
        underWay.delete(context);
      }
    },
    async sweep() {
      await db
        .deleteFrom('idempotency')
        .where('created_at', '<=', now() - KEPT_MS)
        .execute();
    },
  };
}

async function keep(
  db: Store['db'],
  { key: name, userId }: IdempotentRequest,
  answer: string,
): Promise<void> {
  await db
    .updateTable('idempotency')
    .set({ answer })
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .execute();
  await forgetOldest(db, userId);
}

async function forget(db: Store['db'], { key: name, userId }: IdempotentRequest): Promise<void> {
  await db.deleteFrom('idempotency').where('user_id', '=', userId).where('name', '=', name).execute();
}

async function forgetOldest(db: Store['db'], userId: string): Promise<void> {
  const newest = db.selectFrom('idempotency').select('name').where('user_id', '=', userId);
  await db
    .deleteFrom('idempotency')
    .where('user_id', '=', userId)
    .where('name', 'not in', newest.orderBy('created_at', 'desc').limit(MAX_KEPT))
    .execute();
}

function notKnown(underWay: boolean): GatewayError {
  const message = underWay
    ? 'The first request with this Idempotency-Key is still being carried out: repeat it in a moment'
    : 'The first request with this Idempotency-Key broke off, and it is not known how far it went: look at what is there, and use another key';
  return new GatewayError('conflict', message, { param: 'idempotency-key' });
}

/**
 * The key that a request carries, bare or in quotes; null for none.
 * @throws GatewayError `invalid_request`
 */
export function idempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const [, quoted, bare] =
    /^(?:"([\x21\x23-\x7e]{1,200})"|([\x21\x23-\x7e]{1,200}))$/.exec(String(header).trim()) ?? [];
  const key = quoted ?? bare;
  if (key !== undefined) return key;
  throw new GatewayError('invalid_request', 'Idempotency-Key has 1 to 200 characters without blanks', {
    param: 'idempotency-key',
  });
}
