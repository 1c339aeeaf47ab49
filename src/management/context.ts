import type { AuthFacts, AuthRefusal } from '../access/manage-auth.ts';
import type { Events } from '../events/open.ts';
import type { Caller, Resource } from '../http/resource.ts';
import type { AllowedHosts } from '../http/server/allowed-hosts.ts';
import type { KeyedMutex } from '../lib/keyed-mutex.ts';
import type { MetricFamily } from '../telemetry/metrics/family.ts';
import type { ToolDrift } from '../tools/drift/watch.ts';
import type { ToolService } from '../tools/service.ts';
import type { Change } from './collection/collection.ts';
import type { IdempotencyStore } from './guard/idempotency.ts';
import type { RateLimiter } from './guard/rate-limiter.ts';
import type { EventStreams } from './live/event-streams.ts';
import type { Live } from './live/live.ts';

/** A new token, as `GET /api/auth` gives it. */
export interface IssuedToken {
  /** The accessor, for the audit log. */
  id: string;
  token: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  ttlSeconds: number;
  requesterType: string;
}

/** Authenticates clients of the management API, and issues and ends their logins. */
export interface ManagementAuth {
  authenticate(facts: AuthFacts): Promise<Caller | AuthRefusal>;
  /** @throws GatewayError `invalid_request` for another requester type, `forbidden` for a caller that may not */
  issue(caller: Caller, requesterType: string): Promise<IssuedToken>;
  /** Ends the caller's own token; nothing where it came without one. */
  end(caller: Caller): Promise<void>;
  /** @throws GatewayError where `setUp` would, whatever it is given: there is an admin, or too many codes were wrong */
  checkSetUp(address: string): Promise<void>;
  /** Makes the first admin. @throws GatewayError when there is one, or the code is wrong */
  setUp(input: { code: string; password: string }, address: string): Promise<void>;
  /** When the caller's login ends, in milliseconds since the epoch; null where it does not. */
  endOf(caller: Caller): number | null;
  /** Whether the caller would still be let in, with these permissions. */
  lasts(caller: Caller, permissions: readonly string[]): Promise<boolean>;
}

/** What happened, for the audit log. */
export type AuditEvent =
  | { kind: 'change'; change: Change }
  | {
      kind: 'login' | 'logout' | 'refused' | 'guard' | 'setup';
      /** Who did it, where that was proven. */
      caller?: Caller;
      requestId: string;
      address: string;
      userId: string | null;
      /** Of a login and its end: the accessor id of the token. */
      target: string | null;
      outcome: 'success' | 'denied';
      reason: string | null;
    };

/** A coding tool whose files are no longer as the gateway wrote them. */
export interface DriftedTool extends ToolDrift {
  id: string;
  name: string;
  category: 'code' | 'agent';
}

/** The coding tools of the gateway's machine. */
export interface CliTools {
  service: ToolService;
  /** Those that were changed by others since they were set up, as far as their files were looked at. */
  drifted(): readonly DriftedTool[];
  /** Whether callers on other machines may have programs run. */
  remoteDetection: boolean;
}

/** What the management API is given. */
export interface ManagementContext {
  version: string;
  hosts: AllowedHosts;
  resources: readonly Resource[];
  auth: ManagementAuth;
  live: Live;
  streams: EventStreams;
  /** The figures of the gateway beside those of its events. */
  metrics: { families(): MetricFamily[] };
  /** Whether an address is that of a proxy whose word about its clients counts. */
  trusted(address: string): boolean;
  cliTools: CliTools;
  events: Events;
  mutex: KeyedMutex;
  once: IdempotencyStore;
  pace: RateLimiter;
  /** Returns once the event is as safe as its kind needs. Throws when it cannot be recorded. */
  audit(event: AuditEvent): Promise<void>;
  /** Finishes a login at a provider with what the browser brought back. @throws GatewayError */
  finishLogin(returned: URLSearchParams): Promise<void>;
  /** The document of `GET /api/openapi.json`. */
  openapi(): object;
  /** A fault of the gateway's own, for the log. */
  report(error: unknown): void;
  /** A warning for the owner, for the log. */
  warn(sentence: string): void;
  /** Milliseconds since the epoch. */
  now(): number;
}
